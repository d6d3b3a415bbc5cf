#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# rank.sh DIR CMD...: one task. Each of Slurm's nodes is a host of its own to NCCL, though all are on this machine; each
# task has processors of its own, as a cluster gives them; the record that the plugin leaves is copied to DIR before the
# step's directory goes away.
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
if [[ ${NCCL_TUNE_POLICY:-} = *dir=* ]]; then
	run=${NCCL_TUNE_POLICY#*dir=}
	cp "${run%%,*}"/rank."$SLURM_PROCID".*.json "$out"/ 2>/dev/null
	# Nodes are one host: each node's files under its name.
	if [ -n "${NT_GPU_DUMPS:-}" ] && [ "$SLURM_LOCALID" = 0 ]; then
		for file in "${run%%,*}"/nccl-*.xml; do
			[ ! -e "$file" ] || cp "$file" "$NT_GPU_DUMPS/${file##*/}.$SLURMD_NODENAME"
		done
	fi
fi
exit "$rc"
