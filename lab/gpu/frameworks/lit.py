#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
"""lit.py OUT.json STEPS - DDP by Lightning, which finds Slurm by itself; started by srun, a task a GPU"""
import faulthandler
import os
import sys
import time

import torch
import torch.nn as nn

try:
    import lightning as L
except ImportError:
    import pytorch_lightning as L

import result

WIDTH, LAYERS, BATCH = 2048, 8, 64


class Model(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(*[m for _ in range(LAYERS) for m in (nn.Linear(WIDTH, WIDTH), nn.GELU())], nn.Linear(WIDTH, 10))
        self.times, self.losses, self.starts = [], [], []

    def training_step(self, batch, i):
        x, y = batch
        loss = nn.functional.cross_entropy(self.net(x), y)
        if i % 20 == 0:
            self.losses.append(round(loss.item(), 4))
        return loss

    def on_train_batch_start(self, batch, i):
        torch.cuda.synchronize()
        self.starts.append(time.perf_counter())

    def on_train_batch_end(self, outputs, batch, i):
        torch.cuda.synchronize()
        self.times.append(time.perf_counter() - self.starts[-1])

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 1e-2)


out, steps = sys.argv[1], int(sys.argv[2])
faulthandler.dump_traceback_later(150, exit=True)
generator = torch.Generator().manual_seed(1)
rows = BATCH * steps * 2
data = torch.utils.data.TensorDataset(torch.randn(rows, WIDTH, generator=generator), torch.randint(0, 10, (rows,), generator=generator))
L.seed_everything(1, verbose=False)
model = Model()
trainer = L.Trainer(accelerator="gpu", devices=1, num_nodes=int(os.environ["SLURM_NNODES"]), strategy="ddp", max_steps=steps,
                    logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False)
trainer.fit(model, torch.utils.data.DataLoader(data, batch_size=BATCH))
if trainer.global_rank == 0:
    result.write(out, trainer.world_size, model.times, model.losses, model.starts)
