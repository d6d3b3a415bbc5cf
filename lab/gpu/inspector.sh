#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# inspector.sh SOURCE STAGE [option of the program]... - NCCL's Inspector behind ours
#
# SOURCE is plugins/profiler/inspector (ext-profiler/inspector before 2.30) of NCCL's sources; it is copied, and built with
# the machine's CUDA where it holds no library yet. STAGE is an installed nccl-tune. The same collectives run with Inspector
# alone, behind ours while it observes and behind ours while it explores, by nccl-tune-bench on all GPUs; without a GPU, by
# four ranks of the simulated NCCL (then Inspector must be one that needs no CUDA driver, as of NCCL 2.28.9). What Inspector
# wrote of each collective and size on each rank is compared. Its own thread looks at intervals, and misses one now and then,
# alone as well (it is run alone twice): a hundredth of all is let pass, a twentieth of one collective and size on one rank.
# That no event at all is lost, tests/chain shows.
set -euo pipefail
[ $# -ge 2 ] || { sed -n '5,14s/^# \{0,1\}//p' "$0" >&2; exit 2; }
source=$1 stage=$2
shift 2
ours=$stage/lib/nccl-tune/libnccl-tune.so
ranks=$({ nvidia-smi --query-gpu=index --format=csv,noheader 2>/dev/null || :; } | wc -l)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# shellcheck source=tests/lib/policy.bash
. "$(dirname "$0")/../../tests/lib/policy.bash"
cp -R "$source" "$scratch/source"
inspector=$scratch/source/libnccl-profiler-inspector.so
[ -e "$inspector" ] || make -s -C "$scratch/source" -j"$(nproc)" >"$scratch/make.log" 2>&1 ||
	{ cat "$scratch/make.log" >&2; exit 1; }
export NCCL_INSPECTOR_ENABLE=1 NCCL_INSPECTOR_DUMP_MIN_SIZE_BYTES=0 NCCL_INSPECTOR_DUMP_COLL_RING_SIZE=65536
export NCCL_INSPECTOR_DUMP_THREAD_INTERVAL_MICROSECONDS=200
unset "${!NCCL_TUNE@}" NCCL_TUNER_PLUGIN NCCL_PROFILER_PLUGIN

# each EXPRESSION FILE...: what Python makes of each JSON value in the files, called x.
each() {
	local expression=$1
	shift
	cat "$@" | python3 -c "
import json, sys
text = sys.stdin.read().strip()
while text:
    x, end = json.JSONDecoder().raw_decode(text)
    text = text[end:].lstrip()
    print($expression)"
}

simulated() {
	LD_LIBRARY_PATH=/usr/local/cuda/lib64 timeout 300 "$stage/libexec/nccl-tune/tests/nt-fake-nccl" --fork 4 --iters 300 \
		--call-gap-us 3000 --sizes 256K,1M "$@" >"$scratch/$name/out" 2>&1
}

# One process a GPU, which meet in a directory of their own.
on_gpus() {
	local rank pids=()
	mkdir "$scratch/$name/meet"
	for ((rank = 0; rank < ranks; rank++)); do
		timeout 300 "$stage/bin/nccl-tune-bench" --rank "$rank" --ranks "$ranks" --local-rank "$rank" --nodes 1 \
			--rendezvous "$scratch/$name/meet" "$@" >"$scratch/$name/out" &
		pids+=($!)
	done
	for rank in "${pids[@]}"; do
		wait "$rank"
	done
}

# play NAME [option]...
play() {
	local name=$1
	shift
	export NCCL_INSPECTOR_DUMP_DIR=$scratch/$name
	mkdir -m 700 "$scratch/$name"
	if [ "$ranks" -gt 1 ]; then on_gpus "$@"; else simulated "$@"; fi
}

# behind MODE [option]...
behind() {
	local mode=$1
	shift
	mkdir -m 700 "$scratch/step.$mode"
	NCCL_TUNE_POLICY=$(task_policy "$mode" "$scratch/step.$mode") NCCL_TUNE_CHAINED_PROFILER=$inspector \
		NCCL_TUNER_PLUGIN=$ours NCCL_PROFILER_PLUGIN=$ours play "$mode" "$@"
	[ "$(each 'x["plugins"]["profiler"].split()[0]' <(rank_records "$scratch/step.$mode") | sort -u)" = Inspector ]
}

# What Inspector wrote: of each collective, size and rank how often.
written() {
	each 'x["coll_perf"]["coll"], x["coll_perf"]["coll_msg_size_bytes"], x["header"]["rank"]' "$scratch/$1"/*.log |
		sort | uniq -c | awk '{ print $2, $3, $4, $1 }'
}

NCCL_PROFILER_PLUGIN=$inspector play alone "$@"
NCCL_PROFILER_PLUGIN=$inspector play again "$@"
behind observe "$@"
behind bandit "$@"
forced=$(each 'sum(k.get("forced", 0) for c in x["comms"] for k in c["keys"])' <(rank_records "$scratch/step.bandit") |
	awk '{ sum += $1 } END { print sum }')
echo "explored: $forced forced calls"
for name in again observe bandit; do
	join -j 1 <(written alone | sed 's/ /:/;s/ /:/') <(written "$name" | sed 's/ /:/;s/ /:/') -a 1 -e 0 -o 0,1.2,2.2 |
		awk -v name="$name" '{ alone += $2; behind += $3; if ($3 < 0.95 * $2) { bad = 1; print "fewer:", $0 } }
			END { printf "%s: Inspector wrote %d collectives, %d alone\n", name, behind, alone
				exit bad || !alone || behind < 0.99 * alone }'
done
