#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
"""env.py NCCL PLUGIN [ROUNDS] - does each communicator keep the start-up variables it was made with?

NCCL is a libnccl.so.2 of 2.29.7 or newer, PLUGIN env.c's nt-env.so. Two ranks, each a node of its own to NCCL, over loopback
sockets; they share a GPU by CUDA MPS where there is one only. AllReduce of 64K to 64M, microseconds a call:

  default, wide      one communicator, the variables from the environment, no plugin
  both               with the plugin: a communicator made with the default, one with the wide set, timed by turns

Prints a table, medians over rounds.
"""
import ctypes
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

SIZES = {"64K": 1 << 16, "256K": 1 << 18, "1M": 1 << 20, "4M": 1 << 22, "16M": 1 << 24, "64M": 1 << 26}
WIDE = {"NCCL_MIN_NCHANNELS": "8", "NCCL_SOCKET_NTHREADS": "2", "NCCL_NSOCKS_PERTHREAD": "4"}
FLOAT32, SUM, LIMIT_S = 7, 0, 120


def calls_of(size):
    return max(5, min(200, (32 << 20) // size))


class Rank:
    def __init__(self, rank, nccl, meet):
        self.rank, self.meet = rank, meet
        self.nccl = ctypes.CDLL(nccl)
        self.cuda = ctypes.CDLL(os.environ["NT_CUDART"])
        self.stream, self.buffer = ctypes.c_void_p(), ctypes.c_void_p()
        gpus = ctypes.c_int()
        self.check(self.cuda.cudaGetDeviceCount(ctypes.byref(gpus)))
        self.check(self.cuda.cudaSetDevice(rank % gpus.value))
        self.check(self.cuda.cudaMalloc(ctypes.byref(self.buffer), ctypes.c_size_t(SIZES["64M"])))
        self.check(self.cuda.cudaMemset(self.buffer, 0, ctypes.c_size_t(SIZES["64M"])))
        self.check(self.cuda.cudaStreamCreate(ctypes.byref(self.stream)))

    @staticmethod
    def check(status):
        if status != 0:
            raise RuntimeError(f"status {status}")

    def communicator(self, name):
        class Id(ctypes.Structure):
            _fields_ = [("bytes", ctypes.c_char * 128)]
        unique, path, comm = Id(), os.path.join(self.meet, name), ctypes.c_void_p()
        if self.rank == 0:
            self.check(self.nccl.ncclGetUniqueId(ctypes.byref(unique)))
            with open(path + ".new", "wb") as file:
                file.write(bytes(unique))
            os.rename(path + ".new", path)
        while not os.path.exists(path):
            time.sleep(0.01)
        with open(path, "rb") as file:
            unique = Id.from_buffer_copy(file.read())
        self.nccl.ncclCommInitRank.argtypes = [ctypes.c_void_p, ctypes.c_int, Id, ctypes.c_int]
        self.check(self.nccl.ncclCommInitRank(ctypes.byref(comm), 2, unique, self.rank))
        for size in SIZES.values():  # connects what is used later
            self.loop(comm, size, 3)
        return comm

    def loop(self, comm, size, count):
        for _ in range(count):
            self.check(self.nccl.ncclAllReduce(self.buffer, self.buffer, ctypes.c_size_t(size // 4), FLOAT32, SUM, comm, self.stream))
        self.check(self.cuda.cudaStreamSynchronize(self.stream))

    def time(self, comm, size):
        self.loop(comm, size, 2)
        start = time.monotonic()
        self.loop(comm, size, calls_of(size))
        return 1e6 * (time.monotonic() - start) / calls_of(size)


def play(rank, way, nccl, plugin, rounds, meet):
    r = Rank(rank, nccl, meet)
    if way == "both":
        env = ctypes.CDLL(plugin)
        comms = {"default": r.communicator("one")}
        env.nt_env_wide(1)
        comms["wide"] = r.communicator("two")
        env.nt_env_wide(0)
    else:
        comms = {way: r.communicator("one")}
    times = {name: {size: [] for size in SIZES} for name in comms}
    for _ in range(rounds):
        for size, count in SIZES.items():
            for name, comm in comms.items():
                times[name][size].append(r.time(comm, count))
    if way == "both":
        env.nt_env_print()
    if rank == 0:
        print(json.dumps({name: {size: statistics.median(t) for size, t in of.items()} for name, of in times.items()}))
    sys.stdout.flush()
    os._exit(0)


def run(way, arguments):
    with tempfile.TemporaryDirectory() as meet:
        ranks = []
        for rank in range(2):
            environment = dict(os.environ, NCCL_HOSTID=f"node{rank}", NCCL_NET="Socket", NCCL_SOCKET_IFNAME="lo", NCCL_NVLS_ENABLE="0",
                               LD_LIBRARY_PATH=os.path.dirname(arguments[0]) + ":" + os.environ.get("LD_LIBRARY_PATH", ""))
            environment.update(WIDE if way == "wide" else {"NCCL_ENV_PLUGIN": arguments[1]} if way == "both" else {})
            ranks.append(subprocess.Popen([sys.executable, __file__, "--rank", str(rank), way, *arguments, meet], env=environment,
                                          stdout=subprocess.PIPE, text=True))
        try:
            out = [rank.communicate(timeout=LIMIT_S)[0] for rank in ranks]
        except subprocess.TimeoutExpired:
            for rank in ranks:
                rank.kill()
            return {}
        return json.loads(out[0]) if out[0] else {}


def main(arguments):
    if arguments[0] == "--rank":
        play(int(arguments[1]), arguments[2], arguments[3], arguments[4], int(arguments[5]), arguments[6])
    rounds = arguments[2] if len(arguments) > 2 else "5"
    table = {}
    for way in ("default", "wide", "both", "default", "wide", "both"):
        for name, of in run(way, [arguments[0], arguments[1], rounds]).items():
            table.setdefault((way, name), []).append(of)
    print(f"{'':24}" + "".join(f"{size:>10}" for size in SIZES))
    for (way, name), runs in table.items():
        for of in runs:
            print(f"{way + ': ' + name:24}" + "".join(f"{of[size]:10.0f}" for size in SIZES))


if __name__ == "__main__":
    main(sys.argv[1:])
