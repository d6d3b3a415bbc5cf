#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
"""frameworks_summary.py RAW OUT - training programs as users start them, without the plugin and with launch=auto

RAW holds directories frameworks-NETWORK-PROGRAM.TOPOLOGY.WAY.K, WAY off, observe, site1, typed1, site2, typed2, or a set-up with
which something is wrong (in mode observe), each the step of a job, and job-WAY in place of WAY, what the job has left. A time is the median of the last third of the training steps. A
ratio is the time of the step without the plugin of the same repetition over this one: more is faster. Spread is the largest
less the smallest time without the plugin, of its median. "told" is the step's time and number in the report, beside the
median time from start to start in the program. "before" is how much longer than the one without the plugin a step
took beside its training: a calibration's seconds. Losses must be equal in all runs of a program.

Writes OUT/frameworks.jsonl, a line for each step, and prints tables. Exit status 1 if a run failed or losses differ.
"""
import json
import pathlib
import re
import statistics
import sys

import auto_summary
import summary

NAME = re.compile(r"frameworks-(loopback|[0-9]+)-([a-z0-9]+)\.([0-9x]+)\.(off|observe|site[12]|typed[12]|cpus|left|differs)\.([0-9]+)$")
WAYS = ["off", "observe", "site1", "typed1", "site2", "typed2", "cpus", "left", "differs"]
TITLES = {"off": "off", "observe": "observe", "site1": "site's default, first job", "typed1": "typed, first job", "site2": "site's default, second job",
          "typed2": "typed, second job", "cpus": "one processor", "left": "CUDA_LAUNCH_BLOCKING=1", "differs": "NCCL_ALGO of one rank"}
TEXTS = {"ddp": "DDP, torchrun", "fsdp": "FSDP2, torchrun", "ddpx2": "DDP, torchrun, 2 ranks a task", "fsdpx2": "FSDP2, torchrun, 2 ranks a task",
         "trainer": "Trainer, torchrun", "trainer4": "Trainer, accumulation 4, torchrun", "lightning": "Lightning, srun", "jax": "JAX, srun"}
ASKED = re.compile(r"calibrat(?:es|ing)\b.* for (?:at most |about )?([0-9]+) s")
LIBRARY = re.compile(r"NCCL version ([0-9.]+)")
# Two ranks add in one order only; bf16 and more ranks in another with each arm.
LOSS_SAME = 2e-2


def result_of(run):
    """What the program has written; the simulated NCCL's rounds stand for steps."""
    path = run.path / "result.json"
    if path.exists() and path.stat().st_size:
        return json.loads(path.read_text())
    for line in summary.json_lines(run.path / "out"):
        if "rounds" in line:
            rounds = line["rounds"]
            return {"world": line["ranks"], "steps": rounds["count"], "ms": rounds["last_us"] / 1000, "first": rounds["first_us"] / 1000,
                    "total": rounds["count"] * rounds["wall_median_us"] / 1e6, "losses": []}
    return None


def told_of(job):
    """Milliseconds and number of the training steps, as the report tells them."""
    path = job / "report.json"
    if not path.exists() or not path.stat().st_size:
        return {}
    steps = [step for one in json.loads(path.read_text())["jobs"] for step in one["steps"] if not step["calibrates"]]
    if not steps:
        return {}
    told = {"findings": [one["code"] for one in steps[-1].get("findings", [])]}
    if steps[-1].get("steps") and steps[-1]["step_us"][1]:
        told |= {"told_ms": round(steps[-1]["step_us"][1] / 1000, 2), "told_steps": steps[-1]["steps"]}
    return told


def make_line(match, run):
    network, program, topology, way, number = match.groups()
    job = run.path.parent / f"frameworks-{network}-{program}.{topology}.job-{way}.{number}"
    report = (job / "report.txt").read_text(errors="replace") if (job / "report.txt").exists() else ""
    profile, why = auto_summary.found(auto_summary.CHOICE, run.error) or ("", "")
    if not profile:
        match = re.search(r"launch profile ([a-z0-9-]+)", report)
        profile = match[1] if match else ""
    took = auto_summary.found(auto_summary.TOOK, run.error + report)
    asked = ASKED.search(run.error)
    library = LIBRARY.search((run.path / "out").read_text(errors="replace") if (run.path / "out").exists() else "")
    line = {"network": network, "program": program, "topology": topology, "way": way, "number": int(number), "seconds": run.seconds,
            "status": run.rc, "profile": profile, "why": why, "asked": bool(asked), "calibration_s": float(took[2]) if took else None,
            "library": library[1] if library else None, "began": (job / "id").stat().st_mtime if (job / "id").exists() else 0}
    line.update(result_of(run) or {"ms": None})
    line.update(told_of(job))
    line["trouble"] = None
    if run.rc != 0:
        line["trouble"] = "hang" if run.rc in (124, 137) else f"exit status {run.rc}"
    elif line["ms"] is None:
        line["trouble"] = "no result"
    line["said"] = [text[:200] for text in run.error.splitlines() if "nccl-tune" in text][-6:]
    if line["trouble"]:
        line["said"] += [text[:200] for text in run.error.strip().splitlines()[-3:]]
    return line


def place(line):
    return line["network"], line["program"], line["topology"]


def place_order(cell):
    network, program, topology = cell
    return (0 if network == "loopback" else int(network)), list(TEXTS).index(program), topology


def compare(lines):
    """Ratios, the time before, and losses, to the run without the plugin of the same repetition, or else of another."""
    for line in lines:
        plain = [one for one in lines if place(one) == place(line) and one["way"] == "off" and not one["trouble"]]
        beside = [one for one in plain if one["number"] == line["number"]] or plain
        line["ratio"] = line["before_s"] = line["losses_equal"] = None
        if line["trouble"] or not beside:
            continue
        line["ratio"] = round(statistics.median(one["ms"] for one in beside) / line["ms"], 3)
        idle = statistics.median(one["seconds"] - one["total"] for one in plain)
        line["before_s"] = round(line["seconds"] - line["total"] - idle, 1)
        line["losses_equal"] = len(line["losses"]) == len(beside[0]["losses"]) and all(
            abs(a - b) <= LOSS_SAME * max(1, abs(b)) for a, b in zip(line["losses"], beside[0]["losses"]))
    for order, line in enumerate(sorted(lines, key=lambda one: one["began"]), 1):
        line["order"] = order


def cell_text(lines, way):
    some = [line for line in lines if line["way"] == way]
    good = [line for line in some if not line["trouble"]]
    if not some:
        return "-"
    if not good:
        return "FAILED"
    text = f"{statistics.median(line['ms'] for line in good):.1f}"
    if way != "off":
        text += f", {statistics.median(line['ratio'] or 0 for line in good):.2f} x"
        before = statistics.median(line["before_s"] or 0 for line in good)
        if before > 5:
            text += f" ({before:.0f} s)"
    return text + ("" if len(good) == len(some) else f", {len(some) - len(good)} FAILED")


def print_table(lines):
    ways = [way for way in WAYS if any(line["way"] == way for line in lines)]
    print("Milliseconds of a training step: medians; times as fast as off; in brackets seconds before the training began.\n")
    for network in sorted({line["network"] for line in lines}, key=lambda n: 0 if n == "loopback" else int(n)):
        print("loopback" if network == "loopback" else f"{network} Gbit/s")
        print("\n| program | " + " | ".join(TITLES[way] for way in ways) + " | spread of off |")
        print("|" + "---|" * (len(ways) + 2))
        for cell in sorted({place(line) for line in lines if line["network"] == network}, key=place_order):
            here = [line for line in lines if place(line) == cell]
            off = [line["ms"] for line in here if line["way"] == "off" and not line["trouble"]]
            spread = f"{100 * (max(off) - min(off)) / statistics.median(off):.1f} % of {len(off)}" if off else "-"
            print(f"| {TEXTS[cell[1]]}, {cell[2]} | " + " | ".join(cell_text(here, way) for way in ways) + f" | {spread} |")
        print()


def print_steps(lines):
    for line in sorted(lines, key=lambda one: (place_order(place(one)), one["number"], WAYS.index(one["way"]))):
        print(f"{'.'.join(place(line))} {line['way']} {line['number']}: {line['trouble'] or str(line['ms']) + ' ms'}, first {line.get('first')}, "
              f"total {line.get('total')} s, step {line['seconds']:.0f} s, before {line['before_s']}, profile {line['profile'] or '-'}"
              f"{' (' + line['why'] + ')' if line['why'] else ''}, losses {'equal' if line['losses_equal'] else 'DIFFER' if line['losses_equal'] is False else 'not compared'}")
        if line["way"] != "off" and not line["trouble"]:
            print(f"    told: {line.get('told_steps')} of {line.get('told_ms')} ms, program: {line.get('steps')} of {line.get('period')} ms, last third {line.get('period_last')}, findings: "
                  f"{' '.join(line.get('findings', [])) or '-'}")
        for text in line["said"] if line["trouble"] or line["way"] != "off" else []:
            print(f"    {text}")


def main(raw, out):
    lines = [make_line(match, run) for match, run in summary.runs_named(raw, NAME)]
    compare(lines)
    with open(out / "frameworks.jsonl", "w") as f:
        for line in sorted(lines, key=lambda one: one["order"]):
            f.write(json.dumps(line) + "\n")
    print_table(lines)
    print_steps(lines)
    bad = [line for line in lines if line["trouble"] or line["losses_equal"] is False]
    print(f"\n{len(lines)} steps, {len(bad)} of them failed or have other losses, {sum(line['seconds'] for line in lines):.0f} s")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])))
