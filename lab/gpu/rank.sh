#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# rank.sh DIR CMD...: one task. Each of Slurm's nodes is a host of its own to NCCL, though all are on this machine; each
# task has processors of its own, as a cluster gives them; the record that the plugin leaves is copied to DIR before the
# node's memory goes away.
export NCCL_HOSTID=$SLURMD_NODENAME
[ -z "${NT_GPU_NCCL:-}" ] || export LD_PRELOAD=$NT_GPU_NCCL/libnccl.so.2
out=$1
shift
rc=0
each=$(($(nproc) / SLURM_NTASKS))
if [ "$each" -ge 2 ]; then
	first=$((SLURM_PROCID * each))
	taskset -p -c "$first-$((first + each - 1))" $$ >/dev/null || :
fi
"$@" || rc=$?
if [[ ${NCCL_TUNE_POLICY:-} = *,shm=* ]]; then
	list=("${NCCL_TUNER_PLUGIN%/lib/*}/libexec/nccl-tune/tests/nt-record" list "${NCCL_TUNE_POLICY##*,shm=}")
	"${list[@]}" | jq -c "select(.task == $SLURM_PROCID)" >"$out/rank.$SLURM_PROCID.json"
	# Nodes are one host: each node's dumps under its name.
	if [ -n "${NT_GPU_DUMPS:-}" ] && [ "$SLURM_LOCALID" = 0 ]; then
		"${list[@]}" 3 >"$NT_GPU_DUMPS/nccl-graphs.xml.$SLURMD_NODENAME"
		"${list[@]}" 4 >"$NT_GPU_DUMPS/nccl-system.xml.$SLURMD_NODENAME"
	fi
fi
exit "$rc"
