#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
"""hf.py OUT.json STEPS [ACCUMULATION] - GPT-2 by transformers' Trainer, started by torchrun"""
import faulthandler
import os
import sys
import time

import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainerCallback, TrainingArguments

import result

WORDS = 32000


class Data(torch.utils.data.Dataset):
    def __len__(self):
        return 4096

    def __getitem__(self, i):
        x = torch.randint(0, WORDS, (256,), generator=torch.Generator().manual_seed(i))
        return {"input_ids": x, "labels": x}


class Clock(TrainerCallback):
    times, starts = [], []

    def on_step_begin(self, *_, **__):
        torch.cuda.synchronize()
        self.starts.append(time.perf_counter())

    def on_step_end(self, *_, **__):
        torch.cuda.synchronize()
        self.times.append(time.perf_counter() - self.starts[-1])


out, steps = sys.argv[1], int(sys.argv[2])
faulthandler.dump_traceback_later(150, exit=True)
torch.manual_seed(1)
model = GPT2LMHeadModel(GPT2Config(n_layer=6, n_head=12, n_embd=768, vocab_size=WORDS, attn_pdrop=0, embd_pdrop=0, resid_pdrop=0))
options = TrainingArguments(output_dir=out + ".hf", per_device_train_batch_size=4, max_steps=steps, bf16=True,
                            gradient_accumulation_steps=int(sys.argv[3]) if len(sys.argv) > 3 else 1, report_to=[], save_strategy="no", logging_steps=20, disable_tqdm=True, dataloader_num_workers=2)
trainer = Trainer(model=model, args=options, train_dataset=Data(), callbacks=[Clock()])
trainer.train()
if os.environ["RANK"] == "0":
    losses = [round(x["loss"], 4) for x in trainer.state.log_history if "loss" in x]
    result.write(out, int(os.environ["WORLD_SIZE"]), Clock.times, losses, Clock.starts)
