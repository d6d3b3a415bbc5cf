#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
"""tables_summary.py RAW OUT - a line for each run of tables.bash, which the tables of docs/results.md are made from

RAW holds directories tables-PIECE-CONDITION.TOPOLOGY.WAY.K. PIECE is arms (all by turns in one process), rules (off, bandit;
paper in older runs), uneven (off, bandit, groups; TOPOLOGY 1+2+2+2 says the ranks of each node) or train (off, bandit, auto, policy,
earlier, calibrate). Times of a call are of its slowest rank, by the host's clock; of the last part of a run.

Writes RAW/arms.csv, rules.csv, uneven.csv, train.csv and runs.csv (page.py says what it makes of them) and
prints what took how long and what failed. Exit status 1 if a run failed or hung, or losses of one program differ.
"""
import collections
import csv
import pathlib
import re
import sys

import summary
import training

NAME = re.compile(r"tables-(arms|rules|uneven|train)-([a-z-]+)\.([0-9x+]+)\.([a-z0-9-]+)\.([0-9]+)$")
WARM_UP, CHECK_EVERY, IN_A_ROW = 4, 250, 4  # of arms, as tables.bash has them
PLACE = ["condition", "topology", "way", "number"]
COLUMNS = {
    "arms": ["condition", "topology", "number", "bytes", "arm", "calls", "us", "p25_us", "p75_us"],
    "rules": PLACE + ["bytes", "samples", "part", "us", "p25_us", "p75_us", "mean_us", "all_mean_us", "gflops", "auto_arm", "chosen_arm",
                      "state", "spent_calls", "spent_ms"],
    "uneven": PLACE + ["ranks", "bytes", "call", "calls", "us", "checks", "wrong", "chosen_arm", "state"],
    "train": PLACE + ["program", "ranks", "steps", "ms", "p25_ms", "p75_ms", "first_ms", "loss_first", "loss_last", "loss_apart", "profile"],
    "runs": ["piece", *PLACE, "nccl", "seconds", "status", "trouble"],
}


def read_calls(run):
    """By size: (arm, time of the slowest rank) of each recorded call, in order. Before these come so many calls that are
    not recorded, and one after every so many; larger sizes may be called in some iterations only."""
    path = run.path / "samples.csv"
    if not path.exists():
        return {}
    slowest = collections.defaultdict(dict)
    with open(path, newline="") as f:
        for row in csv.DictReader(f):
            calls, at = slowest[int(row["bytes"])], int(row["iteration"])
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
        if len(made) == WARM_UP + len(calls) + len(calls) // CHECK_EVERY:
            found[size] = [(made[WARM_UP + i + i // CHECK_EVERY], calls[at]) for i, at in enumerate(sorted(calls))]
        else:
            print(f"{run.path.name}: {len(made)} calls of {size} bytes do not fit {len(calls)} iterations")
    return found


def arms_rows(run):
    """Without the first call after another arm, and without the first block, in which arms connect."""
    if not (run.path / "arms").exists():
        return
    for size, calls in sorted(read_calls(run).items()):
        names = {arm for arm, _ in calls}
        times, place, last = collections.defaultdict(list), 0, None
        first = IN_A_ROW * len(names) - WARM_UP if len(calls) > 2 * IN_A_ROW * len(names) else 0
        for i, (arm, us) in enumerate(calls):
            place = place + 1 if arm == last else 0
            last = arm
            if i >= first and place > 0:
                times[arm].append(us)
        for arm, some in sorted(times.items()):
            us, low, high = summary.quartiles(some)
            yield {"bytes": size, "arm": arm, "calls": len(some), "us": round(us, 2), "p25_us": round(low, 2), "p75_us": round(high, 2)}


def spent_ms(run, line):
    """The record of the rank that says what exploring took: on the others it may be missing or 0."""
    keys = run.keys(line["comm"], line["coll"], line["bytes"])
    return max((k.get("spent_ms", 0) for k in keys), default=0)


def bench_rows(run):
    for line, row in zip(run.lines(), run.sizes):
        times = line.get("slowest_us", line["host_us"])
        last = times["last"]
        yield {"bytes": line["bytes"], "samples": line["samples"], "part": line.get("part", ""), "us": last["median"],
               "p25_us": last["p25"], "p75_us": last["p75"], "mean_us": last.get("mean", ""),
               "all_mean_us": times.get("all", {}).get("mean", ""), "gflops": line.get("load_gflops", ""),
               "auto_arm": row.get("auto_arm", ""), "chosen_arm": row.get("chosen_arm", ""), "state": row.get("state", ""),
               "spent_calls": row.get("spent_calls", ""),
               "spent_ms": spent_ms(run, line) if run.records else "", "checks": line.get("checks", ""), "wrong": line.get("errors", ""),
               "ranks": line.get("ranks", ""), "call": f"world {line['coll']} {line['bytes']}", "calls": line["samples"]}


def key_of(keys, ranks, coll, size):
    """A record names a size band by its least size; groups.py leaves out what its ranks do not divide."""
    whole = size // 4 // max(ranks, 1) * ranks * 4
    return next((key for (r, c, least), key in keys.items() if (r, c) == (ranks, coll) and least <= whole < 1.5 * least), {})


def groups_rows(run):
    """Of a program that checks every sum: a line for each call of each kind of group."""
    results = [r for p in sorted(run.path.glob("result.*.json")) for r in summary.json_lines(p)]
    made, wrong = collections.Counter(), collections.Counter()
    for result in results:
        wrong.update(result["wrong"])
        for part in result["rounds"]:
            for name, calls in part["calls"].items():
                made[name] = max(made[name], calls)
    keys = {}
    for record in run.records:
        for comm in record["comms"]:
            for key in comm["keys"]:
                keys[comm["ranks"], key["coll"], key["bytes"]] = key
    for name, calls in sorted(made.items()):
        role, coll, size = name.split()
        ranks = sum(any(name in part["calls"] for part in r["rounds"]) for r in results)
        key = key_of(keys, ranks, coll, int(size))
        yield {"ranks": ranks if role in ("world", "part") else "", "bytes": size, "call": name, "calls": calls, "checks": calls,
               "wrong": wrong[name], "chosen_arm": key.get("arm", "") if key.get("state") == "committed" else "AUTO" if key else "",
               "state": key.get("state", "")}


def train_rows(run):
    for line in training.train_lines(run):
        losses = line["losses"] or [""]
        yield {"program": line["program"], "ranks": line["ranks"], "ms": round(line["us"] / 1000, 3), "p25_ms": round(line["p25_us"] / 1000, 3),
               "p75_ms": round(line["p75_us"] / 1000, 3), "loss_first": losses[0], "loss_last": losses[-1], "losses": losses,
               "profile": training.profile_of(run)}


def compare_losses(rows):
    """By how much losses of a program are apart from its first run's, at the same steps; False: too much."""
    first, same = {}, True
    for row in rows:
        losses = row.pop("losses")
        if losses == [""]:
            continue
        known = first.setdefault((row["program"], row["ranks"]), losses)
        apart = max(abs(a - b) / max(abs(a), 1e-12) for a, b in zip(known, losses))
        row["loss_apart"] = f"{apart:.1e}"
        most = training.LOSS_TWO if row["ranks"] == 2 else training.LOSS_SAME.get(row["program"], 1e-4)
        same = same and apart <= most
    return same


ROWS = {"arms": arms_rows, "rules": bench_rows, "train": train_rows}


def trouble_of(run, piece, way):
    if run.rc in (75, 124, 137) or "stalled" in run.error:
        return "hang"
    if run.rc != 0:
        return f"exit status {run.rc}"
    if any(r["wrong"] for p in run.path.glob("result.*.json") for r in summary.json_lines(p)):
        return "wrong results"
    if piece == "rules":
        return run.trouble()
    return run.disagreement() and "records of ranks differ" or None


def read(raw):
    rows, seen = {name: [] for name in COLUMNS}, []
    for path in sorted(raw.iterdir()):
        match = NAME.match(path.name)
        if not match or match[4].startswith("job-"):
            continue
        piece, condition, topology, way, number = match.groups()
        run = summary.Run(path)
        place = {"condition": condition, "topology": topology, "way": way, "number": int(number)}
        trouble = trouble_of(run, piece, way)
        head = next((x for x in summary.json_lines(path / "out") if "nccl" in x), {})
        rows["runs"].append({**place, "piece": piece, "nccl": head.get("nccl", ""), "seconds": run.seconds, "status": run.rc,
                             "trouble": trouble or ""})
        seen.append((run, trouble))
        if way == "calibrate":
            continue
        make = ROWS.get(piece, groups_rows if way == "groups" else bench_rows)
        for row in make(run):
            rows[piece].append({**place, **row})
    return rows, seen


def first_steps(raw, rows):
    """What the first quarter of a program's steps took: exploring falls into it."""
    for row in rows:
        path = raw / f"tables-train-{row['condition']}.{row['topology']}.{row['way']}.{row['number']}" / "out"
        for line in summary.json_lines(path):
            if line.get("program") == row["program"]:
                quarter = line["step_ms"][1:max(2, len(line["step_ms"]) // 4)]
                row.update(steps=line["steps"], first_ms=round(summary.quartiles(quarter)[0], 3))


def print_pieces(rows, seen):
    takes = collections.Counter()
    count = collections.Counter()
    for row in rows["runs"]:
        takes[row["piece"], row["condition"]] += row["seconds"]
        count[row["piece"], row["condition"]] += 1
    for (piece, condition), seconds in sorted(takes.items()):
        print(f"{piece:9} {condition:12} {count[piece, condition]:3} runs, {seconds:6.0f} s")
    for run, trouble in seen:
        if trouble:
            last = run.error.strip().splitlines()[-3:]
            print(f"  {run.path.name}: {trouble}" + "".join(f"\n    {line[:160]}" for line in last))
    hung = sum(trouble == "hang" for _, trouble in seen)
    bad = sum(bool(trouble) for _, trouble in seen)
    train = [row for row in rows["runs"] if row["piece"] == "train" and row["way"] != "calibrate"]
    print(f"{len(seen)} runs, {hung} hung, {bad - hung} failed otherwise; of PyTorch's training programs {len(train)} in a row, "
          f"{sum(row['trouble'] == 'hang' for row in train)} hung")


def print_calibrations(raw):
    for path in sorted(raw.glob("tables-*.calibrate.*")):
        if (path / "out").exists():
            print(f"\n{path.name}:\n{(path / 'out').read_text(errors='replace').rstrip()}")
    for path in sorted(raw.glob("tables-train-*")):
        for line in summary.Run(path).error.splitlines() if path.name.count(".") == 3 else []:
            found = training.CHOICE.search(line)
            if found:
                print(f"{path.name}: {found[1]}")


def main(raw, out):
    rows, seen = read(raw)
    first_steps(raw, rows["train"])
    same = compare_losses(rows["train"])
    for name, columns in COLUMNS.items():
        with open(raw / f"{name}.csv", "w", newline="") as f:
            table = csv.DictWriter(f, columns, restval="", extrasaction="ignore", lineterminator="\n")
            table.writeheader()
            table.writerows(rows[name])
    print_pieces(rows, seen)
    if not same:
        print("LOSSES DIFFER: see loss_apart of train.csv")
    print_calibrations(raw)
    return 0 if same and not any(trouble for _, trouble in seen) else 1


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])))
