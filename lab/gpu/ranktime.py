#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
"""ranktime.py DIR... - which rank's time orders arms as loops of them do; DIR is named by its topology, as 2x1

Reads what ranktime leaves in each DIR. A call's time on a rank is from its start to the start of the next one; the
slowest rank's, the mean and the fastest rank's are compared. Each arm's ratio to AUTO is the median over blocks of the
second of its two calls to AUTO's second call of that block. Prints a table of the cases and one of the sums, and writes
cases.csv (one row an arm) beside the first DIR.

    spread   mean distance of AUTO's calls from their median, in percent of the loop's; the measure that the engine would
             choose (engine/measure.c) has a star
    prefers  the arm with the least ratio, and what its loop takes over that of the best arm
    rank     Spearman's coefficient of ratios and loops, over all arms
    false    arms that are 3 % faster by the measure and 2 % slower than AUTO in a loop
    missed   arms that are 5 % faster in a loop, and not faster by the measure
    veto     an arm that is more than 1 % slower than AUTO by the slowest rank's time is not taken
"""
import collections
import csv
import math
import pathlib
import statistics
import sys

MEASURES = ("slowest", "mean", "fastest")
REDUCE = {"slowest": max, "mean": statistics.fmean, "fastest": min}
WARM_UP_BLOCKS = 1
LOOP_WARM_UP = 3        # calls of a loop that are not timed (ranktime.c)
FALSE_GAIN, FALSE_LOSS, MISSED_GAIN, RIGHT_REGRET, VETO = 0.97, 1.02, 0.95, 0.02, 1.01
CLEARLY = 0.7


def read_rows(path, first=None):
    with open(path, newline="", encoding="ascii") as file:
        return [row for row in csv.reader(file) if first is None or row[0] == first]


def read_loops(directory):
    """{(bytes, arrival): {arm: median of rounds}}, and the largest of AUTO's rounds over its smallest"""
    rounds = collections.defaultdict(lambda: collections.defaultdict(list))
    for size, arrival, _, arm, _, us in read_rows(directory / "loops.csv"):
        rounds[int(size), arrival][arm].append(float(us))
    loops = {case: {arm: statistics.median(us) for arm, us in arms.items()} for case, arms in rounds.items()}
    noise = {case: max(arms["AUTO"]) / min(arms["AUTO"]) - 1 for case, arms in rounds.items()}
    return loops, noise


def numbered(directory):
    """[(number of the call among all of the communicator, its row of calls.csv)]; a case's first loops come first, then
    all arms by turns, then its other loops"""
    first, rest, rows = collections.Counter(), collections.Counter(), collections.defaultdict(list)
    for size, arrival, turn, _, calls, _ in read_rows(directory / "loops.csv"):
        (first if turn == "0" else rest)[size, arrival] += LOOP_WARM_UP + int(calls)
    for row in read_rows(directory / "calls.csv"):
        rows[row[0], row[1]].append(row)
    found, number = [], 0
    for case, calls in rows.items():
        number += first[case]
        found.extend(enumerate(calls, number))
        number += len(calls) + rest[case]
    return found


def rank_starts(path):
    """{number: (bytes, arm, start)} of the calls whose kernels NCCL has told of"""
    return {int(row[2]): (4 * int(row[4]), row[6], int(row[10])) for row in read_rows(path, "coll") if int(row[8]) > 0}


def read_calls(directory):
    """[(case, block, arm, second, arm that NCCL used, {measure: us})] of calls that another one of the case follows"""
    calls = numbered(directory)
    ranks = [rank_starts(path) for path in sorted(directory.glob("probe.*.csv"))]
    found = []
    for (number, (size, arrival, block, arm, second)), (_, following) in zip(calls, calls[1:]):
        # NCCL heeds a switched event mask one call late: a case's first call is not told.
        if following[:2] != [size, arrival] or any(n not in rank for rank in ranks for n in (number, number + 1)):
            continue
        told = {rank[number][:2] for rank in ranks}
        if len(told) != 1 or any(at != int(size) or arm not in ("AUTO", used) for at, used in told):
            sys.exit(f"{directory}: call {number} is {arm} of {size}, and ranks have told {told}")
        spans = [(rank[number + 1][2] - rank[number][2]) / 1000 for rank in ranks]
        if min(spans) <= 0:
            continue
        found.append(((int(size), arrival), int(block), arm, second == "1", told.pop()[1],
                      {name: REDUCE[name](spans) for name in MEASURES}))
    return found


def ranks_of(values):
    order = sorted(range(len(values)), key=values.__getitem__)
    places = [0.0] * len(values)
    for place, i in enumerate(order):
        places[i] = place
    return places


def spearman(a, b):
    a, b = ranks_of(a), ranks_of(b)
    n = len(a)
    return 1 - 6 * sum((x - y) ** 2 for x, y in zip(a, b)) / (n * (n * n - 1)) if n > 1 else 1.0


def measured(calls, case):
    """{arm: {measure: [log ratio to AUTO, one a block]}}, {measure: spread of AUTO}, {arm: what NCCL used}"""
    by_block = collections.defaultdict(dict)
    used = {}
    for of, block, arm, second, ran, times in calls:
        if of == case and second and block >= WARM_UP_BLOCKS:
            by_block[block][arm] = times
            used[arm] = ran
    logs = collections.defaultdict(lambda: collections.defaultdict(list))
    autos = collections.defaultdict(list)
    for block in by_block.values():
        if "AUTO" not in block:
            continue
        for name in MEASURES:
            autos[name].append(block["AUTO"][name])
        for arm, times in block.items():
            for name in MEASURES:
                logs[arm][name].append(math.log(times[name] / block["AUTO"][name]))
    spread = {name: statistics.fmean(abs(us - statistics.median(of)) for us in of) for name, of in autos.items()}
    return logs, spread, used


def chosen(spread):
    return min(MEASURES, key=lambda name: spread[name] * (CLEARLY if name == "mean" else 1))


def judge(loop, ratio):
    """What a measure makes of a case: (the arm it prefers, regret, rank coefficient, false, missed)"""
    arms = sorted(loop)
    best = min(arms, key=lambda arm: ratio[arm])
    forced = [arm for arm in arms if arm != "AUTO"]
    false = [arm for arm in forced if ratio[arm] < FALSE_GAIN and loop[arm] > FALSE_LOSS * loop["AUTO"]]
    missed = [arm for arm in forced if ratio[arm] >= 1 and loop[arm] < MISSED_GAIN * loop["AUTO"]]
    return (best, loop[best] / min(loop.values()) - 1,
            spearman([ratio[arm] for arm in arms], [loop[arm] for arm in arms]), len(false), len(missed))


def summarise(directory, rows, sums):
    loops, noise = read_loops(directory)
    calls = read_calls(directory)
    print(f"\n{directory.name}: loop = us of AUTO's call end to end (noise of its rounds); then its ratio by arm")
    for case in sorted(loops, key=lambda c: (c[0], c[1])):
        logs, spread, used = measured(calls, case)
        loop = {arm: us for arm, us in loops[case].items() if arm in logs}
        if "AUTO" not in loop:
            print(case, "no calls")
            continue
        size, arrival = case
        print(f"{size >> 10:6}K {arrival:5} loop {loop['AUTO']:9.1f} ({100 * noise[case]:.0f} %) AUTO is {used['AUTO']}:",
              " ".join(f"{arm} {loop[arm] / loop['AUTO']:.2f}" for arm in sorted(loop) if arm != "AUTO"))
        choice = chosen(spread)
        for name in MEASURES:
            ratio = {arm: math.exp(statistics.median(logs[arm][name])) for arm in loop}
            best, regret, rank, false, missed = judge(loop, ratio)
            slow = {arm: math.exp(statistics.median(logs[arm]["slowest"])) for arm in loop}
            vetoed = {arm: ratio[arm] if slow[arm] <= VETO else 2.0 for arm in loop}
            print(f"        {name:8} spread {100 * spread[name] / loop['AUTO']:5.1f}{'*' if name == choice else ' '} prefers {best:12}"
                  f" +{100 * regret:5.1f} % rank {rank:5.2f} false {false} missed {missed} :",
                  " ".join(f"{arm} {ratio[arm]:.2f}" for arm in sorted(loop) if arm != "AUTO"))
            add(sums[directory.name, name], judge(loop, ratio))
            add(sums[directory.name, name + ", slowest's veto"], judge(loop, vetoed))
            if name == choice:
                add(sums[directory.name, "the engine's, slowest's veto"], judge(loop, vetoed))
            rows.extend([directory.name, size, arrival, arm, used.get(arm, ""), f"{loop[arm]:.2f}", name,
                         f"{ratio[arm]:.4f}", f"{spread[name]:.1f}", len(logs[arm][name])] for arm in sorted(loop))


def add(total, verdict):
    _, regret, rank, false, missed = verdict
    total.append((regret <= RIGHT_REGRET, regret, rank, false, missed))


def print_sums(sums):
    print(f"\n{'':6}{'measure':30} cases right  regret mean, worst   rank  false missed")
    for (topology, name), cases in sorted(sums.items()):
        right, regret, rank, false, missed = zip(*cases)
        print(f"{topology:6}{name:30} {len(cases):5} {sum(right):5}  {100 * statistics.fmean(regret):6.1f} %"
              f" {100 * max(regret):7.1f} % {statistics.fmean(rank):6.2f} {sum(false):6} {sum(missed):6}")


def main():
    rows, sums = [], collections.defaultdict(list)
    directories = [pathlib.Path(argument) for argument in sys.argv[1:]]
    if not directories:
        sys.exit(__doc__)
    for directory in directories:
        summarise(directory, rows, sums)
    print_sums(sums)
    with open(directories[0].parent / "cases.csv", "w", newline="", encoding="ascii") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow("topology bytes arrival arm used loop_us measure ratio spread_us blocks".split())
        out.writerows(rows)


if __name__ == "__main__":
    main()
