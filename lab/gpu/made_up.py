#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
"""made_up.py - the summaries of the GPU tests on made-up runs, of which it is known what they must say"""
import contextlib
import csv
import io
import json
import pathlib
import tempfile
import unittest

import auto_summary
import carry_summary
import cells_summary
import correct_summary
import launch_summary
import page
import steady_summary
import tables_summary


def times(last, every=None, samples=200, part=50):
    """host_us of a line: `last` in the compared part, `every` is the mean of all samples."""
    return {"samples": samples, "part": part,
            "host_us": {"all": {"median": last, "p25": last, "p75": last, "mean": every or last},
                        "first": {"median": last}, "last": {"median": last, "p25": last, "p75": last, "mean": last}}}


def line(size, last, comm="world", coll="AllReduce", every=None, **more):
    return {"comm": comm, "ranks": 4, "coll": coll, "bytes": size, "burst": 1, "checks": 2, "errors": 0,
            **times(last, every), **more}


def key(size, state, arm="TREE/SIMPLE", **more):
    return {"coll": "AllReduce", "bytes": size, "state": state, "auto": "RING/LL", "arm": arm, "calls": 200,
            "spent_calls": 40, "spent_ms": 1.5, "forced": 30, "differed": 0, **more}


class MadeUp(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.raw = pathlib.Path(place.name) / "raw"
        self.raw.mkdir()
        self.out = self.raw.parent

    def run_of(self, name, lines, keys=(), status="0 9.5", error="", **record):
        path = self.raw / name
        path.mkdir()
        path.joinpath("out").write_text("".join(json.dumps(x) + "\n" for x in [{"run": "1.0", "rounds": 200}, *lines]))
        path.joinpath("err").write_text(error)
        path.joinpath("status").write_text(status)
        if keys:
            comm = {"id": "1", "rank": 0, "ranks": 4, "nodes": 2, "state": "agreed", "why": "", "keys": list(keys)}
            path.joinpath("rank.0.1.json").write_text(json.dumps({"v": 1, "comms": [comm], **record}))

    def summed(self, module, *places):
        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            rc = module.main(*places)
        return rc, text.getvalue()

    def rows(self, name):
        with open(self.out / name, newline="") as f:
            return list(csv.DictReader(f))


class Carry(MadeUp):
    """Two arms of 30 and 40 us; a call after the other arm's takes 0 and 10 us longer."""

    def carry(self, way, arms, checks=True):
        self.run_of(f"carry.1x2.{way}.1", [])
        rounds, made, us, last = len(arms), ["RING/SIMPLE"] * carry_summary.WARM_UP, [], None
        for at, arm in enumerate(arms):
            made.append(arm)
            us.append({"TREE/LL": 30, "RING/SIMPLE": 40}[arm] + (10 if arm == "RING/SIMPLE" and last == "TREE/LL" else 0))
            last = arm
            if checks and (at + 1) % carry_summary.CHECK_EVERY == 0:
                made.append(arm)
        path = self.raw / f"carry.1x2.{way}.1"
        path.joinpath("arms").write_text("".join(f"AllReduce 65536 {arm}\n" for arm in made))
        path.joinpath("samples.csv").write_text("round,comm,coll,bytes,rank,host_us,gpu_us\n" + "".join(
            f"{at},world,AllReduce,65536,{rank},{us[at] - 5 * rank},0\n" for at in range(rounds) for rank in (0, 1)))

    def test_first_calls(self):
        self.carry("RING-SIMPLE", ["RING/SIMPLE"] * 1000)
        self.carry("TREE-LL", ["TREE/LL"] * 1000)
        self.carry("turns4", (["TREE/LL"] * 4 + ["RING/SIMPLE"] * 4) * 150)
        self.carry("turns1", ["TREE/LL", "RING/SIMPLE"] * 600)
        rc, text = self.summed(carry_summary, self.raw, self.out)
        self.assertEqual(rc, 0)
        self.assertRegex(text, r"RING/SIMPLE +40\.0 +50\.0 +- +- +50\.0 +40\.0 +40\.0")
        self.assertRegex(text, r"TREE/LL +30\.0 +30\.0 +- +- +30\.0 +30\.0 +30\.0")
        self.assertRegex(text, r"turns1 +25\.0 +25\.0 +1 pairs")  # 50/30 for 40/30
        self.assertRegex(text, r"turns4, first dropped +0\.0 +0\.0 +1 pairs")
        steady = next(row for row in self.rows("carry.csv") if row["way"] == "RING-SIMPLE")
        self.assertEqual((steady["arm"], steady["us"], steady["calls"]), ("RING/SIMPLE", "40.0", "700"))

    def test_calls_that_do_not_fit_are_told(self):
        self.carry("turns1", ["TREE/LL", "RING/SIMPLE"] * 600, checks=False)
        self.assertIn("1204 calls of 65536 bytes do not fit 1200 rounds", self.summed(carry_summary, self.raw, self.out)[1])


class Cells(MadeUp):
    def cells(self, bandit, auto=(100, 101, 99), state="committed", **more):
        self.run_of("cells-alone.2x2.sweep.1", [])
        self.raw.joinpath("cells-alone.2x2.sweep.1", "best").write_text("AllReduce 65536 TREE/SIMPLE\n")
        for k, (a, b) in enumerate(zip(auto, bandit), 1):
            self.run_of(f"cells-alone.2x2.off.{k}", [line(65536, a)])
            self.run_of(f"cells-alone.2x2.best.{k}", [line(65536, 60)])
            self.run_of(f"cells-alone.2x2.bandit.{k}", [line(65536, b, **more)], [key(65536, state)])
        return self.summed(cells_summary, self.raw, self.out)

    def test_a_faster_cell(self):
        rc, text = self.cells((61, 60, 62), every=90, load_gflops=30000)
        row = self.rows("cells.csv")[0]
        self.assertEqual(rc, 0)
        self.assertEqual((row["verdict"], row["best_arm"], row["runs"]), ("faster", "TREE/SIMPLE", "3+3"))
        self.assertEqual((row["auto_us"], row["bandit_us"], row["best_us"]), ("100", "61", "60"))
        self.assertEqual((row["to_auto"], row["to_best"], row["spent_ms"]), ("0.61", "1.0167", "1.5"))
        self.assertEqual(row["bandit_gflops"], "30000")
        # 200 calls of 90 us, 50 of them of 61: 14,950 us for 150 calls, 50 us less than AUTO's 15,000.
        self.assertEqual((row["explore_calls"], row["explore_extra_ms"]), ("150", "-0.05"))
        self.assertEqual(row["break_even_call"], "150")
        self.assertIn("Slower than AUTO beyond its noise: none", text)

    def test_exploring_that_costs(self):
        self.cells((60, 60, 60), every=150)
        row = self.rows("cells.csv")[0]
        # 27,000 us for 150 calls, 12,000 beyond AUTO; 40 us saved a call: 300 more calls.
        self.assertEqual((row["explore_extra_ms"], row["break_even_call"]), ("12.0", "450"))

    def test_within_the_noise_and_beyond(self):
        self.cells((101.5, 101, 102), state="kept")
        self.assertEqual(self.rows("cells.csv")[0]["verdict"], "same")

    def test_a_slower_cell_is_said_and_no_failure(self):
        rc, text = self.cells((110, 111, 109))
        self.assertEqual((rc, self.rows("cells.csv")[0]["verdict"]), (0, "SLOWER"))
        self.assertIn("noise: alone 2x2 AllReduce 64K 1.100", text)

    def test_noise_is_that_of_the_size(self):
        for k, (a, g) in enumerate(((100, 90), (100, 110), (100, 100)), 1):
            self.run_of(f"cells-alone.2x2.off.{k}", [line(65536, a), line(65536, g, coll="AllGather")])
            self.run_of(f"cells-alone.2x2.bandit.{k}", [line(65536, 105), line(65536, 100, coll="AllGather")])
        self.summed(cells_summary, self.raw, self.out)
        self.assertEqual([(r["coll"], r["auto_noise_pct"], r["verdict"]) for r in self.rows("cells.csv")],
                         [("AllGather", "20.0", "same"), ("AllReduce", "10.0", "same")])

    def test_undecided_and_failed(self):
        self.run_of("cells-shaped.4x1.off.1", [line(65536, 100)])
        self.run_of("cells-shaped.4x1.bandit.1", [line(65536, 100)], [key(65536, "exploring")], status="124 90")
        rc, text = self.summed(cells_summary, self.raw, self.out)
        self.assertEqual((rc, self.rows("cells.csv")[0]["verdict"]), (1, "one run"))
        self.assertIn("not decided in every run: 4x1 AllReduce 64K", text)
        self.assertIn("cells-shaped.4x1.bandit.1: hang", text)

    def test_wrong_results_fail(self):
        self.run_of("cells-alone.2x2.off.1", [line(65536, 100, errors=3)])
        self.assertEqual(self.summed(cells_summary, self.raw, self.out)[0], 1)

    def test_the_best_arm(self):
        self.run_of("cells-alone.2x2.sweep.1", [line(65536, 1), line(65536, 90, "RING/LL"), line(65536, 80, "TREE/LL"),
                                                line(1 << 20, 300, "RING/LL")])
        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            cells_summary.print_best(self.raw / "cells-alone.2x2.sweep.1")
        self.assertEqual(text.getvalue(), "AllReduce 65536 TREE/LL\nAllReduce 1048576 RING/LL\n")


class Steady(MadeUp):
    def test_verdicts(self):
        for ratio, low, high, said in ((1, 0.9995, 1.0005, "within 0.1 %"), (1.002, 1.0, 1.004, "within 0.5 %"),
                                       (1.01, 1.006, 1.02, "over 0.5 %"), (1.0, 0.98, 1.02, "not resolved"),
                                       (1.004, 1.002, 1.006, "over 0.1 %")):
            self.assertEqual(steady_summary.verdict(ratio, low, high), said)

    def test_the_interval_holds_the_truth(self):
        low, high = steady_summary.interval([101, 102, 103, 102, 102], [100, 101, 99, 100, 100])
        self.assertTrue(1.0 <= low <= 1.02 <= high <= 1.04, (low, high))

    def test_a_table(self):
        for k in range(1, 6):
            self.run_of(f"steady.1x4.off.{k}", [line(1024, 20 + k / 100), line(1024, 8, burst=50)])
            self.run_of(f"steady.1x4.again.{k}", [line(1024, 20 + k / 100), line(1024, 8, burst=50)])
            self.run_of(f"steady.1x4.observe.{k}", [line(1024, 20 + k / 100), line(1024, 8, burst=50)],
                        [key(1024, "observed")])
            self.run_of(f"steady.1x4.bandit.{k}", [line(1024, 21 + k / 100), line(1024, 8, burst=50)],
                        [key(1024, "exploring")])
        rc, text = self.summed(steady_summary, self.raw, self.out)
        rows = {(r["calls"], r["mode"]): r for r in self.rows("steady.csv")}
        self.assertEqual((rc, len(rows)), (0, 6))
        self.assertEqual(rows["one by one", "again"]["ratio"], "1.0")
        self.assertEqual(rows["burst", "observe"]["verdict"], "within 0.1 %")
        self.assertEqual(rows["one by one", "bandit"]["verdict"], "over 0.5 %")
        self.assertIn("over 0.5 % (exploring)", text)
        self.assertIn("bandit: median of 2 ratios 1.0250; over 0.5 % beyond doubt: 1x4 1K one by one", text)


class Correct(MadeUp):
    def test_lines(self):
        self.run_of("correct-abort.2x2.bandit.1", [line(65536, 100)], [key(65536, "exploring")])
        self.run_of("correct-graph-late.1x4.bandit.1", [line(65536, 100, errors=1)], [key(65536, "kept")])
        self.run_of("correct-split.1x4.bandit.1", [], status="1 20", error="rank 1: stalled in round 7\n")
        rc, text = self.summed(correct_summary, self.raw)
        self.assertEqual(rc, 1)
        self.assertRegex(text, r"abort +2x2 +right .* 200 rounds, .* 2 checks, 30 forced; .*1 agreed; keys 1 exploring")
        self.assertRegex(text, r"graph-late +1x4 +wrong results")
        self.assertIn("3 runs, 1 hung, 1 failed otherwise", text)


class Auto(MadeUp):
    def step(self, way, number, ms, network="loopback", program="ddp", losses=(9.5, 9.4, 9.3), profile="sockets-wide", **more):
        name = f"auto-{network}-{program}.2x1.{way}.{number}"
        self.run_of(name, [], () if way == "off" else [key(65536, "kept")], launch=profile, **more)
        said = {"program": program, "ranks": 2, "step_ms": [9 * ms] * 20 + [ms] * 20, "losses": list(losses)}
        self.raw.joinpath(name, "out").write_text(json.dumps(said) + "\n")

    def summed_up(self):
        rc, text = self.summed(auto_summary, self.raw, self.out)
        return rc, text, {(row["network"], row["way"], row["number"]): row for row in self.rows("auto.csv")}

    CALIBRATES = ("srun: nccl-tune: no measurements of these nodes: calibrating launch profiles for at most 30 s before the step\n"
                  "Calibration in job 7: 2 x 1, sockets, NCCL 2.28.9; 12 steps in 28 s; no job's calls are known\n"
                  "srun: nccl-tune: launch profile sockets-wide (calibrated 2026-11-23 on 2 x 1: all sizes alike 2.10 x)\n")

    def test_the_last_half_of_steps_side_by_side(self):
        for number, ms in ((1, 100), (2, 110), (3, 90)):
            self.step("off", number, ms)
            self.step("auto", number, ms / 4, error=self.CALIBRATES)
        job = self.raw / "auto-loopback-job.2x1.job.1" / "memory"
        job.mkdir(parents=True)
        job.joinpath("a.jsonl").write_text(json.dumps({"origin": "calibrate", "nccl": 22809, "library": "/v/libnccl.so.2"}) + "\n")
        rc, text, rows = self.summed_up()
        self.assertEqual(rc, 0)
        self.assertIn("off    100.00   110.00    90.00   spread 20.0 %", text)
        self.assertIn("ratio 4.000 [4.000, 4.000]  2 x in each\n  profiles: sockets-wide x 3", text)
        self.assertIn("calibrations, loopback: 28 s [28, 28], 3 jobs; won back after 37 s of ddp\n", text)
        self.assertIn("calibrated: NCCL from /v/libnccl.so.2 (22809), 1 entries\n", text)
        self.assertIn("auto-loopback-ddp.2x1.auto.1: sockets-wide (calibrated 2026-11-23", text)
        row = rows["loopback", "auto", "1"]
        self.assertEqual((row["ms"], row["profile"], row["calibration_s"], row["nccl"]), ("25.0", "sockets-wide", "28", "2.28.9"))

    def test_slower_is_beyond_three_percent_and_the_spread(self):
        for network, ms in (("shaped", 104), ("loopback", 60)):
            for number in (1, 2):
                self.step("off", number, 100 + number, network)
                self.step("auto", number, ms + number, network, profile="default")
        rc, text, _ = self.summed_up()
        self.assertEqual(rc, 0)
        self.assertIn("not slower\n", text)
        self.assertIn("NOT 2 x in each\n", text)
        self.step("off", 3, 101.5, "shaped")
        self.step("auto", 3, 109, "shaped", profile="default")
        self.step("off", 4, 101.5, "shaped")
        self.step("auto", 4, 109, "shaped", profile="default")
        self.assertIn("SLOWER\n", self.summed_up()[1])

    def test_runs_that_fail(self):
        self.step("off", 1, 100)
        self.step("auto", 1, 50, losses=(9.5, 9.4, 9.301))
        self.assertIn("DIFFERENT", self.summed_up()[1])
        self.step("auto", 2, 50, status="124 160", error="srun: time\n")
        rc, text, _ = self.summed_up()
        self.assertEqual(rc, 1)
        self.assertIn("  auto-loopback-ddp.2x1.auto.2: hang\n    srun: time\n3 runs, 1 of them failed", text)


class Launch(MadeUp):
    def bench(self, way, times, network="loopback", size=65536, **more):
        for k, us in enumerate(times, 1):
            self.run_of(f"launch-{network}-bench.2x1.{way}.{k}", [line(size, us / 2, slowest_us={"last": {"median": us}})],
                        () if way.endswith("off") else [key(size, "committed")], **more)

    def train(self, way, number, ms, losses, program="ddp", ranks=2, **more):
        name = f"launch-loopback-ddp+fsdp+tp.2x1.{way}.{number}"
        self.run_of(name, [], () if way.endswith("off") else [key(65536, "kept")], **more)
        said = {"program": program, "ranks": ranks, "step_ms": [9 * ms] * 30 + [ms] * 10, "last_quarter_ms": ms, "losses": losses}
        self.raw.joinpath(name, "out").write_text(json.dumps(said) + "\n")

    def found(self):
        return {(r["network"], r["program"], r["way"]): r for r in self.rows("launch.csv")}

    def test_ratios_are_of_runs_side_by_side(self):
        self.bench("off", (200, 400, 300))
        self.bench("wide-bandit", (100, 200, 150))
        self.bench("wide-off", (300, 600, 450))
        rc, text = self.summed(launch_summary, self.raw, self.out)
        rows = self.found()
        row = rows["loopback", "bench", "wide-bandit"]
        self.assertEqual((rc, row["ratio"], row["ratio_least"], row["ratio_most"]), (0, "2.0", "2.0", "2.0"))
        # The default's own runs differ by two thirds: no more is known than that.
        self.assertEqual((row["verdict"], row["noise_pct"], row["us"]), ("faster", "66.7", "150"))
        self.assertEqual(rows["loopback", "bench", "wide-off"]["verdict"], "same")
        self.assertIn("wide-bandit: 1 of 1 cells as fast as wanted\n", text)
        with open(self.raw / "launch-runs.csv", newline="") as f:
            self.assertEqual(len(list(csv.DictReader(f))), 9)

    def test_slower_on_a_shaped_link(self):
        for network, times in (("loopback", (100, 99, 101)), ("shaped", (220, 221, 219))):
            self.bench("off", (200, 201, 199), network)
            self.bench("wide-bandit", times, network)
            self.bench("bandit", (199, 200, 201), network)
        rc, text = self.summed(launch_summary, self.raw, self.out)
        rows = self.found()
        self.assertEqual((rows["shaped", "bench", "wide-bandit"]["verdict"], rows["shaped", "bench", "bandit"]["verdict"]),
                         ("SLOWER", "same"))
        self.assertIn("wide-bandit: 1 of 2 cells as fast as wanted; not shaped 2x1 64K 0.91", text)
        self.assertEqual(rc, 0)

    def mesh(self, way, ms, comms=()):
        name = f"launch-loopback-mesh.4x2.{way}.1"
        self.run_of(name, [])
        said = {"program": "mesh", "ranks": 8, "step_ms": ms, "last_quarter_ms": ms[-1], "losses": [2.0, 1.0]}
        self.raw.joinpath(name, "out").write_text(json.dumps(said) + "\n")
        for i, (ranks, nodes, decided) in enumerate(comms):
            one = {**key(4096, "committed" if decided else "open", calls=400), "decided": decided}
            comm = {"id": str(i), "rank": 0, "ranks": ranks, "nodes": nodes, "state": "agreed", "why": "", "keys": [one]}
            self.raw.joinpath(name, f"rank.{i}.1.json").write_text(json.dumps({"v": 1, "comms": [comm]}))

    def test_groups_beside_each_other(self):
        self.mesh("off", [50] * 40)
        self.mesh("bandit", [60] * 20 + [40] * 20, [(8, 4, 0), (4, 4, 200), (4, 4, 200), (2, 1, 90)])
        text = self.summed(launch_summary, self.raw, self.out)[1]
        self.assertIn("dp AllReduce 4K, 2 groups: decided at call 200 200 of 400", text)
        self.assertIn("tp AllReduce 4K, 1 groups: decided at call 90 of 400", text)
        self.assertIn("world AllReduce 4K, 1 groups: not decided of 400", text)
        self.assertIn("last decision in step 20 of 40, after 1.2 s; ms a step: before 60.0, after 40.0, "
                      "without the plugin 50.0", text)

    def test_training_and_its_losses(self):
        for k in (1, 2):
            self.train("off", k, 100 + k, [9.5, 9.4, 9.3])
            self.train("wide-bandit", k, 34, [9.5, 9.4, 9.3, 9.2])
        rc, text = self.summed(launch_summary, self.raw, self.out)
        row = self.found()["loopback", "ddp", "wide-bandit"]
        self.assertEqual((rc, row["ratio"], row["us"]), (0, "2.985", "34000.0"))
        self.assertIn("losses of ddp 2x1: 4 runs, 3 steps, from 9.5 to 9.3, largest difference 0.0e+00", text)
        self.train("bandit", 1, 100, [9.5, 9.4, 9.30001])
        rc, text = self.summed(launch_summary, self.raw, self.out)
        self.assertEqual(rc, 1)
        self.assertIn("DIFFERENT", text)

    def test_losses_that_do_not_fall_are_no_training(self):
        self.train("off", 1, 100, [9.5, 9.5, 9.5])
        self.assertEqual(self.summed(launch_summary, self.raw, self.out)[0], 1)

    def test_failures(self):
        self.bench("off", (100,), status="124 60")
        self.train("off", 1, 100, [9, 8], status="75 60")
        rc, text = self.summed(launch_summary, self.raw, self.out)
        self.assertEqual(rc, 1)
        self.assertIn("launch-loopback-bench.2x1.off.1: hang", text)
        self.assertIn("launch-loopback-ddp+fsdp+tp.2x1.off.1: hang", text)
        self.assertIn("2 runs, 2 of them failed", text)


class Tables(MadeUp):
    """64K: TREE/LL is 20 % faster than NCCL's choice, RING/SIMPLE as fast; a first call after another arm takes 50 us longer."""

    def arms(self, condition, tree):
        path = self.raw / f"tables-arms-{condition}.4x2.turns.1"
        self.run_of(path.name, [line(65536, 100)])
        times, made, samples = {"AUTO": 100, "RING/SIMPLE": 101, "TREE/LL": tree}, [], []
        rounds = tables_summary.CHECK_EVERY + 50
        calls = rounds + tables_summary.WARM_UP + rounds // tables_summary.CHECK_EVERY
        while len(made) < calls:
            for arm in times:
                made += [arm] * tables_summary.IN_A_ROW
        made, at = made[:calls], tables_summary.WARM_UP
        for k in range(rounds):
            first = made[at] != made[at - 1]
            samples += [f"{2 * k},world,AllReduce,65536,{rank},{times[made[at]] + 50 * first - 9 * rank + k % 3},0" for rank in (0, 1)]
            at += 2 if (k + 1) % tables_summary.CHECK_EVERY == 0 else 1
        path.joinpath("arms").write_text("".join(f"AllReduce 65536 {arm}\n" for arm in made))
        path.joinpath("samples.csv").write_text("\n".join(["round,comm,coll,bytes,rank,host_us,gpu_us", *samples]) + "\n")

    def rule(self, way, k, us, every):
        policy = {} if way == "off" else {"keys": [key(65536, "committed", "TREE/LL")]}
        slow = {"slowest_us": {"all": {"mean": every}, "last": {"median": us, "p25": us - 5, "p75": us + 5, "mean": us}}}
        self.run_of(f"tables-rules-alone.4x2.{way}.{k}", [{**line(65536, 1), **slow}], **policy)

    def trained(self, way, k, ms, losses):
        self.run_of(f"tables-train-loopback.4x2.{way}.{k}", [], [] if way == "off" else [key(65536, "kept")], launch="sockets-wide")
        self.raw.joinpath(f"tables-train-loopback.4x2.{way}.{k}", "out").write_text(json.dumps(
            {"program": "ddp", "ranks": 8, "steps": 8, "last_quarter_ms": ms, "step_ms": [9, 9, 8, ms, ms, ms, ms, ms], "losses": losses}) + "\n")

    def made(self, text):
        self.raw.parent.joinpath("page.in.md").write_text(text)
        results, where = self.raw.parent, self.raw.parent / "page.md"
        self.assertEqual(page.main(results, where), 0)
        return where.read_text()

    def test_arms(self):
        self.arms("alone", 80)
        self.arms("load", 120)
        rc, text = self.summed(tables_summary, self.raw, self.out)
        self.assertEqual(rc, 0, text)
        self.assertNotIn("do not fit", text)
        text = self.made("before\n@arms raw 4x2 alone,load\n@arms_plot raw gap\n")
        self.assertIn("| 64K | 101 | Tree/LL 81.0, **25 %** | 101 | NCCL's choice | yes |", text)
        self.assertIn("At 1 of 1 sizes the best arm depends on the condition", text)
        self.assertIn("results/plots/gap.svg", text)
        self.assertIn("prefers-color-scheme: dark", self.raw.parent.joinpath("plots", "gap.svg").read_text())

    def test_rules(self):
        for k, auto in ((1, 100), (2, 110)):
            self.rule("off", k, auto, auto)
            self.rule("bandit", k, auto / 2, auto)      # 150 calls before, at 133 and 147 us: 5 ms more
            self.rule("paper", k, auto, auto)
        self.assertEqual(self.summed(tables_summary, self.raw, self.out)[0], 0)
        text = self.made("@rules raw alone 4x2\n")
        self.assertRegex(text, r"\| +\| bandit \| 52\.5 \| 19 % \| 0\.50 \(0\.50 to 0\.50\) \| TREE/LL 2/2 \| 40 \| 3 \| 50 \|")
        self.assertRegex(text, r"\| +\| paper-online \| 105 \| .* \| 1\.00 .* \| TREE/LL 2/2 \| 40 \| 0 \| - \|")

    def test_train(self):
        for k in (1, 2):
            self.trained("off", k, 10, [2.0, 1.5])
            self.trained("policy", k, 5, [2.0, 1.50001])
        self.assertEqual(self.summed(tables_summary, self.raw, self.out)[0], 0)
        self.assertIn("|  | policy | 2 | 5.0 (5.0 to 5.0) | 2.00 (2.00 to 2.00) | 9.0 | sockets-wide | 6.7e-06 |", self.made("@train raw loopback\n"))
        self.trained("auto", 3, 5, [2.0, 1.6])
        rc, text = self.summed(tables_summary, self.raw, self.out)
        self.assertEqual(rc, 1)
        self.assertIn("LOSSES DIFFER", text)

    def test_profiles(self):
        for way, us in (("observe-default", 100), ("bandit-default", 80), ("observe-sockets-wide", 50), ("bandit-sockets-wide", 40)):
            self.run_of(f"tables-profiles-loopback.4x2.{way}.1", [line(65536, us)])
        self.assertEqual(self.summed(tables_summary, self.raw, self.out)[0], 0)
        text = self.made("@profiles raw loopback\n@profiles_plot raw profiles\n")
        for row in ("| default | no arms, us | 100 |", "| default | arms | 1.25 |", "| sockets-wide | no arms | 2.00 |", "| sockets-wide | arms | 2.50 |"):
            self.assertIn(row, text)

    def test_a_wrong_element_is_told(self):
        path = self.raw / "tables-uneven-loopback.1+2.groups.1"
        self.run_of(path.name, [])
        for rank in range(3):
            path.joinpath(f"result.{rank}.json").write_text(json.dumps(
                {"rank": rank, "wrong": {"world AllReduce 8192": 1} if rank == 1 else {}, "rounds": [{"calls": {"world AllReduce 8192": 40}}]}))
        rc, text = self.summed(tables_summary, self.raw, self.out)
        self.assertEqual(rc, 1)
        self.assertIn("tables-uneven-loopback.1+2.groups.1: wrong results", text)
        self.assertIn("| 1+2 | PyTorch | all ranks | AllReduce | 8K | 40 | 40 | 1 | - |", self.made("@uneven raw\n"))


if __name__ == "__main__":
    unittest.main()
