#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
"""summary.py - what the summaries of run.sh's parts share: a run's output, its ranks' records, and what went wrong in it

A run is a directory KIND.TOPOLOGY.MODE.K with the program's output (out, err), its exit status and seconds (status), and
the records of its ranks (rank.*.json).
"""
import json
import statistics

UNITS = [(1 << 30, "G"), (1 << 20, "M"), (1 << 10, "K")]


def size_text(count):
    for unit, letter in UNITS:
        if count >= unit and count % unit == 0:
            return f"{count // unit}{letter}"
    return str(count)


def json_lines(path):
    found = []
    for line in path.read_text(errors="replace").splitlines() if path.exists() else []:
        if line.startswith("{"):
            try:
                found.append(json.loads(line))
            except ValueError:
                pass  # cut off by a time limit: the run counts as failed by its exit status
    return found


class Run:
    """One job step: its place, how it ended, what it measured, what its ranks recorded."""

    def __init__(self, path):
        self.path = path
        self.kind, self.topology, self.mode, self.number = path.name.split(".")
        status = (path / "status").read_text().split() if (path / "status").exists() else ["-1", "0"]
        self.rc, self.seconds = int(status[0]), float(status[1])
        self.error = (path / "err").read_text(errors="replace") if (path / "err").exists() else ""
        self.records = [r for p in sorted(path.glob("rank.*.json")) for r in json_lines(p)]
        self.sizes = [self.row(line) for line in self.lines()]

    def lines(self):
        """Measured sizes: nccl-tune-bench prints one a line, the simulated NCCL all in one."""
        for line in json_lines(self.path / "out"):
            if "simulated" in line:
                for key in line["keys"]:
                    times = {"median": key["last_us"], "p25": key["last_us"], "p75": key["last_us"]}
                    yield {**key, "samples": key["calls"], "host_us": {"last": times,
                           "first": {"median": key["first_us"]}}, "errors": line["mismatches"]}
            elif "coll" in line:
                yield line

    def row(self, line):
        last = line["host_us"]["last"]
        row = {"topology": self.topology, "mode": self.mode, "run": self.number, "comm": line["comm"],
               "coll": line["coll"], "bytes": line["bytes"], "samples": line.get("part", line["samples"]),
               "median_us": last["median"], "p25_us": last["p25"], "p75_us": last["p75"],
               "first_median_us": line["host_us"]["first"]["median"],
               "slowest_median_us": line.get("slowest_us", {}).get("last", {}).get("median", ""),
               "gpu_median_us": line.get("gpu_us", {}).get("last", {}).get("median", ""),
               "errors": line.get("errors", "")}
        keys = self.keys(line["comm"], line["coll"], line["bytes"])
        if keys:
            row.update(auto_arm=self.common(keys, "auto"), chosen_arm=self.common(keys, "arm", "AUTO"),
                       state=self.common(keys, "state"), calls=keys[0].get("calls", ""),
                       spent_calls=max(k.get("spent_calls", 0) for k in keys),
                       forced=min(k.get("forced", 0) for k in keys),
                       differed=sum(k.get("differed", 0) for k in keys))
            if row["state"] != "committed":
                row["chosen_arm"] = "AUTO"
        return row

    def keys(self, comm, coll, size):
        """The ranks' records of one size, on the communicator of all ranks or on smaller ones."""
        world = max((len(self.records), *(c["ranks"] for r in self.records for c in r["comms"])), default=0) \
            if self.records else 0
        return [k for r in self.records for c in r["comms"] if (c["ranks"] == world) == (comm == "world")
                for k in c["keys"] if k["coll"] == coll and k["bytes"] == size]

    @staticmethod
    def common(keys, name, absent="?"):
        values = sorted({str(k.get(name, absent)) for k in keys})
        return values[0] if len(values) == 1 else "|".join(values)

    def disagreement(self):
        """Ranks of one communicator that say different things about an arm."""
        arms = {}
        for record in self.records:
            for comm in record["comms"]:
                for key in comm["keys"]:
                    place = (comm["id"], key["coll"], key["bytes"])
                    if key["state"] in ("committed", "kept"):
                        arms.setdefault(place, set()).add(key["arm"] if key["state"] == "committed" else "AUTO")
        return [place for place, found in arms.items() if len(found) > 1]

    def trouble(self):
        if self.rc in (124, 137) or "stalled" in self.error:
            return "hang"
        if self.rc != 0:
            return f"exit status {self.rc}"
        if any(row["errors"] not in ("", 0) for row in self.sizes):
            return "wrong results"
        if self.disagreement():
            return "records of ranks differ"
        if any(str(row.get("differed", 0)) not in ("", "0") for row in self.sizes):
            return "another arm than the chosen one ran"
        return "no result" if not self.sizes else None


def quartiles(values):
    values = sorted(values)
    if len(values) == 1:
        return values[0], values[0], values[0]
    q = statistics.quantiles(values, n=4, method="inclusive")
    return statistics.median(values), q[0], q[2]


def arms_text(rows):
    counts = {}
    for row in rows:
        arm = row.get("chosen_arm", "no record")
        if row.get("state") in ("exploring", "counted"):
            arm = f"{arm} ({row['state']})"
        counts[arm] = counts.get(arm, 0) + 1
    return ", ".join(f"{arm} {n}/{len(rows)}" for arm, n in sorted(counts.items(), key=lambda x: -x[1]))


def runs_named(raw, name):
    """The runs whose directory has such a name, in order, each with the match."""
    for path in sorted(raw.iterdir()):
        match = name.match(path.name)
        if match:
            yield match, Run(path)
