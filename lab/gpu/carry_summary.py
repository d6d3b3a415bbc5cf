#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
"""carry_summary.py RAW OUT - does a call of an arm take as long after another arm as in a run of its own?

RAW holds directories carry.TOPOLOGY.WAY.K: WAY is an arm (all calls had it), turnsN (all arms by turns, N calls of each in a
row, in blocks of another order each) or alone (one size by itself). A call's time is that of its slowest rank, on the
host's clock. For each size and pair of arms the ratio of the medians is told as the arms' own processes have it (what a
commit would gain), and as the turns predict it: of all calls, and of those that are not the first of their run.

Writes OUT/carry.csv and prints tables. Exit status 1 if a run failed.
"""
import collections
import csv
import itertools
import pathlib
import re
import statistics
import sys

import summary

NAME = re.compile(r"carry\.([0-9]+x[0-9]+)\.([A-Za-z0-9-]+)\.([0-9]+)$")
TURNS = re.compile(r"turns([0-9]+)$")
COLUMNS = ["topology", "bytes", "way", "arm", "run", "position", "calls", "us", "p25_us", "p75_us"]
WARM_UP, CHECK_EVERY = 4, 500  # rounds, as carry.bash has them: a call that verifies a result follows every 500th
SKIP = 0.3  # of a run's calls: connections, and what the first second warms up


def read_calls(run, warm_up=WARM_UP, check_every=CHECK_EVERY):
    """By size: (arm, time of the slowest rank) of each recorded call, in order. Before these come so many calls that are
    not recorded, and one after every so many; larger sizes may be called in some rounds only."""
    path = run.path / "samples.csv"
    if not path.exists():
        return {}
    slowest = collections.defaultdict(dict)
    with open(path, newline="") as f:
        for row in csv.DictReader(f):
            calls, at = slowest[int(row["bytes"])], int(row["round"])
            calls[at] = max(calls.get(at, 0.0), float(row["host_us"]))
    arms = collections.defaultdict(list)
    for line in (run.path / "arms").read_text().splitlines():
        _, size, arm = line.split()
        arms[int(size)].append(arm)
    found = {}
    for size, calls in slowest.items():
        made = arms[size]
        if not made:
            continue  # not in the plan: NCCL's own choice
        if len(made) == warm_up + len(calls) + len(calls) // check_every:
            found[size] = [(made[warm_up + i + i // check_every], calls[at]) for i, at in enumerate(sorted(calls))]
        else:
            print(f"{run.path.name}: {len(made)} calls of {size} bytes do not fit {len(calls)} rounds")
    return found


def positions(calls):
    """(arm, time, place in its run of equal arms) of each call but the early ones."""
    place, last, found = 0, None, []
    for i, (arm, us) in enumerate(calls):
        place = place + 1 if arm == last else 0
        last = arm
        if i >= SKIP * len(calls):
            found.append((arm, us, place))
    return found


def read_runs(raw):
    """Times by (topology, bytes, way) and (arm, place), pooled over repetitions; and the runs."""
    times, runs = collections.defaultdict(lambda: collections.defaultdict(list)), []
    for match, run in summary.runs_named(raw, NAME):
        runs.append(run)
        for size, calls in read_calls(run).items():
            for arm, us, place in positions(calls):
                times[match[1], size, match[2]][arm, place].append((int(match[3]), us))
    return times, runs


def median_of(cell, arm, wanted=lambda place: True):
    """The median over repetitions of a repetition's median."""
    by_run = collections.defaultdict(list)
    for (name, place), some in cell.items():
        if name == arm and wanted(place):
            for k, us in some:
                by_run[k].append(us)
    return statistics.median(statistics.median(some) for some in by_run.values()) if by_run else None


def quartiles(values):
    return statistics.quantiles(values, n=4) if len(values) > 1 else [values[0]] * 3


def rows_of(times):
    """Of turns a line for each arm and place, else one for each arm."""
    for (topology, size, way), cell in sorted(times.items()):
        turns = TURNS.match(way)
        values = collections.defaultdict(list)
        for (arm, place), some in cell.items():
            values[arm, place if turns else ""] += [us for _, us in some]
        for (arm, place), some in sorted(values.items()):
            p25, us, p75 = quartiles(some)
            yield {"topology": topology, "bytes": size, "way": way, "arm": arm, "run": turns[1] if turns else "", "position": place,
                   "calls": len(some), "us": f"{us:.1f}", "p25_us": f"{p25:.1f}", "p75_us": f"{p75:.1f}"}


def print_arms(topology, size, cells):
    """How long a call takes in a process of its own arm, and by place in a run of equal arms."""
    print(f"\n{topology} AllReduce {summary.size_text(size)}: microseconds of a call, median")
    ways = sorted((way for way in cells if TURNS.match(way)), key=lambda way: int(TURNS.match(way)[1]))
    print(f"  {'':14}{'steady':>10}" + "".join(f"{way + ' 1st':>13}{'2nd':>9}{'later':>9}" for way in ways))
    arms = sorted({arm for way in ways for arm, _ in cells[way]})
    for arm in arms:
        steady = median_of(cells.get(arm.replace("/", "-"), {}), arm)
        line = f"  {arm:14}{steady:10.1f}" if steady else f"  {arm:14}{'-':>10}"
        for way in ways:
            for width, wanted in ((13, lambda place: place == 0), (9, lambda place: place == 1), (9, lambda place: place > 1)):
                us = median_of(cells[way], arm, wanted)
                line += f"{us:{width}.1f}" if us else f"{'-':>{width}}"
        print(line)
    return arms


def print_pairs(cells, arms):
    """Ratios of pairs of arms, and by how much each way of taking turns misses what steady runs have, in percent."""
    misses = collections.defaultdict(list)
    steady = {arm: median_of(cells.get(arm.replace("/", "-"), {}), arm) for arm in arms}
    for a, b in itertools.combinations([arm for arm in arms if steady[arm]], 2):
        true = steady[a] / steady[b]
        for way, cell in cells.items():
            if not TURNS.match(way):
                continue
            for name, wanted in ((way, lambda place: True), (way + ", first dropped", lambda place: place > 0)):
                one, other = median_of(cell, a, wanted), median_of(cell, b, wanted)
                if one and other:
                    misses[name].append(100 * abs(one / other / true - 1))
    return misses


def main(raw, out):
    times, runs = read_runs(raw)
    with open(out / "carry.csv", "w", newline="") as f:
        table = csv.DictWriter(f, COLUMNS, lineterminator="\n")
        table.writeheader()
        table.writerows(rows_of(times))
    everything = collections.defaultdict(list)
    for topology, size in sorted({(topology, size) for topology, size, _ in times}):
        cells = {way: cell for (t, s, way), cell in times.items() if (t, s) == (topology, size)}
        arms = print_arms(topology, size, cells)
        if "alone" in cells:
            alone, loop = median_of(cells["alone"], "RING/SIMPLE"), median_of(cells.get("RING-SIMPLE", {}), "RING/SIMPLE")
            if alone and loop:
                print(f"  RING/SIMPLE by itself {alone:.1f}, in a loop of sizes {loop:.1f}")
        for name, some in print_pairs(cells, arms).items():
            everything[topology, name] += some
    if everything:
        print("\nBy how much the ratio of two arms, taken by turns, misses that of their steady runs: percent, median and worst of all pairs")
    for (topology, name), some in sorted(everything.items()):
        print(f"  {topology:6}{name:26}{statistics.median(some):7.1f}{max(some):8.1f}   {len(some)} pairs")
    failed = [run for run in runs if run.rc != 0]
    print(f"\n{len(runs)} runs, {len(failed)} of them failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])))
