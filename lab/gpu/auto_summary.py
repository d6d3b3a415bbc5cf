#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
"""auto_summary.py RAW OUT - jobs of PyTorch steps with launch=auto and an empty memory

RAW holds directories auto-NETWORK-PROGRAM.TOPOLOGY.WAY.K, WAY off or auto, the steps of repetition K's job, and
auto-NETWORK-job.TOPOLOGY.job.K, what the job itself has left. A time is the median of the last half of a step's training
steps, by rank 0's clock; a ratio is the time of the step without the plugin over that of the one beside it. Spread is the
largest less the smallest time without the plugin, of its median. Losses must be equal in all runs.

Writes OUT/auto.csv and prints tables. Exit status 1 if a run failed or losses differ.
"""
import collections
import csv
import pathlib
import re
import statistics
import sys

import summary
import training

NAME = re.compile(r"auto-(loopback|shaped)-(ddp|fsdp|tp|mesh|job)\.([0-9]+x[0-9]+)\.(off|auto|job)\.([0-9]+)$")
ASKED = re.compile(r"calibrating launch profiles for at most ([0-9]+) s")
TOOK = re.compile(r"Calibration in job [0-9]+: .*NCCL ([0-9.]+); ([0-9]+) steps in ([0-9]+) s")
CHOICE = re.compile(r"nccl-tune: launch profile (\S+) \((.*)\)")
COLUMNS = ["network", "topology", "program", "way", "number", "ms", "steps", "profile", "why", "calibration_s", "nccl", "seconds",
           "loss_first", "loss_last", "status"]
# Over loopback sockets so many times as fast; elsewhere at most so much slower beyond the spread.
WANTED = {"ddp": 2.0, "fsdp": 1.2}
SLOWER = 1.03


def found(pattern, text):
    match = pattern.search(text)
    return match.groups() if match else ()


def times_of(run):
    """Milliseconds of every training step, the losses, and the ranks; the simulated NCCL has but a median of rounds."""
    for line in summary.json_lines(run.path / "out"):
        if "program" in line:
            return line["step_ms"], line["losses"], line["ranks"]
        if "rounds" in line:
            return [line["rounds"]["last_us"] / 1000], [], line["ranks"]
    return [], [], 0


def make_line(match, run):
    network, program, topology, way, number = match.groups()
    ms, losses, ranks = times_of(run)
    profile, why = found(CHOICE, run.error) or ("", "")
    nccl, _, seconds = found(TOOK, run.error) or ("", "", "")
    recorded = training.profile_of(run)
    line = {"network": network, "topology": topology, "program": program, "way": way, "number": int(number),
            "run": run.path.name, "ms": round(statistics.median(ms[len(ms) // 2:]), 3) if ms else None, "steps": len(ms),
            "profile": recorded or profile, "why": why, "calibration_s": seconds, "nccl": nccl, "seconds": run.seconds,
            "asked": bool(found(ASKED, run.error)), "losses": losses, "ranks": ranks, "status": run.rc}
    if losses:
        line.update(loss_first=losses[0], loss_last=losses[-1])
    line["trouble"] = trouble(run, line)
    return line


def trouble(run, line):
    """Why a run counts as failed; None: it does not."""
    if run.rc in (124, 137, 75):
        return "hang"
    if run.rc != 0:
        return f"exit status {run.rc}" if run.rc != -1 else "not ended"
    if line["ms"] is None:
        return "no result"
    if line["way"] == "auto" and not run.records:
        return "no rank left a record"
    return run.disagreement() and "records of ranks differ"


def verdict(network, program, ratios, spread):
    if network != "loopback":
        return "SLOWER" if 1 / statistics.median(ratios) > SLOWER + spread else "not slower"
    want = WANTED.get(program)
    if want is None:
        return ""
    return f"{'' if min(ratios) >= want else 'NOT '}{want:g} x in each"


def numbers(lines):
    return " ".join(f"{line['ms']:8.2f}" for line in lines)


def print_programs(lines):
    places = sorted({(line["network"], line["topology"], line["program"]) for line in lines})
    print("Milliseconds of a training step, by repetition; ratio: median [least, most] of the steps side by side.")
    for network, topology, program in places:
        here = {(line["way"], line["number"]): line for line in lines
                if (line["network"], line["topology"], line["program"]) == (network, topology, program) and not line["trouble"]}
        both = sorted(number for way, number in here if way == "off" and ("auto", number) in here)
        if not both:
            print(f"\n{network} {topology} {program}: no pair of runs that ended well")
            continue
        off, auto = ([here[way, number] for number in both] for way in ("off", "auto"))
        ratios = [a["ms"] / b["ms"] for a, b in zip(off, auto)]
        base = [line["ms"] for line in off]
        spread = (max(base) - min(base)) / statistics.median(base)
        print(f"\n{network} {topology} {program}\n  off  {numbers(off)}   spread {100 * spread:.1f} %\n  auto {numbers(auto)}   "
              f"ratio {statistics.median(ratios):.3f} [{min(ratios):.3f}, {max(ratios):.3f}]  {verdict(network, program, ratios, spread)}\n"
              f"  profiles: {training.counted(line['profile'] for line in auto)}")


def print_calibrations(lines):
    """Each job's own, in the step that it came before; and how long training takes to win it back."""
    print()
    for line in lines:
        if line["asked"]:
            print(f"{line['run']}: calibrated first: {line['calibration_s'] or '?'} s, NCCL {line['nccl'] or '?'}; the step with it {line['seconds']:.1f} s")
    for network in sorted({line["network"] for line in lines}):
        took = [float(line["calibration_s"]) for line in lines if line["network"] == network and line["calibration_s"]]
        if took:
            print(f"calibrations, {network}: {statistics.median(took):.0f} s [{min(took):.0f}, {max(took):.0f}], {len(took)} jobs; won back after "
                  + ", ".join(won_back(lines, network, statistics.median(took))))


def won_back(lines, network, seconds):
    for program in sorted({line["program"] for line in lines if line["network"] == network}):
        ms = {way: [line["ms"] for line in lines if (line["network"], line["program"], line["way"]) == (network, program, way)
                    and not line["trouble"]] for way in ("off", "auto")}
        saved = 1 - statistics.median(ms["auto"]) / statistics.median(ms["off"]) if ms["auto"] and ms["off"] else 0
        yield f"{seconds / saved:.0f} s of {program}" if saved > 0.01 else f"no time of {program}"


def print_libraries(jobs):
    """Which NCCL the calibrations have measured, by the memory that the jobs have left."""
    paths = collections.Counter()
    for job in jobs:
        for path in job.path.glob("memory/*.jsonl"):
            entries = [entry for entry in summary.json_lines(path) if entry.get("origin") == "calibrate"]
            paths.update(f"{entry.get('library', 'an unknown file')} ({entry['nccl']})" for entry in entries)
    for path, count in paths.most_common():
        print(f"calibrated: NCCL from {path}, {count} entries")


def print_runs(lines):
    for line in lines:
        if line["why"]:
            print(f"{line['run']}: {line['profile']} ({line['why']})")
    for line in lines:
        if line["trouble"]:
            print(f"  {line['run']}: {line['trouble']}" + "".join(f"\n    {text[:160]}" for text in line["said"]))
    print(f"{len(lines)} runs, {sum(bool(line['trouble']) for line in lines)} of them failed, {sum(line['seconds'] for line in lines):.0f} s")


def main(raw, out):
    lines, jobs = [], []
    for match, run in summary.runs_named(raw, NAME):
        if match[2] == "job":
            jobs.append(run)
            continue
        lines.append({**make_line(match, run), "said": run.error.strip().splitlines()[-3:]})
    losses = training.compare_losses(lines)
    with open(out / "auto.csv", "w", newline="") as f:
        table = csv.DictWriter(f, COLUMNS, restval="", extrasaction="ignore", lineterminator="\n")
        table.writeheader()
        table.writerows(lines)
    print_programs(lines)
    print_calibrations(lines)
    print_libraries(jobs)
    training.print_losses(losses)
    print_runs(lines)
    return 1 if any(line["trouble"] for line in lines) or not all(one["equal"] for one in losses) else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])))
