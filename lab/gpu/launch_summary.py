#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
"""launch_summary.py RAW OUT - start-up variables and the plugin, alone and together

RAW holds directories launch-NETWORK-PROGRAM.TOPOLOGY.WAY.K: NETWORK loopback or shaped; PROGRAM bench or training programs;
WAY off (NCCL's default), bandit, wide-off, wide-bandit.
A cell is a network, a topology and a size or a training program. Its time is the median of the last part of a run, of the
slowest rank. Ratios are of a run and the one beside it: the default's time over the way's, so that more is faster. Losses
of a training program must be equal in all its runs, but for the order of sums.

Writes OUT/launch.csv and RAW/launch-runs.csv and prints tables. Exit status 1 if a run failed or losses differ.
"""
import collections
import csv
import pathlib
import re
import statistics
import sys

import summary

NAME = re.compile(r"launch-(loopback|shaped)-([a-z+]+)\.([0-9]+x[0-9]+)\."
                  r"(off|bandit|wide-off|wide-bandit)\.([0-9]+)$")
BASE = "off"
COLUMNS = ["network", "topology", "program", "bytes", "way", "runs", "us", "least_us", "most_us", "ratio", "ratio_least", "ratio_most",
           "noise_pct", "verdict", "profiles", "arms"]
RUN_COLUMNS = ["run", "network", "topology", "program", "bytes", "way", "number", "us", "p25_us", "p75_us", "samples", "arm", "state",
               "profile", "loss_first", "loss_last", "seconds", "status"]
TRAIN = ("ddp", "fsdp", "tp", "mesh")
# Two ranks add in one order only; sums of more, and those in bf16, depend on the arm.
LOSS_SAME = {"ddp": 1e-4, "fsdp": 2e-2, "tp": 1e-4, "mesh": 1e-4}
LOSS_TWO = 1e-6
CHOICE = re.compile(r"nccl-tune: (launch profile .*)")
MIB, KIB = 1 << 20, 1 << 10
# What is to be had over loopback sockets from the variables and the plugin together: times as fast as the default.
WANTED = {("bench", 64 * KIB): 1.2, ("bench", 256 * KIB): 1.2, ("bench", MIB): 1.7, ("bench", 4 * MIB): 3,
          ("bench", 16 * MIB): 3, ("bench", 64 * MIB): 3, ("ddp", 0): 2.5, ("fsdp", 0): 1.5, ("tp", 0): 1}


def train_lines(run):
    """Training programs: a line each; the simulated NCCL's rounds stand for the steps of all."""
    for line in summary.json_lines(run.path / "out"):
        if "program" in line:
            last = line["step_ms"][len(line["step_ms"]) * 3 // 4:]
            low, high = summary.quartiles(last)[1:]
            yield {"program": line["program"], "bytes": 0, "us": 1000 * line["last_quarter_ms"], "p25_us": 1000 * low,
                   "p75_us": 1000 * high, "samples": len(last), "losses": line["losses"], "ranks": line["ranks"]}
        elif "rounds" in line:
            us = line["rounds"]["last_us"]
            yield {"program": "", "bytes": 0, "us": us, "p25_us": us, "p75_us": us, "samples": line["rounds"]["count"],
                   "losses": [], "ranks": line["ranks"]}


def bench_lines(run):
    for row in run.sizes:
        yield {"program": "bench", "bytes": row["bytes"], "us": row["slowest_median_us"] or row["median_us"], "p25_us": row["p25_us"],
               "p75_us": row["p75_us"], "samples": row["samples"], "arm": row.get("chosen_arm", ""), "state": row.get("state", "")}


def read_runs(raw):
    """Lines of measurements, and the runs."""
    lines, runs = [], []
    for match, run in summary.runs_named(raw, NAME):
        network, programs, topology, way, number = match.groups()
        runs.append(run)
        run.network, run.way, run.programs, run.number = network, way, programs, int(number)
        for line in bench_lines(run) if programs == "bench" else train_lines(run):
            lines.append({**line, "program": line["program"] or programs, "run": run.path.name, "network": network,
                          "topology": topology, "way": way, "number": int(number), "seconds": run.seconds, "status": run.rc,
                          "profile": profile_of(run)})
    return lines, runs


def profile_of(run):
    """As the ranks' records say it; they must agree."""
    return "|".join(sorted({record["launch"] for record in run.records if record.get("launch")}))


def trouble(run):
    """Why a run counts as failed; a training program has no sizes, and checks nothing but its losses."""
    if run.programs != "bench":
        if run.rc in (124, 137) or run.rc == 75:
            return "hang"
        if run.rc != 0:
            return f"exit status {run.rc}"
        return run.disagreement() and "records of ranks differ" or (None if list(train_lines(run)) else "no result")
    return run.trouble()


def place(line):
    return line["network"], line["topology"], line["program"], line["bytes"]


def verdict(ratios, noise):
    """Over all pairs, and beyond what runs without anything differ by."""
    middle = statistics.median(ratios)
    if len(ratios) < 2:
        return "one run"
    if abs(middle - 1) <= max(noise, 0.02):
        return "same"
    return "faster" if middle > 1 else "SLOWER"


def base_of(lines):
    """What a line's ratio is to: its repetition's run without anything."""
    base = {line["number"]: line["us"] for line in lines if line["way"] == BASE}
    return lambda line: base.get(line["number"])


def make_rows(lines):
    rows = []
    for cell in sorted({place(line) for line in lines}):
        here = [line for line in lines if place(line) == cell]
        plain = [line["us"] for line in here if line["way"] == BASE]
        noise = (max(plain) - min(plain)) / statistics.median(plain) if plain else 0
        base = base_of(here)
        for way in sorted({line["way"] for line in here}, key=way_order):
            some = [line for line in here if line["way"] == way]
            times = [line["us"] for line in some]
            ratios = [base(line) / line["us"] for line in some if base(line)]
            row = dict(zip(COLUMNS, cell), way=way, runs=len(some), us=round(statistics.median(times), 1),
                       least_us=round(min(times), 1), most_us=round(max(times), 1), noise_pct=round(100 * noise, 1),
                       profiles=counted(line["profile"] for line in some),
                       arms=summary.Run.common(some, "arm", "") if cell[2] == "bench" else "")
            if ratios:
                row.update(ratio=round(statistics.median(ratios), 3), ratio_least=round(min(ratios), 3),
                           ratio_most=round(max(ratios), 3), verdict="" if way == BASE else verdict(ratios, noise))
            rows.append(row)
    return rows


def counted(names):
    """ "sockets-wide x 3, default": the most frequent first."""
    found = collections.Counter(name for name in names if name)
    return ", ".join(name if n == 1 else f"{name} x {n}" for name, n in found.most_common())


def way_order(way):
    return ["off", "bandit", "wide-off", "wide-bandit"].index(way)


def compare_losses(lines):
    """Of each training program and topology the largest relative difference to its first run; and what is too much."""
    found = []
    kinds = sorted({(line["program"], line["topology"], line["ranks"]) for line in lines if line.get("losses")})
    for program, topology, ranks in kinds:
        some = [line for line in lines if line.get("losses") and (line["program"], line["topology"]) == (program, topology)]
        first, worst, steps = some[0]["losses"], 0.0, 0
        for line in some[1:]:
            pairs = list(zip(first, line["losses"]))
            steps = max(steps, len(pairs))
            worst = max([worst] + [abs(a - b) / max(abs(a), 1e-9) for a, b in pairs])
        allowed = LOSS_TWO if ranks == 2 else LOSS_SAME.get(program, 1e-4)
        falls = first[-1] < first[0]
        found.append({"program": program, "topology": topology, "runs": len(some), "steps": steps, "worst": worst,
                      "allowed": allowed, "equal": worst <= allowed and falls, "first": first[0], "last": first[-1]})
    return found


def cell_text(row):
    return summary.size_text(row["bytes"]) if row["program"] == "bench" else row["program"]


def print_rows(rows):
    print("Medians of the last part of each run, slowest rank; over runs: median [least, most], microseconds (a training\n"
          "program's step in milliseconds); times as fast as NCCL's default in the run beside it: median [least, most].")
    last = None
    for row in rows:
        if (row["network"], row["topology"]) != last:
            last = (row["network"], row["topology"])
            print(f"\n{row['network']} {row['topology']}")
        unit = 1 if row["program"] == "bench" else 1000
        text = f"  {cell_text(row):>12} {row['way']:12} {row['us'] / unit:10.1f} [{row['least_us'] / unit:10.1f},{row['most_us'] / unit:10.1f}]"
        if "ratio" in row:
            text += f"  {row['ratio']:6.2f} [{row['ratio_least']:5.2f},{row['ratio_most']:5.2f}]  {row['verdict']:8}"
        print(f"{text} {row['runs']} runs  {row['profiles']}  {row['arms']}".rstrip())


def print_wanted(rows):
    """Loopback: what is to be gained. Shaped: nothing slower."""
    for way in sorted({row["way"] for row in rows} & {"wide-bandit"}):
        short, done = [], 0
        for row in rows:
            want = WANTED.get((row["program"], row["bytes"])) if row["network"] == "loopback" else None
            if row["way"] != way or "ratio" not in row or (row["network"] == "loopback" and not want):
                continue
            # "Not slower" is met within the noise.
            met = row["verdict"] != "SLOWER" if row["network"] == "shaped" or want == 1 else row["ratio"] >= want
            done += met
            if not met:
                short.append(f"{row['network']} {row['topology']} {cell_text(row)} {row['ratio']:.2f}"
                             + (f" of {want:g}" if want else ""))
        print(f"{way}: {done} of {done + len(short)} cells as fast as wanted" + (f"; not {', '.join(short)}" if short else ""))


def print_losses(losses):
    for found in losses:
        print(f"losses of {found['program']} {found['topology']}: {found['runs']} runs, {found['steps']} steps, from {found['first']:.4g} to "
              f"{found['last']:.4g}, largest difference {found['worst']:.1e} of it (up to {found['allowed']:.0e}): "
              f"{'equal' if found['equal'] else 'DIFFERENT'}")


def step_times(run, program):
    """Milliseconds of every step of a training program in a run."""
    return next((line["step_ms"] for line in summary.json_lines(run.path / "out") if line.get("program") == program), [])


def decided_groups(run):
    """By the kind of group, collective and size: at which call each group of that kind decided, and its calls; of the rank
    of a group that was last."""
    world = max((comm["ranks"] for record in run.records for comm in record["comms"]), default=0)
    found = collections.defaultdict(dict)
    for record in run.records:
        for comm in record["comms"]:
            kind = "world" if comm["ranks"] == world else "tp" if comm["nodes"] == 1 else "dp"
            for key in comm["keys"]:
                groups = found[kind, key["coll"], key["bytes"]]
                decided = key.get("decided", 0) if key["state"] in ("committed", "kept") else 0
                before, _ = groups.get(comm["id"], (decided, 0))
                groups[comm["id"]] = (decided and before and max(before, decided), key["calls"])
    return found


def reason(run, coll, size):
    """Why a key of that kind is not decided."""
    keys = [key for record in run.records for comm in record["comms"] for key in comm["keys"] if (key["coll"], key["bytes"]) == (coll, size)]
    return next((key["why"] for key in keys if key["state"] == "counted" and key.get("why")), "not decided")


def print_mesh(runs):
    """Groups beside each other: are they decided together, when, and what is a step before and after it?"""
    plain = {(run.network, run.topology, run.number): step_times(run, "mesh")
             for run in runs if run.programs == "mesh" and run.way == BASE}
    for run in (run for run in runs if run.programs == "mesh" and run.way.endswith("bandit")):
        steps, beside, last = step_times(run, "mesh"), plain.get((run.network, run.topology, run.number)), 0
        for (kind, coll, size), groups in sorted(decided_groups(run).items()):
            calls = sorted(decided for decided, _ in groups.values())
            said = f"decided at call {' '.join(map(str, calls))}" if all(calls) else reason(run, coll, size)
            print(f"{run.path.name}: {kind} {coll} {summary.size_text(size)}, {len(groups)} groups: {said} of {max(n for _, n in groups.values())}")
            if all(calls) and steps:
                last = max([last] + [len(steps) * decided // made for decided, made in groups.values() if made])
        parts = [("before", steps[1:last]), ("after", steps[last + 1:]), ("without the plugin", beside[len(beside) // 2:] if beside else [])]
        print(f"{run.path.name}: last decision in step {last} of {len(steps)}, after {sum(steps[:last]) / 1000:.1f} s; ms a step: "
              + ", ".join(f"{name} {statistics.median(times):.1f}" for name, times in parts if times))


def print_runs(runs):
    for run in runs:
        why = trouble(run)
        if why:
            last = run.error.strip().splitlines()[-3:]
            print(f"  {run.path.name}: {why}" + "".join(f"\n    {line[:160]}" for line in last))
        if run.way.endswith("bandit") and not run.records:
            print(f"  {run.path.name}: no rank left a record")
    print(f"{len(runs)} runs, {sum(bool(trouble(run)) for run in runs)} of them failed, {sum(run.seconds for run in runs):.0f} s")


def write(path, columns, rows):
    with open(path, "w", newline="") as f:
        table = csv.DictWriter(f, columns, restval="", extrasaction="ignore", lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


def main(raw, out):
    lines, runs = read_runs(raw)
    rows, losses = make_rows(lines), compare_losses(lines)
    for line in lines:
        if line.get("losses"):
            line.update(loss_first=line["losses"][0], loss_last=line["losses"][-1])
    write(raw / "launch-runs.csv", RUN_COLUMNS, lines)
    write(out / "launch.csv", COLUMNS, rows)
    print_rows(rows)
    print()
    print_wanted(rows)
    print_losses(losses)
    print_mesh(runs)
    print_runs(runs)
    return 1 if any(trouble(run) for run in runs) or not all(found["equal"] for found in losses) else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])))
