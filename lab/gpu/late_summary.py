#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
"""late_summary.py RAW OUT - who is late, and what measuring costs

RAW holds directories late-PROGRAM.TOPOLOGY.WAY.K: off and again without the plugin, observe, and late, which is observe with
extra work on the last rank. A time is the median of the last half of the training steps, by rank 0's clock. Cost is the time
with observe over that of the run without the plugin in the same repetition; that of again over off is noise.

Prints tables, and what the reports say of ranks that others wait for. Exit status 1 if a run failed, if a late rank was not
named, or if one was named where none is.
"""
import pathlib
import re
import statistics
import sys

import auto_summary
import summary

NAME = re.compile(r"late-(\w+)\.([0-9]+x[0-9]+)\.(off|observe|late|again)\.([0-9]+)$")
NAMED = re.compile(r"thers wait for rank ([0-9]+)")
ANYBODY = re.compile(r"[Oo]thers wait for (?:rank|the ranks)")


class Measured:
    def __init__(self, path):
        self.program, self.topology, self.way, self.number = NAME.match(path.name).groups()
        run = summary.Run(path)
        ms, _, self.ranks = auto_summary.times_of(run)
        self.ms = statistics.median(ms[len(ms) // 2:]) if ms else None
        report = path / "report.txt"
        self.report = " ".join(report.read_text(errors="replace").split()) if report.exists() else ""
        self.name, self.failed = path.name, run.rc != 0 or self.ms is None

    def trouble(self):
        """None, or what is wrong with what the report says."""
        if self.failed:
            return "failed"
        named = NAMED.findall(self.report)
        if self.way == "late" and named[:1] != [str(self.ranks - 1)]:
            return f"rank {self.ranks - 1} is not named"
        if self.way == "observe" and ANYBODY.search(self.report):
            return "somebody is named"
        return None


def ratios(here, way):
    off = {run.number: run.ms for run in here if run.way == "off" and run.ms}
    return [run.ms / off[run.number] for run in here if run.way == way and run.ms and run.number in off]


def ratio_text(values):
    return f"{statistics.median(values):.3f} [{min(values):.3f}, {max(values):.3f}]" if values else "-"


def print_costs(runs):
    print("Milliseconds of a training step; ratios to the run without the plugin of the same repetition, median [least, most].")
    for place in sorted({(run.topology, run.program) for run in runs}):
        here = [run for run in runs if (run.topology, run.program) == place]
        off = [run.ms for run in here if run.way == "off" and run.ms]
        base = f"{statistics.median(off):.2f} ms [{min(off):.2f}, {max(off):.2f}]" if off else "-"
        print(f"{place[0]} {place[1]}: off {base}; observe {ratio_text(ratios(here, 'observe'))}; "
              f"again without {ratio_text(ratios(here, 'again'))}; with a late rank {ratio_text(ratios(here, 'late'))}")


def said(run):
    start = ANYBODY.search(run.report)
    return run.report[max(0, start.start() - 12):start.end() + 150] if start else "nobody is named"


def main(raw, out):
    runs = [Measured(path) for path in sorted(pathlib.Path(raw).iterdir()) if NAME.match(path.name)]
    print_costs(runs)
    print()
    rc = 0
    for run in runs:
        trouble = run.trouble()
        rc = 1 if trouble else rc
        if trouble or run.way in ("observe", "late"):
            print(f"{run.name}: {said(run)}{f'   WRONG: {trouble}' if trouble else ''}")
    return rc


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
