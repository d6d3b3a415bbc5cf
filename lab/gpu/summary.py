#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
"""summary.py RAW OUT - what the runs of run.sh say

RAW holds a directory a run, compare.TOPOLOGY.MODE.K or hang.TOPOLOGY.MODE.K, with the program's output (out, err), its
exit status and seconds (status), and the records of its ranks (rank.*.json). Writes OUT/results.csv, OUT/records.json
and prints tables. Exit status 1 if a run failed, hung, computed something wrong or had ranks that differ.
"""
import collections
import csv
import json
import pathlib
import re
import statistics
import sys

COLUMNS = ["topology", "mode", "run", "comm", "coll", "bytes", "samples", "median_us", "p25_us", "p75_us",
           "slowest_median_us", "gpu_median_us", "first_median_us", "errors", "auto_arm", "chosen_arm", "state",
           "forced", "differed", "spent_calls", "calls"]
LOG_LINE = re.compile(r"(\w+): (\d+) Bytes -> Algo (\w+) proto (\w+)")
LOG_CALLS = 200  # the last ones, after all exploring
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

    def logged(self):
        """Of NCCL's own log: sizes of the communicator of all ranks whose last calls took the recorded arm, and not."""
        lines = [line for p in self.path.glob("nccl.*.log") for line in
                 LOG_LINE.findall(p.read_text(errors="replace"))]
        same, other = [], []
        for row in self.sizes if all(r["comm"] == "world" for r in self.sizes) else []:
            expected = row.get("chosen_arm") if row.get("state") == "committed" else row.get("auto_arm")
            arms = [f"{a}/{p}" for coll, size, a, p in lines if coll == row["coll"] and int(size) == row["bytes"]]
            if arms and row.get("state") in ("committed", "kept"):
                right = arms[-LOG_CALLS:].count(expected) >= 0.9 * len(arms[-LOG_CALLS:])
                (same if right else other).append(f"{row['coll']} {size_text(row['bytes'])} {expected}")
        return same, other

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
        if self.logged()[1]:
            return f"NCCL's log has another arm: {', '.join(self.logged()[1])}"
        return "no result" if not self.sizes else None


def write_runs(runs, path):
    """A line for each run, communicator, collective, size and way of calling: what the tables are made from."""
    columns = ["run", "comm", "coll", "bytes", "burst", "samples", "part", "median", "p25", "p75", "min", "mean", "all_mean",
               "gpu_median", "load_gflops", "errors", "auto_arm", "chosen_arm", "state", "spent_calls"]
    with open(path, "w", newline="") as f:
        table = csv.DictWriter(f, columns, restval="", extrasaction="ignore", lineterminator="\n")
        table.writeheader()
        for run in runs:
            for line, row in zip(run.lines(), run.sizes):
                times = line["host_us"]
                table.writerow({**row, **line, **times["last"], "run": run.path.name,
                                "all_mean": times.get("all", {}).get("mean", ""),
                                "gpu_median": line.get("gpu_us", {}).get("last", {}).get("median", "")})


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


def print_comparison(runs):
    rows = [row for run in runs if run.kind == "compare" for row in run.sizes]
    places = sorted({(r["topology"], r["comm"], r["coll"], r["bytes"]) for r in rows})
    if places:
        print("Medians of the last part of each run on rank 0, over runs: median [quartiles], microseconds.")
        print(f"{'':6} {'':14} {'NCCL alone':>27} {'with the plugin':>27} {'ratio':>6}  chosen arm; events")
    slower = []
    for place in places:
        here = [r for r in rows if (r["topology"], r["comm"], r["coll"], r["bytes"]) == place]
        alone = [r for r in here if r["mode"] == "off"]
        tuned = [r for r in here if r["mode"] != "off"]
        if not alone or not tuned:
            continue
        text, medians, bounds = "", [], []
        for side in (alone, tuned):
            m, low, high = quartiles([r["median_us"] for r in side])
            medians.append(m)
            bounds.append((low, high))
            text += f" {m:9.1f} [{low:7.1f},{high:7.1f}]"
        auto = ", ".join(sorted({str(r.get("auto_arm", "?")) for r in tuned}))
        forced = [r["forced"] for r in tuned if "forced" in r]
        differed = sum(r["differed"] for r in tuned if "differed" in r)
        print(f"{place[0]:6} {place[2]:9} {size_text(place[3]):>4}{text} {medians[1] / medians[0]:6.2f}  "
              f"{arms_text(tuned)} (NCCL: {auto}); forced {min(forced, default=0)} to {max(forced, default=0)}, "
              f"differed {differed}")
        if min(len(alone), len(tuned)) > 2 and medians[1] > 1.03 * medians[0] and bounds[1][0] > bounds[0][1]:
            slower.append(f"{place[0]} {place[2]} {size_text(place[3])} {medians[1] / medians[0]:.2f}")
    for topology in sorted({p[0] for p in places}):
        # A rank that leaves one call early waits in the next: only all calls of a round together say what was gained.
        here = [run for run in runs if run.kind == "compare" and run.topology == topology and run.sizes]
        alone, tuned = ([sum(row["median_us"] for row in run.sizes) for run in here if (run.mode == "off") == off]
                        for off in (True, False))
        if alone and tuned:
            text = " ".join(f" {m:9.1f} [{low:7.1f},{high:7.1f}]" for m, low, high in map(quartiles, (alone, tuned)))
            ratio = statistics.median(tuned) / statistics.median(alone)
            print(f"{topology:6} {'all sizes':14}{text[1:]} {ratio:6.2f}")
    if places:
        print("Slower with the plugin by more than 3 %, quartiles apart: " + (", ".join(slower) or "none"))


def print_troubles(runs):
    for kind in ("compare", "hang"):
        some = [run for run in runs if run.kind == kind]
        bad = [run for run in some if run.trouble()]
        if some:
            hung = sum(run.trouble() == "hang" for run in some)
            print(f"{kind}: {len(some)} runs, {hung} hung, {len(bad) - hung} failed otherwise, "
                  f"{sum(run.seconds for run in some):.0f} s")
        for run in bad:
            last = run.error.strip().splitlines()[-3:]
            print(f"  {run.path.name}: {run.trouble()}" + "".join(f"\n    {line[:160]}" for line in last))
    for run in runs:
        if run.mode != "off" and not run.records:
            print(f"  {run.path.name}: no rank left a record")
        for why in sorted({c.get("why") for r in run.records for c in r["comms"] if c.get("why")}):
            print(f"  {run.path.name}: {why}")


def print_states(runs):
    """How the explorations of the short runs ended."""
    states = {}
    for run in runs:
        if run.kind == "hang":
            for row in run.sizes:
                states[row.get("state", "no record")] = states.get(row.get("state", "no record"), 0) + 1
    same = [text for run in runs if run.kind == "hang" for text in run.logged()[0]]
    if same:
        print(f"NCCL's own log agrees with the records of the short runs: {len(same)} sizes: "
              + ", ".join(f"{arm} {n}" for arm, n in sorted(collections.Counter(t.split()[2] for t in same).items())))
    if states:
        print("short runs, sizes by their last state: " +
              ", ".join(f"{state} {n}" for state, n in sorted(states.items())))


def runs_named(raw, name):
    """The runs whose directory has such a name, in order, each with the match."""
    for path in sorted(raw.iterdir()):
        match = name.match(path.name)
        if match:
            yield match, Run(path)


def main(raw, out):
    names = re.compile(r"(compare|hang)\.[0-9]+x[0-9]+\.[a-z]+\.[0-9]+$")
    runs = [run for _, run in runs_named(raw, names)]
    with open(out / "results.csv", "w", newline="") as f:
        table = csv.DictWriter(f, COLUMNS, restval="", lineterminator="\n")
        table.writeheader()
        for run in runs:
            table.writerows(run.sizes)
    with open(out / "records.json", "w") as f:
        for run in runs:
            for record in run.records:
                f.write(json.dumps({"run": run.path.name, "record": record}, separators=(",", ":")) + "\n")
        for path in sorted(raw.glob("report.*.json")):
            text = path.read_text().strip()
            f.write(json.dumps({"report": path.name, "text": text}, separators=(",", ":")) + "\n")
    print_comparison(runs)
    print_states(runs)
    print_troubles(runs)
    for path in sorted(raw.glob("report.*.txt")):
        print(f"\nnccl-tune report, {path.name.split('.')[1]}:\n{path.read_text().rstrip()}")
    return 1 if any(run.trouble() for run in runs) else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])))
