#!/bin/bash
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# rank.sh DIR SHAPE ITERS PROGRAM [option]...: one task of a job that loses a rank
#
#   pair    two programs in one step, which know nothing of each other: the first tasks of all nodes are one world,
#           the second tasks another. Node leaders are ranks of the first.
#   node    one world, and a communicator within each node
#
# Writes DIR/pid.TASK, DIR/out.TASK and DIR/err.TASK. The wire lies in DIR, too.
dir=$1 shape=$2 iters=$3
shift 3

task=$SLURM_PROCID tasks=$SLURM_NTASKS
echo "$$" >"$dir/pid.$task"
options=(--iters "$iters")
if [ "$shape" = pair ]; then
	# The simulated NCCL takes its world from these; the plugin and PMIx get back what Slurm said.
	per_node=$((SLURM_NTASKS / SLURM_NNODES))
	export SLURM_PROCID=$((task / per_node)) SLURM_NTASKS=$SLURM_NNODES
	options+=(--wire "$dir/$SLURM_LOCALID" --env "SLURM_PROCID=$task" --env "SLURM_NTASKS=$tasks")
else
	options+=(--wire "$dir/0" --comms world+node)
fi
exec "$@" "${options[@]}" >"$dir/out.$task" 2>"$dir/err.$task"
