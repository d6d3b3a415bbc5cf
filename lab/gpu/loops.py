#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
"""loops.py NAME - one rank of loops.sh: what an AllReduce takes in an undisturbed loop, without a plugin

At each size a loop of calls that follow each other, and at some also one with a matrix product before each call (size and
"g"). Rank 0 writes a line: NAME and a JSON object of microseconds a call, by the host's clock, the median of three loops.
The variables RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT are those of PyTorch; LOCAL_RANK is the GPU.
"""
import json
import os
import statistics
import sys
import time

import torch
import torch.distributed as dist

CALLS = {16: 200, 32: 200, 64: 200, 128: 200, 256: 200, 512: 200, 1024: 150, 4096: 80, 16384: 30, 65536: 12}  # by KiB
WITH_PRODUCTS = (16, 64, 256, 512)
LOOPS = 3


def run_loop(kib, calls, products):
    data = torch.ones(kib << 8, device="cuda")
    given = torch.randn(128, 1024, device="cuda")
    up, down = torch.randn(1024, 2048, device="cuda"), torch.randn(2048, 1024, device="cuda")
    for _ in range(5):
        dist.all_reduce(data)
    torch.cuda.synchronize()
    dist.barrier()
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(calls):
        if products:
            given = given @ up @ down
            data.mul_(0.5)
        dist.all_reduce(data)
        if products:
            given = given + data[:1]
    torch.cuda.synchronize()
    return (time.perf_counter() - start) / calls * 1e6


def main(name):
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl")
    took = {}
    for kib, calls in CALLS.items():
        for products in (False, True) if kib in WITH_PRODUCTS else (False,):
            loops = [run_loop(kib, calls, products) for _ in range(LOOPS)]
            took[f"{kib}K{'g' if products else ''}"] = round(statistics.median(loops))
    if dist.get_rank() == 0:
        print(name, json.dumps(took), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1])
