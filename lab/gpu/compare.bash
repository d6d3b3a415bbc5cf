# shellcheck shell=bash disable=SC2154
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# NCCL's own choice against the plugin, run by turns in one allocation; and many short runs in a row.
# Part of lab/gpu/run.sh.

readonly SIZES=64K,256K,1M,16M,64M
readonly HANG_SIZES=64K,256K,1M
readonly STEP_S=90 HANG_STEP_S=45

# Rounds over all sizes, and how many of the last are compared. One node is so fast that what passes is time, not
# calls, until nodes and ranks have agreed.
rounds_of() {
	case $1:$2 in
	1x*:off) echo 3000 1500 ;;
	1x*:bandit) echo 6000 1500 ;;
	*:off) echo 100 60 ;;
	*) echo 340 80 ;;
	esac
}

bench_command() {
	local topology=$1 mode=$2 rounds part
	read -r rounds part < <(rounds_of "$topology" "$mode")
	if [ -n "$dry" ]; then
		command_line=("$stage/libexec/nccl-tune/tests/nt-fake-nccl" --sizes "$SIZES" --iters 400
			--call-gap-us 500 --trace "$top/tests/traces/h200-2x4-seq.csv,2x4"
			--auto-picks "$top/tests/traces/h200-auto-picks.csv")
	else
		command_line=("$bench" --sizes "$SIZES" --iters "$rounds" --phase-report "$part" --warmup 5
			--check 50 --rendezvous "$work/meet" --stall 45)
	fi
}

# compare_topology NODESxTASKS SECONDS: pairs of runs until all are made or the time is up.
compare_topology() {
	local topology=$1 nodes=${1%x*} tasks=${1#*x} end=$((SECONDS + $2)) k mode last=0 start
	allocate "$nodes" "$tasks" || { say "$topology: no allocation"; return 1; }
	for ((k = 1; k <= pairs; k++)); do
		start=$SECONDS
		if [ "$k" -gt 1 ] && [ $((SECONDS + last)) -gt "$end" ]; then
			say "$topology: no time for pair $k to $pairs"
			break
		fi
		for mode in off bandit; do
			bench_command "$topology" "$mode"
			step "$raw/compare.$topology.$mode.$k" "$STEP_S" "$nodes" "$tasks" "$mode" \
				"${command_line[@]}" || say "$topology $mode run $k: exit status $?"
		done
		last=$((SECONDS - start))
	done
	keep_report "$topology"
	release
	say "$topology: $((k - 1)) pairs, at $SECONDS s"
}

# What the job's record says, while the controller still has the job.
keep_report() {
	timeout 10 scontrol -o show job "$job" >"$raw/job.$1.txt" 2>&1
	timeout 10 "$stage/bin/nccl-tune" report "$job" >"$raw/report.$1.txt" 2>&1
	timeout 10 "$stage/bin/nccl-tune" report "$job" --json >"$raw/report.$1.json" 2>/dev/null
}

# compare SECONDS
compare() {
	local end=$((SECONDS + $1)) topology left=${#topologies[@]}
	for topology in "${topologies[@]}"; do
		compare_topology "$topology" $(((end - SECONDS) / left))
		left=$((left - 1))
	done
}

# Short jobs, one after the other: communicators of all ranks and of parts, several nodes. NCCL's own log says which
# algorithm each call took (rank 0 writes it; summary.py compares).
hang_command() {
	if [ -n "$dry" ]; then
		command_line=("$stage/libexec/nccl-tune/tests/nt-fake-nccl" --sizes "$HANG_SIZES" --iters 300
			--call-gap-us 500)
		return
	fi
	command_line=("$bench" --sizes "$HANG_SIZES" --iters 4000 --warmup 0 --check 200 --rendezvous "$work/meet"
		--stall 30)
	if [ $(($1 % 3)) = 0 ] && [ "$gpus" -ge 4 ]; then
		command_line+=(--split "block:$((gpus / 2))" --coll "allreduce,allgather")
	fi
}

# hang_runs SECONDS
hang_runs() {
	local end=$((SECONDS + $1)) k topology several=() last=0 start
	for topology in "${topologies[@]}"; do
		[ "${topology%x*}" = 1 ] || several+=("$topology")
	done
	for ((k = 1; k <= hangs; k++)); do
		start=$SECONDS
		[ $((SECONDS + last)) -le "$end" ] || { say "no time for runs $k to $hangs"; break; }
		topology=${several[k % ${#several[@]}]}
		hang_command "$k"
		allocate "${topology%x*}" "${topology#*x}" || { say "run $k: no allocation"; continue; }
		NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=TUNING NCCL_DEBUG_FILE="$raw/hang.$topology.bandit.$k/nccl.%p.log" \
			step "$raw/hang.$topology.bandit.$k" "$HANG_STEP_S" "${topology%x*}" "${topology#*x}" bandit \
			"${command_line[@]}" || say "run $k ($topology): exit status $?"
		release
		last=$((SECONDS - start))
	done
	say "$((k - 1)) short runs, at $SECONDS s"
}
