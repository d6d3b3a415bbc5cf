#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
"""cells_summary.py RAW OUT - NCCL's choice, the best arm and the plugin, for each collective and size
cells_summary.py --best RUN     the best arm of each, as nccl-tune-bench --plan reads it

RAW holds directories cells-CONDITION.TOPOLOGY.MODE.K, MODE being sweep (its file `best` says which arm that is), off (NCCL's
choice), best or bandit.
Writes OUT/cells.csv and RAW/cells-runs.csv and prints tables. Exit status 1 if a run failed, computed something wrong or had ranks that differ;
a cell that is slower is a result and no failure.
"""
import csv
import math
import pathlib
import re
import statistics
import sys

import summary

NAME = re.compile(r"cells-([a-z-]+)\.([0-9]+x[0-9]+)\.(off|best|bandit)\.([0-9]+)$")
COLUMNS = ["condition", "topology", "coll", "bytes", "runs", "auto_us", "auto_low_us", "auto_high_us", "auto_noise_pct",
           "bandit_us", "bandit_low_us", "bandit_high_us", "best_us", "best_low_us", "best_high_us", "best_arm",
           "auto_arm", "chosen", "states", "to_auto", "to_best", "verdict", "explore_calls", "explore_extra_ms",
           "spent_ms", "spent_calls", "saved_us_per_call", "break_even_call", "auto_gflops", "bandit_gflops",
           "best_gflops"]
LEAST = 0.01  # a difference that is spoken of
DECIDED = ("committed", "kept")


class Side:
    """One cell as one mode has it: a number for each run."""

    def __init__(self):
        self.medians, self.means, self.gflops = [], [], []
        self.rows, self.before = [], []  # of the plugin: its record; calls before the last part and their sum

    def add(self, line, row=None):
        times = line["host_us"]
        if not times["last"]["median"]:
            return  # no sample in the last part
        self.medians.append(times["last"]["median"])
        self.means.append(times["last"].get("mean", times["last"]["median"]))
        self.gflops.append(line.get("load_gflops"))
        if row is not None:
            self.rows.append(row)
            if "all" in times and "part" in line:
                calls = line["samples"] - line["part"]
                self.before.append((calls, line["samples"] * times["all"]["mean"]
                                    - line["part"] * times["last"]["mean"]))

    def load(self):
        some = [g for g in self.gflops if g is not None]
        return round(statistics.median(some)) if some else ""


class Cell:
    """Collective and size of one topology in one condition."""

    def __init__(self, condition, topology, coll, size, best_arm):
        self.place = (condition, topology, coll, size)
        self.auto, self.bandit, self.best = Side(), Side(), Side()
        self.best_arm = best_arm
        self.noise = None  # see set_noise

    def spread(self):
        """What two runs without the plugin differ by at most, as a part of their median; None: unknown."""
        times = self.auto.medians
        return (max(times) - min(times)) / statistics.median(times) if len(times) > 1 else None

    def verdict(self):
        if not self.auto.medians or not self.bandit.medians:
            return "not measured"
        ratio = statistics.median(self.bandit.medians) / statistics.median(self.auto.medians)
        if self.noise is None:
            return "one run"
        if abs(ratio - 1) <= max(self.noise, LEAST):
            return "same"
        return "faster" if ratio < 1 else "SLOWER"

    def exploring(self):
        """By the host's clock, medians over runs: calls before the last part, what they took beyond AUTO's mean, what
        a call saves afterwards (medians), and the call by which the gain has paid for all of it."""
        if not self.bandit.before or not self.auto.means:
            return {}
        auto = statistics.mean(self.auto.means)
        calls = statistics.median(c for c, _ in self.bandit.before)
        extra = statistics.median(total - c * auto for c, total in self.bandit.before)
        saved = statistics.median(self.auto.medians) - statistics.median(self.bandit.medians)
        text = ""
        if self.verdict() == "faster" and saved > 0:
            text = math.ceil(calls + max(extra, 0) / saved)
        return {"explore_calls": round(calls), "explore_extra_ms": round(extra / 1e3, 3),
                "saved_us_per_call": round(saved, 2), "break_even_call": text}

    def row(self):
        condition, topology, coll, size = self.place
        row = {"condition": condition, "topology": topology, "coll": coll, "bytes": size, "best_arm": self.best_arm,
               "runs": f"{len(self.auto.medians)}+{len(self.bandit.medians)}", "verdict": self.verdict()}
        for name, side in (("auto", self.auto), ("bandit", self.bandit), ("best", self.best)):
            if side.medians:
                middle, low, high = summary.quartiles(side.medians)
                row.update({f"{name}_us": round(middle, 2), f"{name}_low_us": round(low, 2),
                            f"{name}_high_us": round(high, 2), f"{name}_gflops": side.load()})
        if self.noise is not None:
            row["auto_noise_pct"] = round(100 * self.noise, 2)
        for name in ("auto", "best"):
            if row.get("bandit_us") and row.get(f"{name}_us"):
                row[f"to_{name}"] = round(row["bandit_us"] / row[f"{name}_us"], 4)
        records = [r for r in self.bandit.rows if "state" in r]
        if records:
            row.update(auto_arm=common(r["auto_arm"] for r in records), chosen=summary.arms_text(records),
                       states=common(r["state"] for r in records),
                       spent_calls=round(statistics.median(r["spent_calls"] for r in records)),
                       spent_ms=round(statistics.median(r["spent_ms"] for r in records), 3))
        row.update(self.exploring())
        return row


def common(values):
    return "|".join(sorted(set(map(str, values))))


def spent_ms(run, line):
    """The record of the rank that says what exploring took: on the others it may be missing or 0."""
    keys = run.keys(line["comm"], line["coll"], line["bytes"])
    return max((k.get("spent_ms", 0) for k in keys), default=0)


def set_noise(cells):
    """A few runs tell little of their noise: at least what is usual for the collectives of one size, topology and
    condition (the median of their spreads)."""
    groups = {}
    for cell in cells:
        groups.setdefault((cell.place[0], cell.place[1], cell.place[3]), []).append(cell)
    for group in groups.values():
        known = [c.spread() for c in group if c.spread() is not None]
        for cell in group:
            if cell.spread() is not None:
                cell.noise = max(cell.spread(), statistics.median(known))


def read_cells(raw):
    cells, runs, best = {}, [], {}
    for match, run in summary.runs_named(raw, NAME):
        runs.append(run)
        sweep = raw / f"cells-{match[1]}.{match[2]}.sweep.1"
        if sweep not in best:
            best[sweep] = best_arms(sweep / "best")
        for line, row in zip(run.lines(), run.sizes):
            place = (match[1], match[2], line["coll"], line["bytes"])
            cell = cells.setdefault(place, Cell(*place, best[sweep].get((line["coll"], line["bytes"]), "")))
            if match[3] == "bandit":
                row["spent_ms"] = spent_ms(run, line)
                cell.bandit.add(line, row)
            else:
                (cell.auto if match[3] == "off" else cell.best).add(line)
    return [cells[p] for p in sorted(cells)], runs


def print_table(rows):
    print("Host's time of a call on rank 0, medians of runs [quartiles], us. noise: largest less smallest run\n"
          "of AUTO, at least the median of the collectives of that size.")
    print(f"{'':4} {'':13} {'':>5} {'AUTO':>26} {'noise':>6} {'plugin':>26} {'best arm':>26} {'/AUTO':>6} {'/best':>6}  "
          "verdict; chosen (AUTO; best arm)")
    head = None
    for row in rows:
        if (row["condition"], row["topology"]) != head:
            head = (row["condition"], row["topology"])
            print(f"-- {head[0]}, {head[1]}")
        sides = ""
        for name in ("auto", "bandit", "best"):
            if f"{name}_us" in row:
                sides += f" {row[name + '_us']:9.1f} [{row[name + '_low_us']:7.1f},{row[name + '_high_us']:7.1f}]"
            else:
                sides += f"{'-':>28}"
            if name == "auto":
                noise = row.get("auto_noise_pct")
                sides += f" {noise:5.1f}%" if noise is not None else f"{'-':>7}"
        ratios = " ".join(f"{row[k]:6.3f}" if k in row else f"{'-':>6}" for k in ("to_auto", "to_best"))
        print(f"     {row['coll']:13} {summary.size_text(row['bytes']):>5}{sides} {ratios}  {row['verdict']}; "
              f"{row.get('chosen', '-')} ({row.get('auto_arm', '-')}; {row['best_arm'] or '-'})")


def print_cost(rows):
    print("\nExploring: calls and ms beyond AUTO before the compared part (host's clock), ms by the record, gain a call,\n"
          "and the call from which on the plugin has paid; GFLOP/s of the product beside, where there was one.")
    for row in rows:
        if "explore_calls" not in row:
            continue
        load = ""
        if row.get("auto_gflops") or row.get("bandit_gflops"):
            load = f"; product {row.get('auto_gflops')} AUTO, {row.get('bandit_gflops')} plugin, {row.get('best_gflops', '-')} best"
        print(f"     {row['condition']:7} {row['topology']} {row['coll']:13} {summary.size_text(row['bytes']):>5} "
              f"{row['explore_calls']:6} calls {row['explore_extra_ms']:10.2f} ms, record {row.get('spent_ms', '-')} ms, "
              f"gain {row['saved_us_per_call']:9.2f} us, pays from call {row['break_even_call'] or '-'}{load}")


def print_sum(rows, runs):
    for condition in sorted({r["condition"] for r in rows}):
        here = [r for r in rows if r["condition"] == condition]
        counts = {v: sum(r["verdict"] == v for r in here) for v in ("faster", "same", "SLOWER", "one run", "not measured")}
        text = ", ".join(f"{n} {v}" for v, n in counts.items() if n)
        ratios = [r["to_best"] for r in here if "to_best" in r]
        within = sum(r <= 1.02 for r in ratios)
        print(f"{condition}: {len(here)} cells: {text}; within 2 % of the best arm {within} of {len(ratios)}")
        undecided = [f"{r['topology']} {r['coll']} {summary.size_text(r['bytes'])}" for r in here
                     if "states" in r and not set(r["states"].split("|")) <= set(DECIDED)]
        if undecided:
            print(f"  not decided in every run: {', '.join(undecided)}")
    slower = [f"{r['condition']} {r['topology']} {r['coll']} {summary.size_text(r['bytes'])} {r['to_auto']:.3f}"
              for r in rows if r["verdict"] == "SLOWER"]
    print("Slower than AUTO beyond its noise: " + (", ".join(slower) or "none"))
    for run in runs:
        if run.trouble():
            last = run.error.strip().splitlines()[-2:]
            print(f"  {run.path.name}: {run.trouble()}" + "".join(f"\n    {line[:160]}" for line in last))
        if run.mode == "bandit" and not run.records:
            print(f"  {run.path.name}: no rank left a record")
    print(f"{len(runs)} runs, {sum(bool(run.trouble()) for run in runs)} of them failed, "
          f"{sum(run.seconds for run in runs):.0f} s")


def best_arms(path):
    """By collective and size, from a file as print_best writes it."""
    lines = path.read_text().split("\n") if path.exists() else []
    return {(coll, int(size)): arm for coll, size, arm in (line.split() for line in lines if line)}


def print_best(path):
    """The arm with the smallest median; NCCL's own choice is not among them."""
    best = {}
    for line in summary.json_lines(path / "out"):
        if line.get("comm", "world") == "world" or not line["host_us"]["all"]["median"]:
            continue
        place = (line["coll"], line["bytes"])
        if place not in best or line["host_us"]["all"]["median"] < best[place][0]:
            best[place] = (line["host_us"]["all"]["median"], line["comm"])
    for (coll, size), (_, arm) in sorted(best.items()):
        print(coll, size, arm)
    return 0


def main(raw, out):
    cells, runs = read_cells(raw)
    set_noise(cells)
    rows = [cell.row() for cell in cells]
    summary.write_runs(runs, raw / "cells-runs.csv")
    with open(out / "cells.csv", "w", newline="") as f:
        table = csv.DictWriter(f, COLUMNS, restval="", lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
    print_table(rows)
    print_cost(rows)
    print_sum(rows, runs)
    return 1 if any(run.trouble() for run in runs) else 0


if __name__ == "__main__":
    if sys.argv[1] == "--best":
        sys.exit(print_best(pathlib.Path(sys.argv[2])))
    sys.exit(main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])))
