#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
"""channels_summary.py FILE - the table of what channels.py printed, in Markdown

For each program and limit of channels: the median step over turns, and by turns the ratio of the time without a limit to
that with it (over 1: the limit is faster): its median, least and greatest.
"""
import collections
import json
import statistics
import sys


def read(path):
    """{program: {limit: {turn: median ms of its steps}}}"""
    ms = collections.defaultdict(lambda: collections.defaultdict(dict))
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            if "program" in row:
                ms[row["program"]][row["limit"]][row["turn"]] = statistics.median(row["ms"])
    return ms


def main():
    print("| program | channels at most | turns | step, ms | no limit / limit | least | greatest |")
    print("|---|---|---|---|---|---|---|")
    for program, limits in read(sys.argv[1]).items():
        for limit, turns in sorted(limits.items()):
            ratios = [limits[0][turn] / ms for turn, ms in turns.items() if turn in limits[0]]
            print(f"| {program} | {limit or 'no limit'} | {len(turns)} | {statistics.median(turns.values()):.1f} "
                  f"| {statistics.median(ratios):.3f} | {min(ratios):.3f} | {max(ratios):.3f} |")


if __name__ == "__main__":
    main()
