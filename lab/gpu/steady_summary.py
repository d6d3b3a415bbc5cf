#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
"""steady_summary.py RAW OUT - what the plugin costs a call when it has nothing left to do

RAW holds directories steady.TOPOLOGY.MODE.K, MODE being off, again (the same), observe or bandit. A cell is a topology, a size, and calls
one by one or in bursts. Its ratio is that of the medians over runs; its interval of 95 % comes from runs drawn anew with
replacement, of both modes by themselves. Writes OUT/steady.csv and RAW/steady-runs.csv and prints a table. Exit status 1 if a run failed.
"""
import csv
import pathlib
import random
import re
import statistics
import sys

import summary

NAME = re.compile(r"steady\.([0-9]+x[0-9]+)\.(off|again|observe|bandit)\.([0-9]+)$")
COLUMNS = ["topology", "bytes", "calls", "mode", "runs", "off_us", "us", "ratio", "low", "high",
           "ratio_p25", "verdict", "states"]
DRAWS = 4000
GOAL, LIMIT = 1.001, 1.005
MODES = ("again", "observe", "bandit")
SETTLED = {"again": ("no record",), "observe": ("observed",), "bandit": ("kept",)}


def interval(times, base, seed=1):
    """95 % of the ratio of medians, by bootstrap."""
    draw = random.Random(seed)
    ratios = sorted(statistics.median(draw.choices(times, k=len(times))) /
                    statistics.median(draw.choices(base, k=len(base))) for _ in range(DRAWS))
    return ratios[int(0.025 * DRAWS)], ratios[int(0.975 * DRAWS) - 1]


def verdict(ratio, low, high):
    if low > LIMIT:
        return "over 0.5 %"
    if high <= GOAL:
        return "within 0.1 %"
    if high <= LIMIT:
        return "within 0.5 %"
    return "not resolved" if low <= GOAL else "over 0.1 %"


def read_runs(raw):
    """Times by cell and mode, states by cell and mode, and the runs."""
    times, states, runs = {}, {}, []
    for match, run in summary.runs_named(raw, NAME):
        runs.append(run)
        for line, row in zip(run.lines(), run.sizes):
            if not line["host_us"]["last"]["median"]:
                continue
            place = (match[1], line["bytes"], line.get("burst", 1) > 1)
            some = times.setdefault(place, {})
            some.setdefault(match[2], []).append(line["host_us"]["last"]["median"])
            some.setdefault(match[2] + " p25", []).append(line["host_us"]["last"]["p25"])
            if "state" in row:
                states.setdefault((place, match[2]), set()).add(row["state"])
    return times, states, runs


def make_rows(times, states):
    rows = []
    for place in sorted(times):
        base = times[place].get("off", [])
        for mode in MODES:
            some = times[place].get(mode, [])
            if not some or not base:
                continue
            ratio = statistics.median(some) / statistics.median(base)
            low, high = interval(some, base)
            rows.append({"topology": place[0], "bytes": place[1], "calls": "burst" if place[2] else "one by one",
                         "mode": mode, "runs": f"{len(base)}+{len(some)}", "off_us": round(statistics.median(base), 3),
                         "us": round(statistics.median(some), 3), "ratio": round(ratio, 5), "low": round(low, 5),
                         "high": round(high, 5),
                         "ratio_p25": round(statistics.median(times[place][mode + " p25"]) /
                                            statistics.median(times[place]["off p25"]), 5), "verdict": verdict(ratio, low, high),
                         "states": "|".join(sorted(states.get((place, mode), {"no record"})))})
    return rows


def print_rows(rows, runs):
    print("Steady state: host's time of a call on rank 0, medians over runs, us; ratio to NCCL alone [95 %],\n"
          "and that of the lower quartiles.")
    for row in rows:
        settled = "" if set(row["states"].split("|")) <= set(SETTLED[row["mode"]]) else f" ({row['states']})"
        print(f"{row['topology']:4} {summary.size_text(row['bytes']):>5} {row['calls']:10} {row['mode']:8} "
              f"{row['off_us']:10.2f} -> {row['us']:10.2f}  {row['ratio']:7.4f} [{row['low']:7.4f},{row['high']:7.4f}] "
              f"p25 {row['ratio_p25']:7.4f}  "
              f"{row['verdict']}{settled}")
    for mode in MODES:
        here = [r["ratio"] for r in rows if r["mode"] == mode]
        if here:
            over = [f"{r['topology']} {summary.size_text(r['bytes'])} {r['calls']}" for r in rows
                    if r["mode"] == mode and r["low"] > LIMIT]
            print(f"{mode}: median of {len(here)} ratios {statistics.median(here):.4f}; "
                  f"over 0.5 % beyond doubt: {', '.join(over) or 'none'}")
    for run in runs:
        if run.trouble():
            print(f"  {run.path.name}: {run.trouble()}")
        if run.mode in ("observe", "bandit") and not run.records:
            print(f"  {run.path.name}: no rank left a record")
    print(f"{len(runs)} runs, {sum(bool(run.trouble()) for run in runs)} of them failed, "
          f"{sum(run.seconds for run in runs):.0f} s")


def main(raw, out):
    times, states, runs = read_runs(raw)
    rows = make_rows(times, states)
    summary.write_runs(runs, raw / "steady-runs.csv")
    with open(out / "steady.csv", "w", newline="") as f:
        table = csv.DictWriter(f, COLUMNS, restval="", lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
    print_rows(rows, runs)
    return 1 if any(run.trouble() for run in runs) else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])))
