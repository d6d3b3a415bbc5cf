#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
"""correct_summary.py RAW OUT - graphs, groups, split communicators and aborts while the plugin explores

RAW holds directories correct-KIND.TOPOLOGY.bandit.K and, where there was one, inspector. Prints a line a run and how
many hung or failed. Exit status 1 if one did, or computed something wrong, or had ranks that differ.
"""
import collections
import pathlib
import re
import sys

import summary

NAME = re.compile(r"correct-[a-z-]+\.[0-9]+x[0-9]+\.bandit\.[0-9]+$")


def line_of(run):
    head = next((x for x in summary.json_lines(run.path / "out") if "coll" not in x), {})
    lines = list(run.lines())
    keys = [k for r in run.records for c in r["comms"] for k in c["keys"]]
    states = collections.Counter(k["state"] for k in keys)
    comms = collections.Counter(c["state"] for r in run.records for c in r["comms"])
    checks = sum(x.get("checks", 0) for x in lines)
    text = ", ".join(f"{n} {name}" for name, n in sorted(states.items()))
    why = sorted({c["why"] for r in run.records for c in r["comms"] if c.get("why")})
    return (f"{run.kind[len('correct-'):]:14} {run.topology:4} {run.trouble() or 'right':8} {run.seconds:5.1f} s, "
            f"{head.get('iterations', head.get('calls', '?'))} iterations, {head.get('aborts', 0)} aborts, {checks} checks, "
            f"{sum(k.get('forced', 0) for k in keys)} forced; communicators "
            f"{', '.join(f'{n} {s}' for s, n in sorted(comms.items())) or 'none'}; keys {text or 'none'}"
            + "".join(f"\n    {w[:140]}" for w in why))


def main(raw):
    runs = [run for _, run in summary.runs_named(raw, NAME)]
    for run in runs:
        print(line_of(run))
        if run.trouble():
            print("".join(f"    {line[:160]}\n" for line in run.error.strip().splitlines()[-3:]), end="")
        if not run.records:
            print("    no rank left a record")
    hung = sum(run.trouble() == "hang" for run in runs)
    failed = sum(bool(run.trouble()) for run in runs) - hung
    print(f"correct: {len(runs)} runs, {hung} hung, {failed} failed otherwise, {sum(r.seconds for r in runs):.0f} s")
    inspector = raw / "inspector"
    bad = False
    if (inspector / "status").exists():
        bad = (inspector / "status").read_text().strip() != "0"
        texts = [(inspector / name).read_text(errors="replace").strip().splitlines() for name in ("err", "out")]
        shown = (texts[0][-3:] if bad else []) + texts[1][-4:]
        print("inspector: " + " / ".join(shown or ["nothing was printed"]))
    return 1 if hung or failed or bad else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
