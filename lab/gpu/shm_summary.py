#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
"""shm_summary.py RAW OUT - two ranks of one node with a small /dev/shm

RAW holds directories shm.SIZE.MODE.K. Writes OUT/shm.jsonl and prints a table: how each job ended, the time of a training
step (several jobs run at the same time), the most that was in use in /dev/shm, and the plugin's reasons. Exit status 1 if
a job with the plugin failed where one without it did not.
"""
import json
import pathlib
import re
import sys

import frameworks_summary
import summary

NAME = re.compile(r"shm\.([0-9]+|full|none)\.(off|observe|bandit)\.([0-9]+)$")
SIGNAL = re.compile(r"SIG[A-Z]+")
RECORD_WHY = re.compile(r'"why":\s*"([^"]+)"')


def ended(run, output):
    if run.rc == 0:
        return "well"
    signals = set(SIGNAL.findall(output)) - {"SIGTERM"} | ({"SIGSEGV"} if "Segmentation fault" in output else set())
    return f"{run.rc} {' '.join(sorted(signals))}".strip()


def make_line(match, run):
    output = run.error + ((run.path / "out").read_text(errors="replace") if (run.path / "out").exists() else "")
    room = (run.path / "room").read_text().split("\n") if (run.path / "room").exists() else [""]
    used = room[0].split()
    result = frameworks_summary.result_of(run) or {}
    records = "".join(path.read_text(errors="replace") for path in run.path.glob("rank.*.json"))
    return {"size": match[1], "mode": match[2], "number": int(match[3]), "ended": ended(run, output), "status": run.rc,
            "ms": result.get("ms"), "used_mb": round(float(used[0]) / 1024, 1) if used else None, "files": room[1:9],
            "why": sorted(set(RECORD_WHY.findall(records)) | ({"shmsmall"} if "shmsmall" in output + records else set())),
            "said": [text[:200] for text in output.splitlines() if re.search("nccl-tune:|NCCL WARN|No space", text)][:4],
            "seconds": run.seconds}


def order(line):
    return (int(line["size"]) if line["size"].isdigit() else 1 << 20, line["size"], ["off", "observe", "bandit"].index(line["mode"]), line["number"])


def main(raw, out):
    lines = sorted((make_line(match, run) for match, run in summary.runs_named(raw, NAME)), key=order)
    with open(out / "shm.jsonl", "w") as f:
        for line in lines:
            f.write(json.dumps(line) + "\n")
    print("| /dev/shm, MB | mode | ended | ms a step | most in use, MB | reason |\n|---|---|---|---|---|---|")
    for line in lines:
        print(f"| {line['size']} | {line['mode']} | {line['ended']} | {line['ms'] or '-'} | {line['used_mb']} | {', '.join(line['why']) or '-'} |")
    for line in lines:
        for text in line["said"]:
            print(f"{line['size']} {line['mode']}: {text}")
    well = {(line["size"], line["number"]) for line in lines if line["mode"] == "off" and line["status"] == 0}
    bad = [line for line in lines if line["status"] != 0 and (line["size"], line["number"]) in well]
    print(f"\n{len(lines)} jobs; with the plugin {len(bad)} failed that do not without it")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])))
