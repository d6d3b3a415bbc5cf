# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
# What the tests that need GPUs (run.sh) load into NCCL, and their scripts.

# A probe: what NCCL tells a plugin, written down. Built like a shipped module, not installed.
noinst_PROGRAMS += lab/gpu/nt-probe.so
lab_gpu_nt_probe_so_SOURCES = %D%/probe.c %D%/probe.h %D%/probe_rows.c
lab_gpu_nt_probe_so_LDADD = libnt-contract.a
lab_gpu_nt_probe_so_LDFLAGS = $(module_ldflags) $(NT_NO_UNDEFINED) -Wl,-z,nodelete

# A tuner that holds NCCL to one arm for each collective and size.
noinst_PROGRAMS += lab/gpu/nt-fixed.so
lab_gpu_nt_fixed_so_SOURCES = %D%/fixed.c
lab_gpu_nt_fixed_so_LDADD = libnt-contract.a
lab_gpu_nt_fixed_so_LDFLAGS = $(lab_gpu_nt_probe_so_LDFLAGS)

EXTRA_DIST += \
	%D%/auto.bash \
	%D%/auto_summary.py \
	%D%/batch-job.sh \
	%D%/batch.bash \
	%D%/correct.bash \
	%D%/correct_summary.py \
	%D%/frameworks.bash \
	%D%/frameworks/hf.py \
	%D%/frameworks/jx.py \
	%D%/frameworks/lit.py \
	%D%/frameworks/result.py \
	%D%/frameworks/train.py \
	%D%/frameworks_summary.py \
	%D%/groups.bash \
	%D%/groups.py \
	%D%/groups_summary.py \
	%D%/host.sh \
	%D%/inspector.sh \
	%D%/mps.bash \
	%D%/nccl-tests.sh \
	%D%/ncclperf.bash \
	%D%/ncclperf_summary.py \
	%D%/own-host.sh \
	%D%/nets.bash \
	%D%/pack.sh \
	%D%/page.py \
	%D%/plot.py \
	%D%/rank.sh \
	%D%/run.sh \
	%D%/settle.bash \
	%D%/settle.py \
	%D%/shm-task.sh \
	%D%/shm.bash \
	%D%/shm_summary.py \
	%D%/slurm.bash \
	%D%/summaries.bats \
	%D%/summary.py \
	%D%/tables.bash \
	%D%/tables_summary.py \
	%D%/train.py \
	%D%/training.py \
	%D%/wire.py
