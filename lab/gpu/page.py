#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
"""page.py RESULTS PAGE - docs/results.md and its plots from the measured figures of docs/results

RESULTS holds page.in.md and a directory for each measurement. A line "@NAME ARGUMENT..." of page.in.md becomes the table or
plot of that name; all else stays as it is. Writes PAGE and RESULTS/plots/*.svg.
"""
import collections
import csv
import pathlib
import re
import statistics
import sys

import plot
import summary

BASELINE = "NCCL's choice"
SHORT = {"RING": "Ring", "TREE": "Tree", "SIMPLE": "Simple"}
CONDITIONS = {"alone": "alone", "load": "during a product", "shaped": "10 Gbit/s", "shaped-load": "10 Gbit/s, during a product"}
WAYS = {"off": "no plugin", "bandit": "bandit", "paper": "paper-online", "auto": "launch=auto", "policy": "policy",
        "earlier": "the earlier job"}
SEEN = 0.02  # differences that are spoken of
TRACES = {"h200-1x8-seq.csv": "alone", "h200-2x4-seq.csv": "alone", "h200-2x4-ovl.csv": "load", "h200-2x4-10gbit.csv": "shaped"}
TRACE_WARM_UP = 5  # samples


def rows_of(path):
    with open(path, newline="") as f:
        return list(csv.DictReader(f))


def arm_text(arm):
    return "/".join(SHORT.get(word, word) for word in arm.split("/"))


def us(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def table(head, rows):
    lines = ["| " + " | ".join(map(str, row)) + " |" for row in (head, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(head), *lines[1:]])


def median_span(values, form="{:.2f}"):
    if not values:
        return "-"
    text = form.format(statistics.median(values))
    return text if len(values) == 1 else f"{text} ({form.format(min(values))} to {form.format(max(values))})"


class Page:
    def __init__(self, results):
        self.results, self.plots = results, {}

    def csv(self, name):
        return rows_of(self.results / name)

    def plot(self, name, panels, upward):
        self.plots[f"{name}.svg"] = plot.draw(panels, upward)
        return f"![{upward}](results/plots/{name}.svg)"

    # ---- every arm and NCCL's choice

    def arms(self, name):
        """Times by (condition, topology), size and arm."""
        found = collections.defaultdict(lambda: collections.defaultdict(dict))
        if name == "traces":
            return self.traces(found)
        for row in self.csv(f"{name}/arms.csv"):
            found[row["condition"], row["topology"]][int(row["bytes"])][row["arm"]] = row
        return found

    def traces(self, found):
        """The samples that the replays use, of every arm in a process of its own."""
        for name, condition in TRACES.items():
            for line in (self.results.parent.parent / "tests" / "traces" / name).read_text().splitlines():
                if line.startswith("#"):
                    continue
                _, topology, _, algorithm, protocol, size, *samples = line.split(",")
                if protocol == "LL128" and not topology.startswith("1x"):
                    continue  # forced there, and no choice that a tuner has
                middle, low, high = summary.quartiles([float(x) for x in samples[TRACE_WARM_UP:]])
                arm = "AUTO" if algorithm == "AUTO" else f"{algorithm.upper()}/{protocol.upper()}"
                found[condition, topology][int(size)][arm] = {"us": middle, "p25_us": low, "p75_us": high}
        return found

    @staticmethod
    def best(arms):
        """(arm, its time, that of NCCL's choice over it less 1, whether their quartiles are apart); NCCL's choice is an arm, too."""
        arm = min(arms, key=lambda a: float(arms[a]["us"]))
        auto = arms["AUTO"]
        apart = float(arms[arm]["p75_us"]) < float(auto["p25_us"]) and float(auto["us"]) > (1 + SEEN) * float(arms[arm]["us"])
        return arm, float(arms[arm]["us"]), float(auto["us"]) / float(arms[arm]["us"]) - 1, apart

    def make_arms(self, name, topology, conditions):
        """By size, NCCL's choice and the best arm in each condition, and whether the best arm depends on it."""
        found, head, rows, flips = self.arms(name), ["size"], [], 0
        conditions = [c for c in conditions.split(",") if (c, topology) in found]
        for condition in conditions:
            head += [f"{CONDITIONS[condition]}: NCCL's choice, us", "best arm"]
        for size in sorted({size for c in conditions for size in found[c, topology]}):
            row, names = [summary.size_text(size)], []
            for condition in conditions:
                arms = found[condition, topology].get(size, {})
                if "AUTO" not in arms:
                    row += ["-"] * 2
                    continue
                arm, time, gap, apart = self.best(arms)
                names.append(arm if apart else "AUTO")
                gap = f"{100 * gap:.0f} %"
                row += [us(float(arms["AUTO"]["us"])), BASELINE if arm == "AUTO" else
                        f"{arm_text(arm)} {us(time)}, " + (f"**{gap}**" if apart else gap)]
            flips += len(set(names)) > 1
            rows.append(row + (["yes" if len(set(names)) > 1 else ""] if len(conditions) > 1 else []))
        if len(conditions) > 1:
            head.append("differs")
        return table(head, rows) + (f"\n\nAt {flips} of {len(rows)} sizes the best arm depends on the condition." if len(conditions) > 1 else "")

    def make_arms_plot(self, name, file):
        found = self.arms(name)
        panels = []
        for topology in dict.fromkeys(t for _, t in found):
            series, hollow = {}, set()
            for condition, name in CONDITIONS.items():
                for size, arms in sorted(found.get((condition, topology), {}).items()):
                    if "AUTO" in arms:
                        _, _, gap, apart = self.best(arms)
                        series.setdefault(name, []).append((summary.size_text(size), 1 + gap))
                        if not apart:
                            hollow.add((name, summary.size_text(size)))
            places = [summary.size_text(size) for size in sorted({s for c in CONDITIONS for s in found.get((c, topology), {})})]
            panels.append(plot.Panel(topology, places, series, hollow))
        return self.plot(file, panels, "AllReduce: time of NCCL's choice over the best arm's; hollow: within the noise")

    # ---- NCCL's choice against two rules

    def rules(self, name):
        found = collections.defaultdict(lambda: collections.defaultdict(list))
        for row in self.csv(f"{name}/rules.csv"):
            found[row["condition"], row["topology"], int(row["bytes"])][row["way"]].append(row)
        return found

    @staticmethod
    def ratios(ways, way, column="us"):
        """A repetition's time over that of its run without the plugin."""
        off = {row["number"]: float(row[column]) for row in ways["off"]}
        return [float(row[column]) / off[row["number"]] for row in ways[way] if row["number"] in off]

    @staticmethod
    def exploring(ways, way):
        """(ms beyond NCCL's choice until the last part, us saved by a call after it)"""
        auto_mean = statistics.mean(float(row["mean_us"]) for row in ways["off"])
        extra = []
        for row in ways[way]:
            calls = int(row["samples"]) - int(row["part"])
            extra.append(int(row["samples"]) * float(row["all_mean_us"]) - int(row["part"]) * float(row["mean_us"]) - calls * auto_mean)
        saved = statistics.median(float(r["us"]) for r in ways["off"]) - statistics.median(float(r["us"]) for r in ways[way])
        return statistics.median(extra) / 1e3, saved

    @staticmethod
    def spread(rows):
        """The quartiles' distance, in percent of the median."""
        return statistics.median(100 * (float(r["p75_us"]) - float(r["p25_us"])) / float(r["us"]) for r in rows)

    def make_rules(self, name, condition, topology):
        rows = []
        for (c, t, size), ways in sorted(self.rules(name).items()):
            if (c, t) != (condition, topology) or not ways["off"]:
                continue
            for way in ("off", "bandit", "paper"):
                some = ways[way]
                if not some:
                    continue
                row = [summary.size_text(size) if way == "off" else "", WAYS[way], us(statistics.median(float(r["us"]) for r in some)),
                       f"{self.spread(some):.0f} %"]
                if way != "off":
                    extra, saved = self.exploring(ways, way)
                    ratios = self.ratios(ways, way)
                    gained = saved > 0 and statistics.median(ratios) < 1 - SEEN and any(r["chosen_arm"] != "AUTO" for r in some)
                    pays = "at once" if extra <= 0 else f"{1e3 * extra / saved:,.0f}"
                    row += [median_span(ratios), summary.arms_text(some).replace("AUTO", BASELINE), statistics.median_low(int(r["spent_calls"] or 0) for r in some),
                            f"{extra:,.0f}", pays if gained else "-"]
                else:
                    row += ["", f"{BASELINE}: {summary.Run.common(ways['bandit'], 'auto_arm', '')}" if ways["bandit"] else "", "", "", ""]
                rows.append(row)
        return table(["size", "", "us", "spread", "time over NCCL's", "arm in force", "calls explored", "extra ms", "pays after calls"], rows)

    def make_rules_plot(self, name, file):
        found, panels = self.rules(name), []
        for condition, topology in dict.fromkeys((c, t) for c, t, _ in found):
            sizes = sorted(s for c, t, s in found if (c, t) == (condition, topology))
            series = {}
            for way in ("bandit", "paper"):
                points = []
                for size in sizes:
                    ratios = self.ratios(found[condition, topology, size], way)
                    if ratios:
                        points.append((summary.size_text(size), statistics.median(ratios), min(ratios), max(ratios)))
                if points:
                    series[WAYS[way]] = points
            panels.append(plot.Panel(f"{topology}, {CONDITIONS[condition]}", [summary.size_text(s) for s in sizes], series))
        return self.plot(file, panels, "AllReduce: time over that of NCCL's choice, median, least and most of the repetitions")

    # ---- PyTorch

    def make_train(self, name, network):
        rows = [r for r in self.csv(f"{name}/train.csv") if r["condition"] == network]
        out = []
        for program in dict.fromkeys(r["program"] for r in rows):
            ways = collections.defaultdict(list)
            for row in rows:
                if row["program"] == program:
                    ways[row["way"] + (f" {row['profile']}" if row["way"] == "earlier" else "")].append(row)
            for way in sorted(ways, key=lambda way: list(WAYS).index(way.split()[0])):
                some = ways[way]
                faster = [1 / r for r in self.ratios(ways, way, "ms")] if way.split()[0] not in ("off", "earlier") else []
                out.append([program if way == "off" else "", WAYS[way.split()[0]], len(some), median_span([float(r["ms"]) for r in some], "{:.1f}"),
                            median_span(faster) if faster else "", f"{statistics.median(float(r['first_ms']) for r in some):.1f}",
                            ", ".join(sorted({r["profile"] for r in some})) or "-", max((r["loss_apart"] for r in some), key=float)])
        return table(["program", "", "runs", "step, ms", "times as fast", "first quarter, ms", "launch profile", "losses apart"], out)

    # ---- what was run

    def make_versions(self, *names):
        rows = []
        for name in names:
            text = (self.results / name / "versions.txt").read_text()
            said = {k: re.findall(rf"^{k}: (.*)$", text, re.M) for k in ("date", "gpu", "slurm", "kernel", "cpus")}
            gpu = said["gpu"][0].split(", ") if said["gpu"] else ["", "-", "-"]
            runs = self.results / name / "runs.csv"
            nccl = sorted({r["nccl"] for r in rows_of(runs)} - {""}) if runs.exists() else ["2.28.9"]
            rows.append([f"[{name}](results/{name})", said["date"][0][:10], f"{len(said['gpu'])} x {gpu[1]}", gpu[2], ", ".join(nccl),
                         said["slurm"][0].split()[-1], said["cpus"][0] if said["cpus"] else "-"])
        return table(["", "date", "GPUs", "driver", "NCCL", "Slurm", "processors"], rows)

    def expand(self, text):
        out = []
        for line in text.splitlines():
            name, *arguments = line[1:].split() if line.startswith("@") else [""]
            out.append(getattr(self, f"make_{name}")(*arguments) if name else line)
        return "\n".join(out) + "\n"


def main(results, page):
    made = Page(results)
    page.write_text(made.expand((results / "page.in.md").read_text()))
    (results / "plots").mkdir(exist_ok=True)
    for name, text in made.plots.items():
        (results / "plots" / name).write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])))
