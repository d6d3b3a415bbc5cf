#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
"""train.py OUT.json STEPS ddp|fsdp - DDP or FSDP2 of a small GPT, started by torchrun"""
import faulthandler
import os
import sys
import time

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F

import result

WORDS, WIDTH, BLOCKS = 32000, 768, 6

out, steps, work = sys.argv[1], int(sys.argv[2]), sys.argv[3]
faulthandler.dump_traceback_later(150, exit=True)
rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
device = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count())
torch.cuda.set_device(device)
dist.init_process_group("nccl", device_id=device)
torch.manual_seed(1)
blocks = [nn.TransformerEncoderLayer(WIDTH, 8, 4 * WIDTH, 0.0, F.gelu, batch_first=True, norm_first=True) for _ in range(BLOCKS)]
model = nn.Sequential(nn.Embedding(WORDS, WIDTH), *blocks, nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WORDS)).to(device)
if work == "fsdp":
    from torch.distributed.fsdp import fully_shard
    for block in blocks:
        fully_shard(block)
    fully_shard(model)
else:
    model = nn.parallel.DistributedDataParallel(model, device_ids=[device.index], gradient_as_bucket_view=True)
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
generator = torch.Generator().manual_seed(100 + rank)
data = [torch.randint(0, WORDS, (4, 257), generator=generator).to(device) for _ in range(8)]
times, losses, starts = [], [], []
for step in range(steps):
    torch.cuda.synchronize()
    starts.append(time.perf_counter())
    x = data[step % 8]
    with torch.autocast("cuda", torch.bfloat16):
        loss = F.cross_entropy(model(x[:, :-1]).float().flatten(0, 1), x[:, 1:].reshape(-1))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    torch.cuda.synchronize()
    times.append(time.perf_counter() - starts[-1])
    if step % 20 == 0:
        losses.append(round(loss.item(), 4))
dist.barrier()
if rank == 0:
    result.write(out, world, times, losses, starts)
dist.destroy_process_group()
