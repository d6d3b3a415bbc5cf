#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
"""training.py - what summaries of training programs share: their steps, losses and launch profiles"""
import collections
import re

import summary

# Two ranks add in one order only; sums of more, and those in bf16, depend on the arm.
LOSS_SAME = {"ddp": 1e-4, "fsdp": 2e-2, "tp": 1e-4, "mesh": 1e-4}
LOSS_TWO = 1e-6
CHOICE = re.compile(r"nccl-tune: (launch profile .*)")


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


def profile_of(run):
    """As the ranks' records say it; they must agree."""
    return "|".join(sorted({record["launch"] for record in run.records if record.get("launch")}))


def counted(names):
    """ "sockets-wide x 3, default": the most frequent first."""
    found = collections.Counter(name for name in names if name)
    return ", ".join(name if n == 1 else f"{name} x {n}" for name, n in found.most_common())


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


def print_losses(losses):
    for found in losses:
        print(f"losses of {found['program']} {found['topology']}: {found['runs']} runs, {found['steps']} steps, from {found['first']:.4g} to "
              f"{found['last']:.4g}, largest difference {found['worst']:.1e} of it (up to {found['allowed']:.0e}): "
              f"{'equal' if found['equal'] else 'DIFFERENT'}")
