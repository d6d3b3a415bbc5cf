#!/bin/sh
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# host.sh - Slurm's TaskProlog: each of its nodes is a host of its own to NCCL, and each task has processors of its own,
# also in steps that do not start by rank.sh.
echo "export NCCL_HOSTID=$SLURMD_NODENAME"
[ -z "${NT_GPU_NCCL:-}" ] || echo "export LD_PRELOAD=$NT_GPU_NCCL/libnccl.so.2"
each=$(($(nproc) / ${SLURM_NTASKS:-1}))
if [ "$each" -ge 2 ] && [ -n "${SLURM_TASK_PID:-}" ]; then
	first=$((SLURM_PROCID * each))
	taskset -p -c "$first-$((first + each - 1))" "$SLURM_TASK_PID" >/dev/null 2>&1
fi
exit 0
