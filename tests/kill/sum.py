#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
"""sum.py CSV... - what matrix.sh found, one line for each target, step and way (with or without the plugin)

in_step    runs struck in the step that was wanted; late: in a later one, since the wanted one was over too soon
hang       tasks that were still there half a minute after the kill
mismatches ranks that chose differently
others_*   the program beside the struck one: done with one arm on all ranks or still exploring, done_mixed (ranks ended
           with different arms), cancelled by Slurm, error (ranks in doubt of an outcome failed), none (the job had one program)
doubt      runs in which ranks in doubt failed; doubt_max_ms: the latest of them, after the kill; only where the
           communicator watched or the one beside was struck between PROPOSE and its outcome: doubt_held
left_ours  runs that left a node's memory, a file in /tmp or /dev/shm, a task or a helper; left_slurm: PMIx's
           directories of the step below TmpFS
admin      runs after which a slurmstepd had to be ended or a slurmd restarted for the nodes to become idle
"""
import collections
import csv
import sys

TARGETS = "rank speaker home stepd homestepd stop".split()
STEPS = "joining agreed wanted held committed running next final".split()
COLUMNS = ("target step tune runs in_step late not_struck status hang mismatches others_done others_done_mixed "
           "others_cancelled others_error others_lost others_none doubt doubt_held doubt_max_ms srun_waits left_ours "
           "left_slurm admin").split()


def order(key):
    target, step, tune = key
    return TARGETS.index(target), STEPS.index(step), tune != "on"


def summed(rows):
    """One line of the sum; statuses as status*runs."""
    out = collections.Counter()
    statuses = collections.Counter(row["status"] for row in rows)
    for row in rows:
        struck = row["before"]
        out["in_step"] += struck == row["step"]
        out["not_struck"] += struck == "none"
        out["late"] += struck not in (row["step"], "none", "-")
        out["hang"] += int(row["hang"])
        out["mismatches"] += int(row["mismatches"])
        others = row["others"]
        if others == "done" and row["arm"] == "mixed":
            others = "done_mixed"
        out["others_" + others] += 1
        doubt = int(row["doubt"]) > 0
        out["doubt"] += doubt
        out["doubt_held"] += doubt and bool({row["before"], row["beside"]} & {"held", "next"})
        out["doubt_max_ms"] = max(out["doubt_max_ms"], int(row["doubt_ms"]))
        out["srun_waits"] += int(row["srun_waits"])
        out["left_ours"] += any(name in row["left"] for name in ("memory:", "shm-tmp:", "tasks:", "recordd:"))
        out["left_slurm"] += "tmpfs:" in row["left"]
        out["admin"] += row["admin"] != "none"
    out["runs"] = len(rows)
    line = {name: out[name] for name in COLUMNS if name not in ("target", "step", "tune", "status")}
    line["status"] = " ".join(f"{status}*{count}" for status, count in sorted(statuses.items()))
    return line


def main():
    groups = collections.defaultdict(list)
    for name in sys.argv[1:]:
        with open(name, newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                groups[row["target"], row["step"], row["tune"]].append(row)
    out = csv.DictWriter(sys.stdout, COLUMNS, lineterminator="\n")
    out.writeheader()
    for key in sorted(groups, key=order):
        out.writerow(dict(zip(("target", "step", "tune"), key)) | summed(groups[key]))


if __name__ == "__main__":
    main()
