#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
"""torchrun --nproc-per-node N channels.py [OPTION]... - do fewer channels make a training step faster?

NCCL's channels take multiprocessors from the kernels that compute meanwhile. A GPT in bf16, bound by computing, trains
with one communicator for each limit of channels (ncclConfig_t.maxCTAs) and one without a limit; all of them in one
process, by turns:

  ddp   gradients in bf16, buckets of 25 MB
  fsdp  fully_shard of every block, parameters gathered and gradients reduced in bf16

Rank 0 writes a line of JSON to stdout for each program, limit and turn: ms of each step, from CUDA events.
`channels_summary.py` makes the table. Exit status: 0; 70 an error.
"""
import argparse
import json
import os
import sys
import time
import traceback

import torch
import torch.distributed as dist

PROGRAMS = ("ddp", "fsdp")


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--limits", default="0,1,2,4,8,16", help="channels at most; 0: no limit")
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--steps", type=int, default=5, help="measured in a turn, after one that is not")
    parser.add_argument("--seconds", type=float, default=170, help="no turn begins after them")
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--width", type=int, default=2048)
    parser.add_argument("--length", type=int, default=4096, help="tokens of a sequence")
    parser.add_argument("--batch", type=int, default=8, help="sequences of a rank")
    return parser.parse_args()


class Block(torch.nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        nn = torch.nn
        self.heads = heads
        self.before_attention, self.before_mlp = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (part.reshape(batch, length, self.heads, width // self.heads).transpose(1, 2)
                   for part in self.qkv(self.before_attention(x)).split(width, dim=2))
        seen = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(seen.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(torch.nn.functional.gelu(self.up(self.before_mlp(x))))


class Gpt(torch.nn.Module):
    VOCABULARY = 8192

    def __init__(self, options):
        super().__init__()
        nn = torch.nn
        self.tokens = nn.Embedding(self.VOCABULARY, options.width)
        self.blocks = nn.ModuleList(Block(options.width, options.width // 128) for _ in range(options.layers))
        self.last = nn.LayerNorm(options.width)
        self.head = nn.Linear(options.width, self.VOCABULARY, bias=False)

    def forward(self, x):
        x = self.tokens(x)
        for block in self.blocks:
            x = block(x)
        return self.head(self.last(x))


def make_group(limit):
    options = dist.ProcessGroupNCCL.Options()
    if limit:
        options.config.min_ctas = 1
        options.config.max_ctas = limit
    group = dist.new_group(list(range(dist.get_world_size())), backend="nccl", pg_options=options)
    dist.all_reduce(torch.ones(1 << 20, device="cuda"), group=group)
    torch.cuda.synchronize()
    return group


def make_model(program, group, options, device):
    torch.manual_seed(1)
    with torch.device(device):
        model = Gpt(options)
    if program == "ddp":
        return torch.nn.parallel.DistributedDataParallel(
            model.to(torch.bfloat16), device_ids=[device], process_group=group, bucket_cap_mb=25,
            broadcast_buffers=False, gradient_as_bucket_view=True)
    from torch.distributed.device_mesh import DeviceMesh
    from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.bfloat16)
    mesh = DeviceMesh.from_group(group, "cuda")
    for block in model.blocks:
        fully_shard(block, mesh=mesh, mp_policy=policy)
    fully_shard(model, mesh=mesh, mp_policy=policy)
    return model


def run_step(model, given, wanted):
    logits = model(given)
    loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), wanted.flatten())
    loss.backward()


def clear(model):
    for parameter in model.parameters():
        parameter.grad = None


def run_turn(model, options, given, wanted):
    """Milliseconds of each step."""
    marks = [torch.cuda.Event(enable_timing=True) for _ in range(options.steps + 1)]
    run_step(model, given, wanted)
    dist.barrier()
    torch.cuda.synchronize()
    for index in range(options.steps):
        marks[index].record()
        run_step(model, given, wanted)
    marks[-1].record()
    torch.cuda.synchronize()
    clear(model)
    return [round(a.elapsed_time(b), 3) for a, b in zip(marks, marks[1:])]


def agreed(yes, device):
    """What rank 0 says."""
    said = torch.tensor([int(yes)], device=device)
    dist.broadcast(said, 0)
    return bool(said.item())


def main():
    options = parse()
    started = time.monotonic()
    local = int(os.environ["LOCAL_RANK"])
    device = torch.device("cuda", local)
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", device_id=device)
    limits = [int(limit) for limit in options.limits.split(",")]
    group = {limit: make_group(limit) for limit in limits}
    torch.manual_seed(100 + dist.get_rank())
    tokens = torch.randint(0, Gpt.VOCABULARY, (options.batch, options.length + 1), device=device)
    given, wanted = tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous()
    models = {(program, limit): make_model(program, group[limit], options, device)
              for program in PROGRAMS for limit in limits}
    if dist.get_rank() == 0:
        print(json.dumps({"gpu": torch.cuda.get_device_name(), "ranks": dist.get_world_size(),
                          "torch": torch.__version__, "nccl": ".".join(map(str, torch.cuda.nccl.version())),
                          "parameters": sum(p.numel() for p in next(iter(models.values())).parameters()),
                          "tokens": given.numel(), "set_up_s": round(time.monotonic() - started, 1)}), flush=True)
    for turn in range(options.turns):
        if not agreed(time.monotonic() - started < options.seconds, device):
            break
        for program in PROGRAMS:
            for index in range(len(limits)):
                limit = limits[(index + turn) % len(limits)]
                ms = run_turn(models[program, limit], options, given, wanted)
                if dist.get_rank() == 0:
                    print(json.dumps({"program": program, "limit": limit, "turn": turn, "ms": ms}), flush=True)
    dist.barrier()


if __name__ == "__main__":
    try:
        main()
    except Exception:  # noqa: BLE001 - the other rank must not wait
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(70)
    sys.stdout.flush()
    os._exit(0)
