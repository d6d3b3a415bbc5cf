#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
"""settle.py RAW - what the probe's runs say about NCCL

RAW holds a directory a run, settle.NAME, with the program's output (out, err), its exit status and seconds (status),
samples.csv, NCCL's log a rank (nccl.RANK.log) and the probe's rows a rank (probe.RANK.PID.csv; see probe.c).
"""
import collections
import csv
import functools
import json
import math
import pathlib
import re
import statistics
import sys

ALGORITHMS = ["TREE", "RING", "COLLNET_DIRECT", "COLLNET_CHAIN", "NVLS", "NVLS_TREE", "PAT"]
PROTOCOLS = ["LL", "LL128", "SIMPLE"]
TYPE_BYTES = {"ncclFloat32": 4, "ncclInt8": 1}

Decision = collections.namedtuple("Decision", "index coll bytes arm mask host_ns")
Event = collections.namedtuple("Event", "seq coll count type arm channels starts stops first last launch_us")


def size_text(count):
    for unit, letter in ((1 << 20, "M"), (1 << 10, "K")):
        if count >= unit and count % unit == 0:
            return f"{count // unit}{letter}"
    return str(count)


class Rank:
    """The probe's rows of one process; of several communicators, the one with most ranks."""

    def __init__(self, path):
        rows = [line.split(",") for line in path.read_text().splitlines()]
        self.comms = [r for r in rows if r[0] == "comm"]
        world = max(self.comms, key=lambda r: int(r[3]))
        self.id, self.rank, self.ranks = world[1], int(world[2]), int(world[3])
        self.tables = {(r[2], int(r[3])): (int(r[4], 16), r[5], int(r[7]))
                       for r in rows if r[0] == "table" and r[1] == self.id}
        self.decisions = [Decision(int(r[2]), r[3], int(r[4]), r[5], int(r[6]), int(r[7]))
                          for r in rows if r[0] == "decision" and r[1] == self.id]
        self.events = [Event(int(r[2]), r[3], int(r[4]), r[5], r[6], *map(int, r[7:12]), float(r[12]))
                       for r in rows if r[0] == "coll" and r[1] == self.id]

    def bytes_of(self, event):
        """The size column: what AllGather sends is a share, and is counted in bytes."""
        size = event.count * TYPE_BYTES[event.type]
        return size * self.ranks if event.coll in ("AllGather", "ReduceScatter") else size


class Settled:
    def __init__(self, path):
        self.path, self.name = path, path.name.split(".", 1)[1]
        self.rc, self.seconds = (path / "status").read_text().split() if (path / "status").exists() else ("-1", "0")
        self.ranks = sorted((Rank(p) for p in path.glob("probe.*.csv")), key=lambda r: r.rank)
        self.lines = [json.loads(line) for line in (path / "out").read_text().splitlines() if line.startswith("{")]
        self.error = (path / "err").read_text(errors="replace").strip()
        samples = path / "samples.csv"
        self.samples = list(csv.DictReader(samples.open())) if samples.exists() else []

    def run_line(self):
        return next((line for line in self.lines if "run" in line), {})


def median(values):
    values = list(values)
    return statistics.median(values) if values else float("nan")


def duration_us(event):
    return (event.last - event.first) / 1e3


def complete(event):
    return event.channels > 0 and event.stops == event.starts == event.channels and event.last > event.first


def legal_arms(bits):
    return " ".join(f"{a}/{p}" for i, a in enumerate(ALGORITHMS) for k, p in enumerate(PROTOCOLS)
                    if bits >> (i * len(PROTOCOLS) + k) & 1)


def print_equality(run):
    first = run.ranks[0].tables
    masks = costs = 0
    for place in first:
        masks += len({r.tables.get(place, (0,))[0] for r in run.ranks}) > 1
        costs += len({r.tables.get(place, (0, 0))[1] for r in run.ranks}) > 1
    varied = sum(t[2] > 1 for r in run.ranks for t in r.tables.values())
    print(f"  cost tables of {len(run.ranks)} ranks, {len(first)} collectives and sizes: legal entries differ in "
          f"{masks}, costs in {costs}; a rank saw another table at a later call in {varied}")
    for bits, places in sorted(collections.Counter((t[0], c) for (c, _), t in first.items()).items()):
        print(f"  legal: {bits[1]}: {legal_arms(bits[0])}")


def print_channels(run):
    log = "".join(p.read_text(errors="replace") for p in run.path.glob("nccl.*.log"))
    said = sorted(set(re.findall(r"(\d+) coll channels", log)))
    for coll in sorted({e.coll for e in run.ranks[0].events}):
        seen = {}
        for e in run.ranks[0].events:
            if e.coll == coll:
                seen.setdefault(run.ranks[0].bytes_of(e), set()).add(e.channels)
        text = ", ".join(f"{size_text(b)} {'/'.join(map(str, sorted(c)))}" for b, c in sorted(seen.items()))
        print(f"  channels of {coll}: {text} (NCCL says {'/'.join(said) or '?'})")


def print_stamps(run):
    stamps = [s for r in run.ranks for e in r.events if complete(e) for s in (e.first, e.last)]
    broken = sum(not complete(e) for r in run.ranks for e in r.events)
    print(f"  GPU stamps are multiples of {functools.reduce(math.gcd, stamps, 0)} ns; "
          f"{len(stamps) // 2} collectives complete, {broken} not")


def by_arm(run):
    """Of each call of the samples file: its place, and the times of all ranks by every clock there is."""
    calls = len({(s["coll"], s["bytes"]) for s in run.samples})
    samples = collections.defaultdict(dict)
    for s in run.samples:
        samples[int(s["iteration"]), s["coll"], int(s["bytes"])][int(s["rank"])] = s
    found = collections.defaultdict(list)
    for i, events in enumerate(zip(*(r.events for r in run.ranks))):
        decision = run.ranks[0].decisions[i]
        sample = samples.get((i // calls, decision.coll, decision.bytes), {})
        if len(sample) == len(run.ranks) and all(map(complete, events)):
            stamps = list(map(duration_us, events))
            cuda = [e.launch_us for e in events if e.launch_us > 0] or [float(s["gpu_us"]) for s in sample.values()]
            host = max(float(s["host_us"]) for s in sample.values())
            found[decision.coll, decision.bytes, events[0].arm].append(
                (min(stamps), max(stamps), min(cuda), max(cuda), host))
    return found


def print_clocks(run):
    """Do KernelCh stamps say what a call costs? The first call with an arm is left out."""
    clock = "events in callbacks" if run.name.startswith("clocks") else "events around calls"
    print(f"  {'medians, us':34}   KernelCh over ranks   {clock}       host")
    print(f"  {'':34}    least      most       least      most       most")
    for (coll, size, arm), rows in sorted(by_arm(run).items()):
        values = [median(row[k] for row in rows[1:]) for k in range(5)]
        print(f"  {coll:13} {size_text(size):>5} {arm:14}" + "".join(f" {v:10.1f}" for v in values) +
              f"  ({len(rows) - 1})")


def print_first_uses(run):
    """From one decision to the next on rank 0: the first with an algorithm against the later ones."""
    decisions = run.ranks[0].decisions
    gaps = [(d, (after.host_ns - d.host_ns) / 1e6) for d, after in zip(decisions, decisions[1:])]
    for algorithm in ("RING", "TREE", "PAT"):
        used = [(d, gap) for d, gap in gaps if d.arm.startswith(algorithm)]
        if used:
            first, gap = used[0]
            later = median(g for d, g in used[1:] if (d.coll, d.bytes, d.arm) == (first.coll, first.bytes, first.arm))
            print(f"  first {first.arm} ({first.coll} {size_text(first.bytes)}): {gap:.1f} ms, later {later:.2f} ms")
    line = run.run_line()
    print(f"  device memory: {line.get('init_mib', '?')} MiB at init, {line.get('iterations_mib', '?')} more for algorithms"
          " on first use")


def print_masks(run):
    """A mask set in one decision counts from the next call on; the first iteration of a block is left out."""
    times, widest = {}, {}
    if not run.samples:
        print("  no samples")
        return
    sizes = sorted({int(s["bytes"]) for s in run.samples})
    for s in run.samples:
        key = (int(s["iteration"]), int(s["bytes"]))
        times.setdefault(key, {})[int(s["rank"])] = float(s["host_us"])
    masks = [d.mask for d in run.ranks[0].decisions] if run.ranks else []
    order = len(sizes)
    for (number, size), ranks in times.items():
        at = number * order + sizes.index(size) - 1
        mask = (masks[at] if at >= 0 else None) if masks else "none"
        if mask is None or (masks and run.name == "masks" and at >= order and masks[at - order] != mask):
            continue
        widest.setdefault((mask, size), []).append((ranks[0], max(ranks.values())))
    for mask in sorted({m for m, _ in widest}, key=str):
        text = ", ".join(f"{size_text(s)} {median(v[0] for v in widest[mask, s]):.1f}" for s in sizes)
        print(f"  events {mask}: {text} us (host, rank 0)")


def print_late(run):
    for rank in run.ranks:
        for comm in rank.comms:
            if int(comm[5]) or int(comm[6]):
                print(f"  rank {rank.rank}, communicator of {comm[3]}: {comm[5]} KernelCh events after the tuner's "
                      f"finalize, {comm[6]} after the profiler's")
    total = [sum(int(c[k]) for r in run.ranks for c in r.comms) for k in (5, 6)]
    print(f"  KernelCh events after the tuner's finalize {total[0]}, after the profiler's {total[1]}; "
          f"communicators {sum(len(r.comms) for r in run.ranks)}")


def print_launches(run):
    print(f"  failed CUDA calls: {sum(int(r.comms[0][8]) for r in run.ranks)}; launches timed: "
          f"{sum(e.launch_us > 0 for r in run.ranks for e in r.events)}")


def print_burst(run):
    for line in run.lines:
        if "coll" in line:
            times = [min(map(duration_us, events)) for events in zip(*(r.events for r in run.ranks))
                     if all(map(complete, events)) and run.ranks[0].bytes_of(events[0]) == line["bytes"]]
            print(f"  {line['coll']} {size_text(line['bytes'])}: KernelCh {median(times):.1f} us, a call of a burst "
                  f"{line['slowest_us']['all']['median']:.1f} us, busbw {line['busbw_gbs']:.1f} GB/s")


def print_graphs(run):
    for rank in run.ranks[:1]:
        usual = median(duration_us(e) for e in rank.events if complete(e))
        odd = sum(complete(e) and duration_us(e) > 50 * usual for e in rank.events)
        none = sum(e.starts == 0 for e in rank.events)
        part = sum(e.starts > 0 and not complete(e) for e in rank.events)
        print(f"  rank {rank.rank}: {rank.comms[0][7]} captured, {len(rank.decisions)} decisions, {len(rank.events)} "
              f"Coll events: without KernelCh {none}, incomplete {part}, over 50 times the median {odd}")


def print_simulation(run):
    told = [line["simulated_us"] for line in run.lines if "simulated_us" in line]
    errors = [line.get("errors") for line in run.lines if "coll" in line]
    print(f"  NCCL's estimate {told}, wrong elements {errors}")


def print_run(run):
    state = "ended well" if run.rc == "0" else f"exit status {run.rc}"
    print(f"{run.name}: {state}, {run.seconds} s")
    for line in run.error.splitlines()[:3] if run.rc != "0" else []:
        print(f"  {line[:150]}")
    kinds = {"tables": (print_equality, print_channels, print_stamps, print_clocks, print_first_uses),
             "masks": (print_masks,), "toggle": (print_masks,), "plain": (print_masks,), "late": (print_late,),
             "clocks": (print_clocks, print_launches), "burst": (print_burst,), "graph": (print_graphs,),
             "simulate": (print_simulation,)}
    for show in kinds.get(run.name.split("-")[0], ()):
        try:
            show(run)
        except (IndexError, KeyError, ValueError) as trouble:
            print(f"  {show.__name__}: nothing to say ({type(trouble).__name__}: {trouble})")


def main(raw):
    for path in sorted(raw.glob("settle.*")):
        print_run(Settled(path))
    return 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
