#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
"""ncclperf_summary.py RAW OUT - all_reduce_perf without the plugin and with it

RAW holds directories ncclperf-long|short.1x2.MODE.K. A time is that of a call, out of place and in place; of the long runs,
whose sizes come in several cycles, "first" is the first cycle's and "last" the median of the others. Medians over runs with
the least and the largest, and the ratio of the medians to those without the plugin.

Writes OUT/ncclperf.jsonl and prints tables. Exit status 1 if a run failed or computed something wrong.
"""
import json
import pathlib
import re
import statistics
import sys

import summary

NAME = re.compile(r"ncclperf-(long|short)\.1x2\.(off|observe|bandit)\.([0-9]+)$")
# bytes, count, type, operation, root; time, algbw, busbw, wrong; the same in place
ROW = re.compile(r"^\s*(\d+)\s+\d+\s+\w+\s+\w+\s+-?\d+\s+([0-9.]+)\s+\S+\s+\S+\s+(\S+)\s+([0-9.]+)\s+\S+\s+\S+\s+(\S+)", re.M)
MODES = ["off", "observe", "bandit"]


def rows_of(run):
    """Bytes, microseconds, wrong elements of each row in order; of the simulated NCCL two cycles."""
    text = (run.path / "out").read_text(errors="replace") if (run.path / "out").exists() else ""
    for row in ROW.findall(text):
        yield int(row[0]), float(row[1]), row[2]
        yield int(row[0]), float(row[3]), row[4]
    for line in summary.json_lines(run.path / "out"):
        for key in line.get("keys", []):
            yield key["bytes"], key["first_us"], "0"
            yield key["bytes"], key["last_us"], "0"


def make_lines(match, run):
    kind, mode, number = match.groups()
    cycles, wrong = {}, 0
    for count, us, errors in rows_of(run):
        cycles.setdefault(count, []).append(us)
        wrong += errors not in ("0", "N/A")
    for count, times in sorted(cycles.items()):
        first, last = times[:2], times[2:] or times
        if run.records and len(times) == 2:
            first, last = times[:1], times[1:]
        yield {"kind": kind, "mode": mode, "number": int(number), "bytes": count, "times": times, "first": round(statistics.median(first), 2),
               "last": round(statistics.median(last), 2), "wrong": wrong}


def text_of(values):
    return f"{statistics.median(values):8.2f} [{min(values):.2f}, {max(values):.2f}]"


def print_kind(kind, lines):
    print(f"\n{kind} runs, microseconds a call: median [least, most] of {len({line['number'] for line in lines})} runs; ratio to off")
    for count in sorted({line["bytes"] for line in lines}):
        here = [line for line in lines if line["bytes"] == count]
        base = [line["last"] for line in here if line["mode"] == "off"]
        for mode in MODES:
            some = [line for line in here if line["mode"] == mode]
            if some:
                last = [line["last"] for line in some]
                ratio = f"{statistics.median(last) / statistics.median(base):6.3f}" if base else "     -"
                first = f"; first cycle {text_of([line['first'] for line in some])}" if kind == "long" else ""
                print(f"{summary.size_text(count):>5} {mode:8} {text_of(last)} {ratio}{first}")


def main(raw, out):
    lines, bad, runs = [], [], 0
    for match, run in summary.runs_named(raw, NAME):
        runs += 1
        some = list(make_lines(match, run))
        lines += some
        if run.rc != 0 or not some or any(line["wrong"] for line in some):
            bad.append(f"{run.path.name}: exit status {run.rc}, {len(some)} sizes; " + " / ".join(run.error.strip().splitlines()[-2:])[:300])
    with open(out / "ncclperf.jsonl", "w") as f:
        for line in lines:
            f.write(json.dumps(line) + "\n")
    for kind in ("long", "short"):
        if any(line["kind"] == kind for line in lines):
            print_kind(kind, [line for line in lines if line["kind"] == kind])
    print(f"\n{runs} runs, {len(bad)} failed", *bad, sep="\n  ")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])))
