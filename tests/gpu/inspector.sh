#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# inspector.sh SOURCE STAGE [option of nccl-tune-bench]... - NCCL's Inspector behind ours, on a machine with GPUs
#
# SOURCE is plugins/profiler/inspector (ext-profiler/inspector before 2.30) of NCCL's sources; it is copied and built with
# the machine's CUDA. STAGE is an installed nccl-tune with nccl-tune-bench. The same collectives run with Inspector alone
# and with it behind ours, observing; the last line compares how many of each it wrote down.
set -euo pipefail
[ $# -ge 2 ] || { sed -n '5,10s/^# \{0,1\}//p' "$0" >&2; exit 2; }
source=$1 stage=$2
shift 2
ours=$stage/lib/nccl-tune/libnccl-tune.so
ranks=$(nvidia-smi --query-gpu=index --format=csv,noheader | wc -l)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp -R "$source" "$scratch/source"
make -s -C "$scratch/source" -j"$(nproc)"
inspector=$scratch/source/libnccl-profiler-inspector.so
mkdir -m 700 "$scratch/step" "$scratch/alone" "$scratch/behind"
export NCCL_INSPECTOR_ENABLE=1 NCCL_INSPECTOR_DUMP_MIN_SIZE_BYTES=0 NCCL_INSPECTOR_DUMP_COLL_RING_SIZE=65536
# shellcheck source=tests/lib/policy.bash
. "$(dirname "$0")/../lib/policy.bash"
policy=$(task_policy observe "$scratch/step")

# bench NAME [option]...: one process a GPU, which meet in a directory of their own.
bench() {
	local name=$1 rank pids=()
	shift
	mkdir "$scratch/$name/meet"
	for ((rank = 0; rank < ranks; rank++)); do
		NCCL_INSPECTOR_DUMP_DIR=$scratch/$name timeout 300 "$stage/bin/nccl-tune-bench" --rank "$rank" \
			--ranks "$ranks" --local-rank "$rank" --nodes 1 --rendezvous "$scratch/$name/meet" "$@" &
		pids+=($!)
	done
	for rank in "${pids[@]}"; do
		wait "$rank"
	done
}

# What Inspector wrote of each collective: how often.
written() {
	cat "$scratch/$1"/*.log | jq -r '.coll_perf.coll // empty' | sort | uniq -c
}

NCCL_PROFILER_PLUGIN=$inspector bench alone "$@"
NCCL_TUNE_POLICY=$policy NCCL_TUNE_CHAINED_PROFILER=$inspector NCCL_TUNER_PLUGIN=$ours NCCL_PROFILER_PLUGIN=$ours \
	bench behind "$@"
jq -e '.plugins.profiler == "Inspector (v5)"' "$scratch"/step/rank.*.json >/dev/null
written alone
written behind
if cmp -s <(written alone) <(written behind); then
	echo "Inspector wrote the same number of collectives alone and behind ours"
else
	echo "Inspector wrote another number of collectives behind ours" >&2
	exit 1
fi
