#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# 20-record-rank.sh [STATE [CMD...]] - leave a rank record as the NCCL plugin of a task does, then run CMD
#
# One communicator of all ranks, one key in STATE (default committed). RANK_COMM, RANK_WHY, RANK_ARM and RANK_BYTES
# change it; RANK_PID: the process, which may write again.
set -eu

state=${1:-committed}
[ $# -gt 0 ] && shift
[[ ,$NCCL_TUNE_POLICY, =~ ,id=([0-9]+)\.([0-9]+), ]]
job=${BASH_REMATCH[1]} step=${BASH_REMATCH[2]}
comm=agreed
[ -z "${RANK_WHY:-}" ] || comm=rejected

{
	printf '{"v":1,"job":%d,"step":%d,"task":%d,"pid":%d,"node":"%s",' "$job" "$step" "$SLURM_PROCID" $$ \
		"$SLURMD_NODENAME"
	printf '"mode":"bandit","policy":"bandit","nccl":22809,"flags":0,"end":true,"counts":{},"comms":['
	printf '{"id":"%s","rank":%d,"ranks":%d,"nodes":%d,"state":"%s","why":"%s","keys":[' "${RANK_COMM:-00f3}" \
		"$SLURM_PROCID" "$SLURM_NTASKS" "$SLURM_NNODES" "$comm" "${RANK_WHY:-}"
	printf '{"coll":"AllReduce","bytes":%d,"state":"%s","auto":"RING/SIMPLE","arm":"%s",' \
		"${RANK_BYTES:-262144}" "$state" "${RANK_ARM:-TREE/SIMPLE}"
	printf '"us":[280.1,173.2],"p":0.0001,"samples":24,"spent_calls":135,"spent_ms":12.3,'
	printf '"saved_ms":456.7,"calls":10000,"forced":9865,"differed":0}]}]}\n'
} | "$NT_TESTS/nt-record" put "${NCCL_TUNE_POLICY##*,shm=}" "$SLURM_PROCID" "${RANK_PID:-$$}"
[ $# -eq 0 ] || exec "$@"
