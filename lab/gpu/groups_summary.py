#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
"""groups_summary.py RAW OUT - what the runs of groups.py say

RAW holds a directory a run, groups.TOPOLOGY.KIND.K: what it was (run.json), its exit status and seconds (status), what
its ranks found (result.RANK.json), their records (rank.*.json), NCCL's own log (nccl.PID.log) and its error output
(err). Writes OUT/groups.json and prints a summary. Exit status 1 if a run failed, hung, computed something wrong, had
ranks whose records differ, or an arm in NCCL's log that the record does not name.
"""
import collections
import json
import pathlib
import re
import sys

LOG_LINE = re.compile(r"(\w+): (\d+) Bytes -> Algo (\w+) proto (\w+)")
TAIL = 10           # the last calls of a communicator, after what was decided took effect
ERROR_BYTES = 4000  # of a failed run's error output
WORLD_BYTES = 8192  # groups.py: only the world's calls are so small
DECIDED = ("committed", "kept")
ENDS = {65: "wrong results", 75: "hang", 76: "no start", 124: "hang", 137: "hang"}


def read_json(path):
    try:
        return json.loads(path.read_text(errors="replace"))
    except (OSError, ValueError):
        return None


def expected_arm(key):
    return key.get("arm") if key["state"] == "committed" else key.get("auto")


class Run:
    def __init__(self, path):
        self.path = path
        _, self.topology, self.kind, number = path.name.split(".")
        self.number = int(number)
        status = (path / "status").read_text().split() if (path / "status").exists() else ["-1", "0"]
        self.rc, self.seconds = int(status[0]), float(status[1])
        self.about = read_json(path / "run.json") or {}
        self.dry = bool(self.about.get("simulated_nccl"))
        self.records = [r for r in map(read_json, sorted(path.glob("rank.*.json"))) if r]
        self.results = [r for r in map(read_json, sorted(path.glob("result.*.json"))) if r]
        self.error = (path / "err").read_text(errors="replace") if (path / "err").exists() else ""
        nodes, each = map(int, self.topology.split("x"))
        self.nodes, self.ranks = nodes, nodes * each
        self.wrong = self.count_wrong()
        self.log_same, self.log_other = self.compare_log()

    def count_wrong(self):
        """Wrong elements by call; the simulated NCCL counts ranks that chose differently."""
        wrong = collections.Counter()
        for result in self.results:
            wrong.update(result["wrong"])
        if self.dry:
            for line in (self.path / "out").read_text(errors="replace").splitlines():
                if line.startswith("{"):
                    wrong["mismatches"] += json.loads(line).get("mismatches", 0)
        return {name: count for name, count in wrong.items() if count}

    def role(self, comm):
        if comm["ranks"] < self.ranks:
            return "tp" if comm["nodes"] == 1 else "dp"
        # One rank a node: the data-parallel group is of all ranks too; its calls tell.
        large = any(key["bytes"] > WORLD_BYTES for key in comm["keys"])
        return "dp" if large and not self.dry else "world"

    def comms(self):
        """(role, record of one rank) in the order in which each rank made them."""
        return [(self.role(comm), comm) for record in self.records for comm in record["comms"] if comm["ranks"] > 1]

    def decisions(self):
        """How often each was said of a collective and size of a kind of group; a communicator counts once."""
        said = {}
        for role, comm in self.comms():
            for key in comm["keys"]:
                arm = expected_arm(key) if key["state"] in DECIDED else ""
                said[comm["id"], role, key["coll"], key["bytes"]] = (key["state"], key.get("auto", ""), arm)
        counts = collections.Counter((*place[1:], *what) for place, what in said.items())
        return [dict(zip(("role", "coll", "bytes", "state", "auto", "runs_on", "communicators"), (*place, count)))
                for place, count in sorted(counts.items(), key=str)]

    def communicators(self):
        seen = {(comm["id"], role, comm["state"]) for role, comm in self.comms()}
        return {role: dict(collections.Counter(state for _, r, state in seen if r == role))
                for role in ("tp", "dp", "world") if any(r == role for _, r, _ in seen)}

    def disagreements(self):
        arms = collections.defaultdict(set)
        for role, comm in self.comms():
            for key in comm["keys"]:
                if key["state"] in DECIDED:
                    arms[comm["id"], role, key["coll"], key["bytes"]].add(expected_arm(key))
        return [f"{role} {coll} {size}: {sorted(found)}" for (_, role, coll, size), found in arms.items()
                if len(found) > 1]

    def total(self, name):
        return sum(key.get(name, 0) for _, comm in self.comms() for key in comm["keys"])

    def compare_log(self):
        """NCCL's last calls of each round against the record of that round's communicator, where both say an arm.

        A process writes a line for the communicators in which it is rank 0, one a call. Which lines are of which round
        follows from how many calls the round made; a process and its record belong together by its id.
        """
        same, other = [], []
        if self.dry:
            return same, other
        for record in self.records:
            log = self.path / f"nccl.{record['pid']}.log"
            result = self.result_of(record)
            if not log.exists() or result is None:
                continue
            lines = collections.defaultdict(list)
            for coll, size, algorithm, protocol in LOG_LINE.findall(log.read_text(errors="replace")):
                lines[coll, int(size)].append(f"{algorithm}/{protocol}")
            for role, comm, calls in self.rounds_of(record, result):
                for key in comm["keys"] if comm["rank"] == 0 else []:
                    self.compare_key(role, comm, key, calls, lines, same, other)
        return same, other

    def result_of(self, record):
        ranks = {comm["rank"] for comm in record["comms"] if comm["ranks"] == self.ranks}
        return next((r for r in self.results if r["rank"] in ranks), None)

    def rounds_of(self, record, result):
        """Each communicator of a process with the calls that were made before it, and on it: {name: (from, to)}."""
        made = collections.Counter()
        at = collections.Counter()
        for comm in record["comms"]:
            role = self.role(comm)
            if comm["ranks"] < 2 or role == "world":
                continue
            if at[role] < len(result["rounds"]):
                spans = {}
                for name, count in result["rounds"][at[role]]["calls"].items():
                    if name.startswith(role + " "):
                        spans[name] = (made[name], made[name] + count)
                        made[name] += count
                yield role, comm, spans
            at[role] += 1
        total = collections.Counter()
        for one in result["rounds"]:
            total.update(one["calls"])
        for comm in record["comms"]:
            if self.role(comm) == "world":
                yield "world", comm, {name: (0, count) for name, count in total.items() if name.startswith("world ")}

    @staticmethod
    def compare_key(role, comm, key, calls, lines, same, other):
        span = calls.get(f"{role} {key['coll']} {key['bytes']}")
        if key["state"] not in DECIDED or span is None:
            return
        # What AllGather is told is a rank's share; a size has one kind of group, so the sum of both is no mistake.
        found = lines[key["coll"], key["bytes"]] or lines[key["coll"], key["bytes"] // comm["ranks"]]
        tail = found[span[0]:span[1]][-TAIL:]
        if tail:
            right = 2 * tail.count(expected_arm(key)) > len(tail)
            text = f"{role} {key['coll']} {key['bytes']} {key['state']} {expected_arm(key)}"
            (same if right else other).append(text if right else
                                              f"{text}, of {span[1] - span[0]} calls the last: {' '.join(tail)}")

    def iterations(self):
        return max((sum(one["iterations"] for one in r["rounds"]) for r in self.results), default=0)

    def trouble(self):
        ended = {r.get("ended") for r in self.results}
        if self.rc in ENDS and ENDS[self.rc] == "hang" or "stalled" in ended:
            return "hang"
        if self.wrong or "wrong" in ended:
            return "wrong results"
        if self.rc != 0:
            return ENDS.get(self.rc, f"exit status {self.rc}")
        if not self.dry and len(self.results) != self.ranks:
            return f"{len(self.results)} of {self.ranks} ranks left a result"
        if len(self.records) != self.ranks:
            return f"{len(self.records)} of {self.ranks} ranks left a record"
        if self.disagreements():
            return "records of ranks differ"
        if self.total("differed"):
            return "another arm than the chosen one ran"
        if self.log_other:
            return "NCCL's log has another arm"
        return None if any(comm["state"] == "agreed" for _, comm in self.comms()) else "no communicator was tuned"

    def summary(self):
        said = {"run": self.path.name, "kind": self.kind, "topology": self.topology,
                "policy": self.about.get("policy"), "split": self.about.get("split"),
                "exit": self.rc, "seconds": self.seconds, "trouble": self.trouble(),
                "rounds": max((len(r["rounds"]) for r in self.results), default=0), "iterations": self.iterations(),
                "wrong": self.wrong, "simulated": sum(r.get("simulated", 0) for r in self.results),
                "communicators": self.communicators(), "decided": self.decisions(),
                "forced": self.total("forced"), "differed": self.total("differed"),
                "disagreements": self.disagreements(),
                "why": sorted({comm["why"] for _, comm in self.comms() if comm.get("why")})}
        if not self.dry:
            said["log"] = {"same": len(self.log_same), "other": self.log_other}
        if said["trouble"]:
            said["ends"] = {r["rank"]: f"{r.get('ended')} {r.get('where', '')}".strip() for r in self.results}
            said["error"] = self.error[-ERROR_BYTES:]
        return said


def sums(runs):
    found = {}
    for kind in ("srun", "torchrun", "simulate"):
        some = [run for run in runs if run["kind"] == kind]
        if some:
            hung = sum(run["trouble"] == "hang" for run in some)
            wrong = sum(bool(run["wrong"]) for run in some)
            bad = sum(bool(run["trouble"]) for run in some)
            found[kind] = {"runs": len(some), "hung": hung, "wrong": wrong, "failed_otherwise": bad - hung - wrong,
                           "seconds": round(sum(run["seconds"] for run in some)),
                           "rounds": sum(run["rounds"] for run in some),
                           "iterations": sum(run["iterations"] for run in some),
                           "forced": sum(run["forced"] for run in some),
                           "simulated": sum(run["simulated"] for run in some),
                           "log_same": sum(run.get("log", {}).get("same", 0) for run in some),
                           "log_other": sum(len(run.get("log", {}).get("other", [])) for run in some)}
    return found


def log_is_mute(runs):
    """Were arms decided and none found in NCCL's log? Then its format is not the one that is read here."""
    real = [run for run in runs if not run.dry]
    decided = any(d["state"] in DECIDED for run in real for d in run.decisions())
    return decided and not any(run.log_same or run.log_other for run in real)


def print_text(runs, totals):
    for kind, t in totals.items():
        print(f"groups, {kind}: {t['runs']} runs, {t['hung']} hung, {t['wrong']} wrong, {t['failed_otherwise']} failed "
              f"otherwise; {t['rounds']} rounds, {t['iterations']} iterations, {t['forced']} forced calls, "
              f"{t['simulated']} simulated; NCCL's log agrees in {t['log_same']}, not in {t['log_other']}")
    for role in ("tp", "dp", "world"):
        states, comms = collections.Counter(), collections.Counter()
        for run in runs:
            comms.update(run["communicators"].get(role, {}))
            for d in run["decided"]:
                if d["role"] == role:
                    states[d["state"]] += d["communicators"]
        if comms:
            print(f"  {role}: communicators " + ", ".join(f"{s} {n}" for s, n in sorted(comms.items())) +
                  "; sizes " + (", ".join(f"{s} {n}" for s, n in sorted(states.items())) or "none"))
    arms = collections.Counter()
    for run in runs:
        for d in run["decided"]:
            if d["state"] == "committed":
                arms[f"{run['topology']} {d['role']} {d['coll']} {d['bytes']} {d['auto']} -> {d['runs_on']}"] += \
                    d["communicators"]
    for text, count in sorted(arms.items()):
        print(f"  committed: {text}: {count}")
    for why, count in collections.Counter(why for run in runs for why in run["why"]).most_common(10):
        print(f"  {count} runs: {why}")
    for run in runs:
        if run["trouble"]:
            print(f"  {run['run']}: {run['trouble']}; {run.get('ends', '')}")
            for line in run.get("log", {}).get("other", []) + run["error"].strip().splitlines()[-4:]:
                print(f"    {line[:160]}")


def main(raw, out):
    name = re.compile(r"groups\.[0-9]+x[0-9]+\.[a-z]+\.[0-9]+$")
    runs = sorted((Run(p) for p in raw.iterdir() if name.match(p.name)), key=lambda run: run.number)
    said = [run.summary() for run in runs]
    totals = sums(said)
    text = json.dumps({"sums": totals, "runs": said}, indent=None, separators=(",", ":"))
    (out / "groups.json").write_text(text.replace(',{"run":', ',\n{"run":') + "\n")
    print_text(said, totals)
    mute = log_is_mute(runs)
    if mute:
        print("  NCCL's log has no line of a decided size: nothing was compared")
    return 1 if not said or mute or any(run["trouble"] for run in said) else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])))
