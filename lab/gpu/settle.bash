# shellcheck shell=bash disable=SC2154
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# Questions about NCCL that only hardware answers, put with a probe plugin in place of ours. No Slurm: the processes
# are started here. Part of lab/gpu/run.sh; settle.py reads what these runs leave.

readonly SETTLE_S=40		# no run may take longer
readonly ARMS=AUTO,RING/SIMPLE,TREE/SIMPLE,RING/LL,TREE/LL,RING/LL128,TREE/LL128,PAT/SIMPLE
readonly COLL=2 KERNEL_CH=64 KERNEL_LAUNCH=2048

# direct NAME NODESxTASKS [NAME=VALUE]... -- BENCH-OPTION...: ranks as plain processes, nodes by NCCL_HOSTID.
direct() {
	local dir=$raw/settle.$1 nodes=${2%x*} tasks=${2#*x} vars=() rank pids=() pid rc=0 one start limit
	shift 2
	while [ "$1" != -- ]; do
		vars+=("$1")
		shift
	done
	shift
	limit=$((settle_end - SECONDS < SETTLE_S ? settle_end - SECONDS : SETTLE_S))
	[ "$limit" -ge 5 ] || { say "no time for ${dir##*/}"; return 0; }
	mkdir -p "$dir/meet"
	start=$(date +%s.%N)
	for ((rank = 0; rank < nodes * tasks; rank++)); do
		env "${vars[@]}" NT_PROBE_DIR="$dir" NCCL_HOSTID="node$((rank / tasks))" NCCL_DEBUG=INFO \
			NCCL_DEBUG_SUBSYS=INIT NCCL_DEBUG_FILE="$dir/nccl.$rank.log" timeout -k 3 "$limit" "$bench" \
			--rank "$rank" --ranks $((nodes * tasks)) --local-rank $((rank % tasks)) --nodes "$nodes" \
			--rendezvous "$dir/meet" --stall 15 "$@" </dev/null >>"$dir/out" 2>>"$dir/err" &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do
		one=0
		wait "$pid" || one=$?
		[ "$one" = 0 ] || rc=$one
	done
	echo "$rc $(awk -v a="$start" -v b="$(date +%s.%N)" 'BEGIN { printf "%.1f", b - a }')" >"$dir/status"
	say "settle ${dir##*/settle.}: exit status $rc, at $SECONDS s"
}

# Tables, channels, times, first uses: every algorithm in turn, five rounds each.
settle_tables() {
	local topology
	for topology in "${topologies[@]}"; do
		direct "tables-$topology" "$topology" "${plugin[@]}" NT_PROBE_ARMS="$ARMS" NT_PROBE_BLOCK=75 \
			NT_PROBE_MASKS=$((COLL | KERNEL_CH)) -- --iters 80 --warmup 0 --sizes 64K,1M,16M \
			--coll allreduce,allgather,reducescatter,broadcast,reduce --samples "$raw/settle.tables-$topology/samples.csv"
	done
}

# What the events cost: masks by turns, in long blocks and in every call.
settle_masks() {
	local sizes=8,256,1K,4K,16K,64K,256K,1M one=1x$gpus
	direct masks "$one" "${plugin[@]}" NT_PROBE_BLOCK=800 NT_PROBE_MASKS=0,$COLL,$((COLL | KERNEL_CH)) -- \
		--iters 1800 --warmup 0 --sizes "$sizes" --samples "$raw/settle.masks/samples.csv"
	direct toggle "$one" "${plugin[@]}" NT_PROBE_BLOCK=8 NT_PROBE_MASKS=0,$((COLL | KERNEL_CH)) -- \
		--iters 600 --warmup 0 --sizes "$sizes" --samples "$raw/settle.toggle/samples.csv"
	direct plain "$one" NCCL_TUNER_PLUGIN=none NCCL_PROFILER_PLUGIN=none -- \
		--iters 600 --warmup 0 --sizes "$sizes" --samples "$raw/settle.plain/samples.csv"
}

# Two clocks on the GPU beside the host's: KernelCh stamps, and CUDA events recorded inside KernelLaunch callbacks.
settle_clocks() {
	local topology
	for topology in "${topologies[@]}"; do
		direct "clocks-$topology" "$topology" "${plugin[@]}" NT_PROBE_ARMS="$ARMS" NT_PROBE_BLOCK=40 \
			NT_PROBE_LAUNCH=1 NT_PROBE_MASKS=$((COLL | KERNEL_CH | KERNEL_LAUNCH)) -- --iters 160 --warmup 0 \
			--sizes 64K,256K,1M,16M --samples "$raw/settle.clocks-$topology/samples.csv"
	done
}

# Kernel times after a communicator's end, bursts.
settle_events() {
	local half=2x$((gpus / 2)) part=$((gpus > 2 ? gpus / 2 : 2))
	direct late "$half" "${plugin[@]}" NT_PROBE_MASKS=$((COLL | KERNEL_CH)) -- --iters 50 --mode burst \
		--sizes 64K,1M --split "block:$part" --split-share
	direct burst "1x$gpus" "${plugin[@]}" NT_PROBE_MASKS=$((COLL | KERNEL_CH)) -- --iters 30 --mode burst \
		--sizes 64K,1M,16M,64M
}

# Captured and plain calls by turns on one communicator. graph-A-B: events A at the capture and for 100 decisions, then
# B, and so on. Without a plugin as well; and a simulated call, on one rank and on all.
settle_graphs() {
	local masks name nothing=(NCCL_TUNER_PLUGIN=none NCCL_PROFILER_PLUGIN=none)
	direct graph-none "1x$gpus" "${nothing[@]}" -- --iters 100 --mode mixed --burst 4 --sizes 64K,1M --stall 8
	for masks in 66 0,2 2,66 0,66; do
		name=graph-${masks/,/-}
		direct "$name" "1x$gpus" "${plugin[@]}" NT_PROBE_BLOCK=100 NT_PROBE_MASKS="$masks" -- --iters 100 \
			--mode mixed --burst 4 --sizes 64K,1M --stall 8
	done
	direct simulate-one 1x2 "${nothing[@]}" -- --iters 20 --sizes 64K --simulate-on 0@5 --check 1 --stall 5
	direct simulate-all 1x2 "${nothing[@]}" -- --iters 20 --sizes 64K --simulate-on all@5 --check 1 --stall 5
}

# settle SECONDS
settle() {
	local plugin=(NCCL_TUNER_PLUGIN="$probe" NCCL_PROFILER_PLUGIN="$probe") settle_end=$((SECONDS + $1))
	[ -e "$probe" ] || { say "settle: no $probe"; return 1; }
	settle_tables
	settle_clocks
	settle_masks
	settle_events
	settle_graphs
}
