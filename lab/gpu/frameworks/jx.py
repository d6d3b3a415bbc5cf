#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
"""jx.py OUT.json STEPS - data parallel training in JAX, started by srun, a task a GPU"""
import faulthandler
import os
import sys
import time

os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

import result

WIDTH, LAYERS, BATCH = 2048, 8, 64

out, steps = sys.argv[1], int(sys.argv[2])
faulthandler.dump_traceback_later(150, exit=True)
rank, world = int(os.environ["SLURM_PROCID"]), int(os.environ["SLURM_NTASKS"])
jax.distributed.initialize(f"{os.environ['MASTER_ADDR']}:{os.environ['MASTER_PORT']}", world, rank, local_device_ids=[0])
mesh = Mesh(np.array(jax.devices()), ("data",))
everywhere, spread = NamedSharding(mesh, PartitionSpec()), NamedSharding(mesh, PartitionSpec("data"))
keys = jax.random.split(jax.random.PRNGKey(1), LAYERS)
weights = jax.device_put([np.asarray(jax.random.normal(key, (WIDTH, WIDTH)) * 0.02) for key in keys], everywhere)


def loss_of(weights, x):
    h = x
    for w in weights:
        h = jax.nn.gelu(h @ w) + h
    return jnp.mean((h - x[:, ::-1]) ** 2)


@jax.jit
def train(weights, x):
    loss, gradients = jax.value_and_grad(loss_of)(weights, x)
    return [w - 1e-2 * g for w, g in zip(weights, gradients)], loss


def batch(i):
    x = np.random.default_rng(100 * rank + i).standard_normal((BATCH, WIDTH), dtype=np.float32)
    return jax.make_array_from_process_local_data(spread, x)


batches, times, losses, starts = [batch(i) for i in range(8)], [], [], []
for step in range(steps):
    starts.append(time.perf_counter())
    weights, loss = train(weights, batches[step % 8])
    jax.block_until_ready((weights, loss))
    times.append(time.perf_counter() - starts[-1])
    if step % 20 == 0:
        losses.append(round(float(loss), 5))
if rank == 0:
    result.write(out, world, times, losses, starts)
