#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
"""groups.py DIR [OPTION]... - tensor-parallel, data-parallel and world groups at once, every result checked

One rank of a PyTorch program. Where it stands comes from torchrun's variables or from Slurm's; with --torchrun N it is
the one task of its node and starts N ranks there by torchrun, on the node's share of the GPUs. A round makes the groups
anew, calls their collectives, half of the time all of them in flight together, compares every element of every result
with the sum that it must be, and gives the groups back. Leaves DIR/result.RANK.json.

Exit status: 0, 65 wrong results, 70 an error, 75 stalled, 76 the others or the start signal did not come.
"""
import argparse
import ctypes
import datetime
import faulthandler
import json
import os
import pathlib
import random
import sys
import threading
import time
import traceback

WRONG, ERROR, STALLED, NO_START = 65, 70, 75, 76
START_S = 60            # to meet the others and make communicators
CHECK_EVERY = 50        # iterations from one look at the sums to the next
WORLD_EVERY = 10
PORTS = (15000, 5000)   # first, how many; below what the kernel gives to others, and apart for jobs that overlap
MIB, KIB = 1 << 20, 1 << 10

# A size belongs to one kind of group only, so that a line of NCCL's log tells whose it is.
CALLS = [("tp", "AllReduce", MIB), ("tp", "AllReduce", 64 * KIB), ("dp", "AllGather", 4 * MIB),
         ("dp", "ReduceScatter", 4 * MIB), ("dp", "AllReduce", 256 * KIB), ("dp", "AllReduce", 16 * MIB),
         ("world", "AllReduce", 8 * KIB)]
# Of the first ranks only, where that is asked for (--part).
PART_CALLS = [("part", "AllReduce", 512 * KIB), ("part", "AllReduce", 8 * MIB), ("part", "AllGather", 3 * MIB),
              ("part", "ReduceScatter", 3 * MIB)]


class Place:
    """Which rank this is. Ranks of a node stand next to each other, as Slurm's block distribution has them."""

    def __init__(self, env, part=0):
        slurm = "RANK" not in env
        self.part = part
        self.rank = int(env["SLURM_PROCID" if slurm else "RANK"])
        self.ranks = int(env["SLURM_NTASKS" if slurm else "WORLD_SIZE"])
        self.local = int(env["SLURM_LOCALID" if slurm else "LOCAL_RANK"])
        self.per_node = self.ranks // int(env["SLURM_NNODES"]) if slurm else int(env["LOCAL_WORLD_SIZE"])
        # Under Slurm alone every rank sees all GPUs; torchrun was given those of its node.
        self.device = self.rank if slurm else self.local

    def groups(self, role):
        """The ranks of every group of a kind; every rank must make all of them, in this order."""
        if role == "tp":
            return [list(range(first, first + self.per_node)) for first in range(0, self.ranks, self.per_node)]
        if role == "dp":
            return [list(range(first, self.ranks, self.per_node)) for first in range(self.per_node)]
        if role == "part":
            return [list(range(self.part))]
        return [list(range(self.ranks))]

    def members(self, role):
        return next(ranks for ranks in self.groups(role) if self.rank in ranks)


def rendezvous_port(env):
    return PORTS[0] + int(env.get("SLURM_JOB_ID", "0")) % PORTS[1]


class Result:
    """What this rank has to say, written when it ends, however it ends."""

    def __init__(self, directory, place, options):
        self.path = pathlib.Path(directory) / f"result.{place.rank}.json"
        self.said = {"rank": place.rank, "ranks": place.ranks, "per_node": place.per_node, "split": options.split,
                     "rounds": [], "wrong": {}, "simulated": 0}
        self.lock = threading.Lock()

    def write(self, ended, **more):
        with self.lock:
            self.said.update(ended=ended, **more)
            part = self.path.with_suffix(".tmp")
            part.write_text(json.dumps(self.said) + "\n")
            part.replace(self.path)


class Watch(threading.Thread):
    """Ends the process when nothing has moved for too long: a rank stuck in NCCL cannot do that itself."""

    def __init__(self, result, limit_s):
        super().__init__(daemon=True)
        self.result, self.limit_s = result, limit_s
        self.beat("start", START_S)

    def beat(self, where, limit_s=None):
        self.state = (where, time.monotonic() + (limit_s or self.limit_s))
        # Needs no lock of Python's: the last resort where a call has stalled that holds it.
        faulthandler.dump_traceback_later(2 * (limit_s or self.limit_s) + 10, exit=True)

    def run(self):
        while True:
            time.sleep(0.2)
            where, deadline = self.state
            if time.monotonic() > deadline:
                print(f"groups.py: rank {self.result.said['rank']} stalled at {where}", file=sys.stderr, flush=True)
                faulthandler.dump_traceback(sys.stderr, all_threads=True)
                self.result.write("stalled", where=where)
                os._exit(STALLED)


class Call:
    """One collective of one group: its buffers, and what must come out. Whole numbers, exact in float32."""

    def __init__(self, torch, place, device, group, role, coll, size):
        members = place.members(role)
        self.torch, self.group, self.role, self.coll = torch, group, role, coll
        self.name, self.ranks, self.made = f"{role} {coll} {size}", len(members), 0
        # As many whole parts as fit: 7 ranks divide no power of two.
        self.count = size // 4 // self.ranks * self.ranks
        part, me = self.count // self.ranks, members.index(place.rank)
        ramp = torch.arange(self.count, device=device, dtype=torch.float32) % 251
        total = self.ranks * ramp + 3 * sum(members)
        if coll == "AllGather":
            self.source = ramp[:part] + 3 * place.rank
            self.due = torch.cat([ramp[:part] + 3 * r for r in members])
        elif coll == "ReduceScatter":
            self.source = ramp + 3 * place.rank
            self.due = total[me * part:(me + 1) * part].clone()
        else:
            self.source = ramp + 3 * place.rank
            self.due = total
        self.send = torch.empty_like(self.source)
        self.receive = self.send if coll == "AllReduce" else torch.empty_like(self.due)

    def start(self, dist, step):
        """Every step has sums of its own: what an earlier one left is wrong."""
        self.made += 1
        self.torch.add(self.source, step, out=self.send)
        if self.coll == "AllReduce":
            return dist.all_reduce(self.send, group=self.group, async_op=True)
        self.receive.fill_(-1)
        if self.coll == "AllGather":
            return dist.all_gather_into_tensor(self.receive, self.send, group=self.group, async_op=True)
        return dist.reduce_scatter_tensor(self.receive, self.send, group=self.group, async_op=True)

    def count_wrong(self, step):
        grown = step if self.coll == "AllGather" else step * self.ranks
        return self.torch.count_nonzero(self.receive != self.due + grown)


class SimInfo(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("magic", ctypes.c_uint), ("version", ctypes.c_uint),
                ("estimate_us", ctypes.c_float)]


class Simulator:
    """ncclGroupSimulateEnd on this rank alone, on PyTorch's own communicators, at random moments."""

    FLOAT32, SUM, MAGIC = 7, 0, 0x74685283

    def __init__(self, torch, device, seed, every):
        with open("/proc/self/maps", encoding="utf-8") as maps:
            path = next((line.split()[-1] for line in maps if "/libnccl.so" in line), None)
        if not path:
            raise RuntimeError("no libnccl.so in this process")
        self.nccl, self.torch, self.device = ctypes.CDLL(path), torch, device
        self.random, self.every, self.done, self.estimates = random.Random(seed), every, 0, []
        version = ctypes.c_int()
        self.must(self.nccl.ncclGetVersion(ctypes.byref(version)))
        self.version = version.value

    @staticmethod
    def must(status):
        if status != 0:
            raise RuntimeError(f"NCCL's answer to a simulated call is {status}")

    def maybe(self, calls, watch, where):
        """Only what has run before: NCCL connects at a first use, and one rank alone cannot."""
        if self.random.random() * self.every >= 1:
            return
        call = self.random.choice([c for c in calls if c.made > 1])
        backend = call.group._get_backend(self.device)
        comm = backend._comm_ptr
        comm = ctypes.c_void_p(comm() if callable(comm) else comm)
        if not comm.value:
            raise RuntimeError(f"no communicator of {call.name}")
        stream = ctypes.c_void_p(self.torch.cuda.current_stream(self.device).cuda_stream)
        send, receive = ctypes.c_void_p(call.send.data_ptr()), ctypes.c_void_p(call.receive.data_ptr())
        info = SimInfo(ctypes.sizeof(SimInfo), self.MAGIC, self.version, -1.0)
        count = ctypes.c_size_t(call.count if call.coll == "AllReduce" else call.count // call.ranks)
        watch.beat(f"{where}, a simulated {call.name}")
        self.must(self.nccl.ncclGroupStart())
        if call.coll == "AllGather":
            self.must(self.nccl.ncclAllGather(send, receive, count, self.FLOAT32, comm, stream))
        elif call.coll == "ReduceScatter":
            self.must(self.nccl.ncclReduceScatter(send, receive, count, self.FLOAT32, self.SUM, comm, stream))
        else:
            self.must(self.nccl.ncclAllReduce(send, receive, count, self.FLOAT32, self.SUM, comm, stream))
        self.must(self.nccl.ncclGroupSimulateEnd(ctypes.byref(info)))
        self.done += 1
        self.estimates.append(round(info.estimate_us, 1))


class Player:
    def __init__(self, options, place, result, watch):
        import torch
        import torch.distributed as dist
        self.torch, self.dist = torch, dist
        self.options, self.place, self.result, self.watch = options, place, result, watch
        self.on_gpu = options.device == "cuda"
        # Under MPS several ranks, of different nodes, share a GPU.
        self.device = torch.device("cuda", place.device % torch.cuda.device_count()) if self.on_gpu else torch.device("cpu")
        self.simulator = None

    def join(self):
        env = os.environ
        env.setdefault("MASTER_ADDR", "127.0.0.1")
        env.setdefault("MASTER_PORT", str(rendezvous_port(env)))
        if self.on_gpu:
            self.torch.cuda.set_device(self.device)
        # With a device PyTorch splits groups off the world's communicator, without they are made on first use.
        self.dist.init_process_group("nccl" if self.on_gpu else "gloo", init_method="env://", rank=self.place.rank,
                                     world_size=self.place.ranks, timeout=datetime.timedelta(seconds=START_S),
                                     **({"device_id": self.device} if self.options.split and self.on_gpu else {}))
        if self.options.simulate and self.place.rank == self.options.seed % self.place.ranks:
            self.simulator = Simulator(self.torch, self.device, self.options.seed, self.options.simulate)

    def make_groups(self):
        mine = {"world": self.dist.group.WORLD}
        for role in ("tp", "dp", "part"):
            for ranks in self.place.groups(role):
                if len(ranks) > 1:
                    group = self.dist.new_group(ranks)
                    if self.place.rank in ranks:
                        mine[role] = group
        return mine

    def play_round(self, number):
        """Until all iterations are made or one rank's time is up; how many."""
        self.watch.beat(f"round {number}, new groups", START_S)
        groups = self.make_groups()
        calls = [Call(self.torch, self.place, self.device, groups[role], role, coll, size)
                 for role, coll, size in CALLS + PART_CALLS if role in groups]
        wrong = self.torch.zeros(len(calls), dtype=self.torch.int64, device=self.device)
        end, iteration, over = time.monotonic() + self.options.seconds, 0, False
        started = time.monotonic()
        while not over:
            self.iterate(number, iteration, calls, wrong)
            iteration += 1
            if iteration % CHECK_EVERY == 0:
                over = self.look(number, iteration, calls, wrong, end)
        self.watch.beat(f"round {number}, groups' end", START_S)
        self.result.said["rounds"].append(
            {"iterations": iteration, "seconds": round(time.monotonic() - started, 2),
             "calls": {call.name: call.made for call in calls}})
        for role in ("tp", "dp", "part"):
            if role in groups:
                self.dist.destroy_process_group(groups[role])

    def iterate(self, number, iteration, calls, wrong):
        where, step, flying = f"round {number}, iteration {iteration}", iteration % 101, []
        together = iteration // CHECK_EVERY % 2 == 1
        now = [c for c in calls if c.role != "world" or iteration % WORLD_EVERY == 0]
        for call in now:
            if self.simulator and iteration > 1:
                self.simulator.maybe(now, self.watch, where)
            self.watch.state = (f"{where}, {call.name}", self.watch.state[1])
            flying.append(call.start(self.dist, step))
            if not together:
                flying.pop().wait()
        for work in flying:
            work.wait()
        for call in now:
            wrong[calls.index(call)] += call.count_wrong(step)

    def look(self, number, iteration, calls, wrong, end):
        """What was wrong until here, and whether all stop: the answer is the same on every rank."""
        self.watch.beat(f"round {number}, look at iteration {iteration}")
        for call, count in zip(calls, wrong.tolist()):
            if count:
                self.result.said["wrong"][call.name] = self.result.said["wrong"].get(call.name, 0) + count
        wrong.zero_()
        over = iteration >= self.options.iterations or time.monotonic() >= end
        flag = self.torch.tensor([float(over)], device=self.device)
        self.dist.all_reduce(flag)
        self.watch.beat(f"round {number}, after iteration {iteration}")
        return flag.item() > 0

    def play(self):
        self.join()
        for number in range(1, self.options.rounds + 1):
            self.play_round(number)
        self.watch.beat("the end", START_S)
        if self.simulator:
            self.result.said.update(simulated=self.simulator.done, estimates_us=sorted(set(self.simulator.estimates)))
        self.dist.destroy_process_group()


def start_torchrun(options, arguments):
    """This task becomes its node's torchrun."""
    env = os.environ
    node, nodes, each = int(env["SLURM_NODEID"]), int(env["SLURM_NNODES"]), options.torchrun
    seen = [g for g in env.get("CUDA_VISIBLE_DEVICES", "").split(",") if g] or [str(g) for g in range(nodes * each)]
    env["CUDA_VISIBLE_DEVICES"] = ",".join(seen[node * each:(node + 1) * each])
    env["OMP_NUM_THREADS"] = "1"
    env.setdefault("RES_OPTIONS", "timeout:1 attempts:1")  # torchrun asks for this host's full name, network or not
    os.execv(sys.executable, [
        sys.executable, "-m", "torch.distributed.run", "--nnodes", str(nodes), "--nproc_per_node", str(each),
        "--node_rank", str(node), "--master_addr", "127.0.0.1", "--master_port", str(rendezvous_port(env)),
        os.path.abspath(__file__), *arguments])


def wait_for_start(path):
    deadline = time.monotonic() + 2 * START_S
    while path and not os.path.exists(path):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def parse(arguments):
    p = argparse.ArgumentParser()
    p.add_argument("directory")
    p.add_argument("--rounds", type=int, default=2)
    p.add_argument("--iterations", type=int, default=1000, help="of a round, at most")
    p.add_argument("--seconds", type=float, default=3, help="of a round, at most")
    p.add_argument("--stall", type=float, default=25, help="seconds without a step that count as a hang")
    p.add_argument("--split", action="store_true", help="split groups off the world's communicator")
    p.add_argument("--simulate", type=float, default=0, help="one rank simulates one of so many calls")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--part", type=int, default=0, help="also a group of so many ranks, the first ones")
    p.add_argument("--go", help="begin on the GPU when this file is there")
    p.add_argument("--device", choices=("cuda", "cpu"), default="cuda", help="cpu: gloo, to try this program itself")
    p.add_argument("--torchrun", type=int, help="start so many ranks on this node")
    return p.parse_args(arguments)


def main(arguments):
    options = parse(arguments)
    if options.torchrun:
        at = arguments.index("--torchrun")
        start_torchrun(options, arguments[:at] + arguments[at + 2:])
    place = Place(os.environ, options.part)
    result = Result(options.directory, place, options)
    watch = Watch(result, options.stall)
    watch.beat("start", 3 * START_S)
    watch.start()
    try:
        player = Player(options, place, result, watch)
        if not wait_for_start(options.go):
            result.write("no start")
            return NO_START
        watch.beat("meeting the others", START_S)
        player.play()
    except Exception:   # whatever PyTorch raises: the text is what remains of the run
        traceback.print_exc()
        result.write("error", where=watch.state[0])
        sys.stderr.flush()
        os._exit(ERROR)     # no waiting for ranks that may hang
    result.write("wrong" if result.said["wrong"] else "well")
    faulthandler.dump_traceback_later(START_S / 2, exit=True)  # for libraries that do not let go
    return WRONG if result.said["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
