#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
"""train.py --programs ddp,fsdp,tp,mesh [OPTION]... - what a training step takes, and that it computes the same

One rank of a PyTorch program, started by srun or torchrun, one task a rank; several programs run one after the other:

  ddp   a GPT of 67 million parameters in four blocks, gradients in fp32, buckets of 25 MB
  fsdp  the same, fully_shard of every block (25 MB each), in bf16
  tp    a tensor-parallel MLP of 12 layers: 24 AllReduces of 512K a step; eight times as many steps
  mesh  the same MLP, tensor-parallel on the GPUs of a node and data-parallel across the nodes, each with its own data:
        gradients summed by layer, their norm over the world; three times as many steps

All of it comes from one seed. A step ends with the mean of the loss over all ranks, a small AllReduce as most programs
make it. Rank 0 prints a JSON object for each program: milliseconds of every step by the host's clock, synchronised before and after it,
the median of the last quarter, and the losses.

Exit status: 0, 70 an error, 75 stalled.
"""
import argparse
import datetime
import json
import math
import os
import statistics
import sys
import time
import traceback

import groups

START_S = 90
PROGRAMS = ("ddp", "fsdp", "tp", "mesh")
CONTEXT = 256
TP_LAYERS = 12
TIMES_STEPS = {"tp": 8, "mesh": 3}  # for each step of the others
TP_BYTES = 512 << 10    # of an AllReduce


class Shape:
    """How large the programs are: in full, or small enough for a processor."""

    def __init__(self, small):
        self.vocabulary, self.width, self.layers, self.heads = (256, 64, 2, 2) if small else (8192, 1024, 4, 16)
        self.batch = 1 if small else 4
        self.tp_width, self.tp_hidden = (128, 512) if small else (1024, 4096)
        self.tp_tokens = TP_BYTES // 4 // self.tp_width


class Ended:
    """What groups.Watch writes when this rank stalls: the text on stderr is enough."""

    def __init__(self, rank):
        self.said = {"rank": rank}

    def write(self, ended, **more):
        print(f"train.py: {ended} {more.get('where', '')}", file=sys.stderr, flush=True)


def make_gpt(torch, shape):
    """A GPT whose attention is plain products: no kernel that adds in an order of its own."""
    nn = torch.nn

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.before_attention, self.before_mlp = nn.LayerNorm(shape.width), nn.LayerNorm(shape.width)
            self.qkv = nn.Linear(shape.width, 3 * shape.width)
            self.out = nn.Linear(shape.width, shape.width)
            self.up, self.down = nn.Linear(shape.width, 4 * shape.width), nn.Linear(4 * shape.width, shape.width)

        def attend(self, x):
            batch, length, width = x.shape
            q, k, v = (part.reshape(batch, length, shape.heads, width // shape.heads).transpose(1, 2)
                       for part in self.qkv(x).split(width, dim=2))
            scores = q @ k.transpose(2, 3) / math.sqrt(width // shape.heads)
            future = torch.ones(length, length, dtype=torch.bool, device=x.device).triu(1)
            weights = scores.masked_fill(future, -1e4).softmax(dim=3)
            return self.out((weights @ v).transpose(1, 2).reshape(batch, length, width))

        def forward(self, x):
            x = x + self.attend(self.before_attention(x))
            return x + self.down(nn.functional.gelu(self.up(self.before_mlp(x))))

    class Gpt(nn.Module):
        def __init__(self):
            super().__init__()
            self.tokens = nn.Embedding(shape.vocabulary, shape.width)
            self.places = nn.Embedding(CONTEXT, shape.width)
            self.blocks = nn.ModuleList(Block() for _ in range(shape.layers))
            self.last = nn.LayerNorm(shape.width)
            self.head = nn.Linear(shape.width, shape.vocabulary, bias=False)

        def forward(self, x):
            x = self.tokens(x) + self.places(torch.arange(x.shape[1], device=x.device))
            for block in self.blocks:
                x = block(x)
            return self.head(self.last(x))

    return Gpt()


class Gpt:
    """A data-parallel program, replicated (ddp) or sharded (fsdp)."""

    def __init__(self, trainer, sharded):
        torch, place = trainer.torch, trainer.place
        self.torch, self.shape, self.rank = torch, trainer.shape, place.rank
        self.device = trainer.device
        self.model = make_gpt(torch, self.shape).to(self.device)
        self.parameters = sum(p.numel() for p in self.model.parameters())
        if sharded:
            self.shard(trainer)
        else:
            devices = [self.device] if trainer.on_gpu else None
            self.model = torch.nn.parallel.DistributedDataParallel(self.model, device_ids=devices, bucket_cap_mb=25,
                                                                   broadcast_buffers=False, gradient_as_bucket_view=True)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=3e-4)

    def shard(self, trainer):
        from torch.distributed.device_mesh import init_device_mesh
        from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
        kind = self.torch.bfloat16
        policy = MixedPrecisionPolicy(param_dtype=kind, reduce_dtype=kind) if trainer.on_gpu else MixedPrecisionPolicy()
        mesh = init_device_mesh(self.device.type, (trainer.place.ranks,))
        for block in self.model.blocks:
            fully_shard(block, mesh=mesh, mp_policy=policy)
        fully_shard(self.model, mesh=mesh, mp_policy=policy)

    def batch(self, step):
        """Sequences with a rule in them, other ones on each rank and in each step."""
        first = self.torch.arange(self.shape.batch, device=self.device)[:, None] * 97 + self.rank * 31 + step * 7
        at = self.torch.arange(CONTEXT + 1, device=self.device)[None, :]
        tokens = (first + at * (1 + first % 5)) % self.shape.vocabulary
        return tokens[:, :-1], tokens[:, 1:]

    def step(self, step):
        given, wanted = self.batch(step)
        self.optimizer.zero_grad(set_to_none=True)
        logits = self.model(given)
        loss = self.torch.nn.functional.cross_entropy(logits.float().flatten(0, 1), wanted.flatten())
        loss.backward()
        self.optimizer.step()
        return loss.detach()


class TensorParallel:
    """Each layer's first matrix is cut by columns, its second by rows: one AllReduce forward, one backward."""

    @staticmethod
    def cut_by(trainer):
        """The group that shares the matrices, this rank's place in it, and its ranks."""
        return None, trainer.place.rank, trainer.place.ranks

    def __init__(self, trainer):
        torch, shape = trainer.torch, trainer.shape
        self.torch, dist = torch, trainer.dist
        group, rank, ranks = self.cut_by(trainer)
        part = shape.tp_hidden // ranks
        mine = slice(rank * part, (rank + 1) * part)
        self.weights = []
        for _ in range(TP_LAYERS):
            up = torch.randn(shape.tp_width, shape.tp_hidden) / math.sqrt(shape.tp_width)
            down = torch.randn(shape.tp_hidden, shape.tp_width) / math.sqrt(shape.tp_hidden)
            # Every rank draws all of it, so that the sum is the same however many there are.
            self.weights.append([up[:, mine].contiguous().to(trainer.device).requires_grad_(),
                                 down[mine].contiguous().to(trainer.device).requires_grad_()])
        self.given = torch.randn(shape.tp_tokens, shape.tp_width).to(trainer.device)
        self.wanted = torch.randn(shape.tp_tokens, shape.tp_width).to(trainer.device)
        self.optimizer = torch.optim.SGD([w for layer in self.weights for w in layer], lr=0.1)
        self.parameters = sum(w.numel() for layer in self.weights for w in layer) * ranks

        class SumForward(torch.autograd.Function):
            @staticmethod
            def forward(_, x):
                x = x.contiguous().clone()
                dist.all_reduce(x, group=group)
                return x

            @staticmethod
            def backward(_, grad):
                return grad

        class SumBackward(torch.autograd.Function):
            @staticmethod
            def forward(_, x):
                return x.view_as(x)

            @staticmethod
            def backward(_, grad):
                grad = grad.contiguous().clone()
                dist.all_reduce(grad, group=group)
                return grad

        self.sum_forward, self.sum_backward = SumForward, SumBackward

    def step(self, _):
        self.optimizer.zero_grad(set_to_none=True)
        x = self.given.clone().requires_grad_()
        for up, down in self.weights:
            hidden = self.torch.nn.functional.gelu(self.sum_backward.apply(x) @ up)
            x = x + 0.1 * self.sum_forward.apply(hidden @ down)
        loss = self.torch.nn.functional.mse_loss(x, self.wanted)
        loss.backward()
        self.share()
        self.optimizer.step()
        return loss.detach()

    def share(self):
        """Nothing: all ranks have the same data."""


class Mesh(TensorParallel):
    """Tensor-parallel inside a node, data-parallel across: eight groups of either kind on a large machine."""

    @staticmethod
    def cut_by(trainer):
        return trainer.groups["tp"], trainer.place.local, trainer.place.per_node

    def __init__(self, trainer):
        super().__init__(trainer)
        self.dist, self.across = trainer.dist, trainer.groups["dp"]
        self.nodes = trainer.place.ranks // trainer.place.per_node
        self.given = self.given + 0.1 * (trainer.place.rank // trainer.place.per_node)

    def share(self):
        """Gradients of a layer in one AllReduce, the last layer's first; then their norm, which needs all ranks."""
        torch, flying = self.torch, []
        for layer in reversed(self.weights):
            bucket = torch.cat([w.grad.flatten() for w in layer]).div_(self.nodes)
            flying.append((layer, bucket, self.dist.all_reduce(bucket, group=self.across, async_op=True)))
        squares = torch.zeros(1, device=self.given.device)
        for layer, bucket, work in flying:
            work.wait()
            squares += bucket.square().sum()
            for w, grad in zip(layer, bucket.split([w.numel() for w in layer])):
                w.grad.copy_(grad.view_as(w))
        self.dist.all_reduce(squares)
        scale = (1 / (squares / self.nodes).sqrt().clamp_min(1e-6)).clamp_max(1.0)
        for w in (w for layer in self.weights for w in layer):
            w.grad.mul_(scale)


class Trainer:
    def __init__(self, options, place, watch):
        import torch
        import torch.distributed as dist
        self.torch, self.dist = torch, dist
        self.options, self.place, self.watch = options, place, watch
        self.on_gpu = options.device == "cuda"
        self.shape = Shape(options.small)
        if self.on_gpu:
            # Under MPS several ranks, of different nodes, share a GPU.
            self.device = torch.device("cuda", place.device % torch.cuda.device_count())
            torch.cuda.set_device(self.device)
            torch.set_float32_matmul_precision("high")
        else:
            self.device = torch.device("cpu")

    def join(self):
        env = os.environ
        env["MASTER_ADDR"] = self.options.master or env.get("MASTER_ADDR", "127.0.0.1")
        step = int(env.get("SLURM_STEP_ID", "0")) % 100
        env.setdefault("MASTER_PORT", str(groups.rendezvous_port(env) + step))
        self.dist.init_process_group("nccl" if self.on_gpu else "gloo", init_method="env://", rank=self.place.rank,
                                     world_size=self.place.ranks, timeout=datetime.timedelta(seconds=START_S))
        self.groups = self.make_groups() if "mesh" in self.options.programs else {}

    def make_groups(self):
        """This rank's group of each kind; every rank makes all of them, in one order."""
        mine = {}
        for role in ("tp", "dp"):
            for ranks in self.place.groups(role):
                group = self.dist.new_group(ranks)
                if self.place.rank in ranks:
                    mine[role] = group
        return mine

    def synchronize(self):
        if self.on_gpu:
            self.torch.cuda.synchronize(self.device)

    def program(self, name):
        self.torch.manual_seed(self.options.seed)
        kinds = {"tp": TensorParallel, "mesh": Mesh}
        return kinds[name](self) if name in kinds else Gpt(self, name == "fsdp")

    def play(self, name):
        """Steps until all are made or one rank's time is up; their milliseconds, and the losses."""
        self.watch.beat(f"{name}, its start", START_S)
        program = self.program(name)
        times, losses, over = [], [], False
        steps = self.options.steps * TIMES_STEPS.get(name, 1)
        end = time.monotonic() + self.options.seconds
        while not over and len(times) < steps:
            self.watch.beat(f"{name}, step {len(times)}", None if times else START_S)
            self.synchronize()
            start = time.monotonic()
            loss = program.step(len(times))
            # The loss of all ranks, and whether the time of one is up: the answer is the same on every rank.
            late = 1.0 if time.monotonic() > end else 0.0
            both = self.torch.stack([loss.float(), self.torch.full_like(loss.float(), late)])
            self.dist.all_reduce(both)
            mean, late = both.tolist()
            self.synchronize()
            times.append(1000 * (time.monotonic() - start))
            losses.append(mean / self.place.ranks)
            over = late > 0
        return program.parameters, times, losses


def say(name, options, place, parameters, times, losses):
    last = times[len(times) * 3 // 4:]
    print(json.dumps({"program": name, "ranks": place.ranks, "per_node": place.per_node, "seed": options.seed,
                      "parameters": parameters, "steps": len(times), "last_quarter_ms": round(statistics.median(last), 3),
                      "step_ms": [round(t, 3) for t in times], "losses": [float(f"{x:.7g}") for x in losses]}), flush=True)


def parse(arguments):
    p = argparse.ArgumentParser()
    p.add_argument("--programs", type=lambda text: text.split(","), required=True, help="of ddp, fsdp, tp, mesh")
    p.add_argument("--steps", type=int, default=60, help="of each program, at most; of tp eight times, of mesh three times as many")
    p.add_argument("--seconds", type=float, default=60, help="of each program, at most")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--master", help="where rank 0 is, for the others to find it")
    p.add_argument("--stall", type=float, default=30, help="seconds without a step that count as a hang")
    p.add_argument("--small", action="store_true", help="a model that a processor can train")
    p.add_argument("--device", choices=("cuda", "cpu"), default="cuda", help="cpu: gloo, to try this program itself")
    options = p.parse_args(arguments)
    if not set(options.programs) <= set(PROGRAMS):
        p.error(f"--programs '{','.join(options.programs)}' (want some of {', '.join(PROGRAMS)})")
    return options


def main(arguments):
    options = parse(arguments)
    place = groups.Place(os.environ)
    watch = groups.Watch(Ended(place.rank), options.stall)
    watch.beat("start", START_S)
    watch.start()
    os.environ.setdefault("RES_OPTIONS", "timeout:1 attempts:1")
    try:
        trainer = Trainer(options, place, watch)
        watch.beat("meeting the others", START_S)
        trainer.join()
        for name in options.programs:
            parameters, times, losses = trainer.play(name)
            if place.rank == 0:
                say(name, options, place, parameters, times, losses)
        watch.beat("the end", START_S)
        trainer.dist.destroy_process_group()
    except Exception:   # whatever PyTorch raises: the text is what remains of the run
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(groups.ERROR)  # no waiting for ranks that may hang
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
