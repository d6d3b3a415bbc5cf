# shellcheck shell=bash disable=SC2054,SC2154
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# NCCL's own choice, the best arm that never changes, and the plugin, by turns in one allocation, each in a process with
# one communicator: each collective and size for itself, alone and beside a matrix product, over loopback sockets and
# over a shaped link.
# Part of lab/gpu/run.sh; cells_summary.py reads what these runs leave.

readonly CELL_COLLS=allreduce,allgather,reducescatter
readonly CELL_SIZES=32K,256K,2M,16M,64M,256M LOAD_SIZES=32K,256K,2M,16M,64M SHAPED_SIZES=32K,256K,2M,16M
readonly CELL_EVEN=16M			# 64M in every second round, 256M in every fourth
readonly LL_MOST=4194304 LL128_MOST=67108864	# beyond it is not tried: half, or 15 of 16 bytes are data
readonly CELL_LOAD=gemm:1024
readonly CELL_ROUNDS_MOST=60000 CELL_START_S=4	# what a run takes beside its rounds, until one was seen
readonly CELL_STALL_S=30

# cell_seconds CONDITION TOPOLOGY MODE: seconds of exploring and of the part that is compared. The larger sizes must be
# called often enough; in one node all runs take the same time, for there it shows how warm the machine is.
cell_seconds() {
	case $1:$2:$3 in
	*:sweep) echo 7 2 ;;
	*:1x*:bandit) echo 7 3 ;;
	*:1x*:*) echo 5 3 ;;
	alone:2x*:bandit|shaped*:bandit) echo 20 5 ;;
	alone:*:bandit) echo 30 5 ;;
	load:2x*:bandit) echo 12 5 ;;
	*:bandit) echo 18 5 ;;
	*) echo 1 5 ;;
	esac
}

# cell_sizes CONDITION TOPOLOGY: between nodes, beside a product or over a slow link, the largest would take all the time.
cell_sizes() {
	case $1:$2 in
	shaped*) echo "$SHAPED_SIZES" ;;
	load:[24]x*) echo "$LOAD_SIZES" ;;
	*) echo "$CELL_SIZES" ;;
	esac
}

# Arms that NCCL has there: between nodes LL128 is not legal, PAT wants one rank a node.
cell_arms() {
	case $1 in
	1x*) echo RING/SIMPLE RING/LL RING/LL128 TREE/SIMPLE TREE/LL TREE/LL128 ;;
	*x1) echo RING/SIMPLE RING/LL TREE/SIMPLE TREE/LL PAT/SIMPLE ;;
	*) echo RING/SIMPLE RING/LL TREE/SIMPLE TREE/LL ;;
	esac
}

bytes_of() {
	local number=${1%[KM]}
	case $1 in
	*K) echo $((number << 10)) ;;
	*M) echo $((number << 20)) ;;
	*) echo "$number" ;;
	esac
}

# sweep_plan SIZES ARM...: what is tried to find the best arm (nccl-tune-bench --plan).
sweep_plan() {
	local sizes coll arm size bytes
	IFS=, read -ra sizes <<<"$1"
	shift
	for coll in ${CELL_COLLS//,/ }; do
		for size in "${sizes[@]}"; do
			bytes=$(bytes_of "$size")
			for arm; do
				case $arm in
				*/LL) [ "$bytes" -le "$LL_MOST" ] || continue ;;
				*/LL128) [ "$bytes" -le "$LL128_MOST" ] || continue ;;
				esac
				echo "$coll $bytes $arm"
			done
		done
	done
}

# cell_command CONDITION TOPOLOGY off|best|bandit|sweep PLAN: sets command_line.
cell_command() {
	local sizes check=100 explore last
	sizes=$(cell_sizes "$1" "$2")
	[[ $2 != 1x* ]] || check=500
	read -r explore last < <(cell_seconds "$1" "$2" "$3")
	if [ -n "$dry" ]; then
		command_line=("$stage/libexec/nccl-tune/tests/nt-fake-nccl" --coll "$CELL_COLLS" --sizes 32K,256K,2M
			--iters 400 --call-gap-us 200 --trace "$top/tests/traces/h200-2x4-seq.csv,2x4"
			--auto-picks "$top/tests/traces/h200-auto-picks.csv")
		return
	fi
	command_line=("$bench" --coll "$CELL_COLLS" --sizes "$sizes" --even "$CELL_EVEN" --align --seconds "$explore"
		--last-seconds "$last" --iters "$CELL_ROUNDS_MOST" --warmup 2 --check "$check" --rendezvous "$work/meet"
		--stall "$CELL_STALL_S")
	[[ $1 != *load ]] || command_line+=(--load "$CELL_LOAD")
	case $3 in
	sweep) command_line+=(--plan "$4" --arms "$(awk '{ print $3 }' "$4" | sort -u | paste -sd,)") ;;
	best) command_line=(env NCCL_TUNER_PLUGIN="$fixed" NT_FIXED_PLAN="$4" "${command_line[@]}") ;;
	esac
}

# cell_step CONDITION TOPOLOGY off|best|bandit|sweep NUMBER PLAN
cell_step() {
	local condition=$1 topology=$2 mode=$3 number=$4 policy=off limit rc=0 explore last
	[ "$mode" != bandit ] || policy=bandit
	cell_command "$condition" "$topology" "$mode" "$5"
	read -r explore last < <(cell_seconds "$condition" "$topology" "$mode")
	limit=$((explore + last + 60))
	step "$raw/cells-$condition.$topology.$mode.$number" "$limit" "${topology%x*}" "${topology#*x}" "$policy" \
		"${command_line[@]}" || rc=$?
	[ "$rc" = 0 ] || say "cells $condition $topology $mode $number: exit status $rc"
	return "$rc"
}

# Which arm is best for each collective and size: tried in one process, call by call in turn, on communicators of their
# own; that slows all of them, so no time of this run is compared with another run's.
find_best_arms() {
	local condition=$1 topology=$2 arms
	read -ra arms < <(cell_arms "$topology")
	sweep_plan "$(cell_sizes "$condition" "$topology")" "${arms[@]}" >"$work/sweep.plan"
	cell_step "$condition" "$topology" sweep 1 "$work/sweep.plan"
	timeout 30 python3 "$here/cells_summary.py" --best "$raw/cells-$condition.$topology.sweep.1" >"$work/best.plan"
	cp "$work/best.plan" "$raw/cells-$condition.$topology.sweep.1/best"
	say "cells $condition $topology: $(wc -l <"$work/best.plan") best arms of ${#arms[@]}, at $SECONDS s"
}

# cell_round_seconds CONDITION TOPOLOGY: what a round takes, three runs.
cell_round_seconds() {
	local a b c d
	read -r a b < <(cell_seconds "$1" "$2" off)
	read -r c d < <(cell_seconds "$1" "$2" bandit)
	echo $((2 * (a + b) + c + d + 3 * CELL_START_S))
}

# cell_topology CONDITION TOPOLOGY SECONDS: rounds until all are made or the time is up.
cell_topology() {
	local condition=$1 topology=$2 end=$((SECONDS + $3)) k mode order takes
	takes=$(cell_round_seconds "$condition" "$topology")
	if [ $((SECONDS + takes + CELL_START_S)) -gt "$end" ]; then
		say "cells $condition $topology: no time"
		return
	fi
	allocate "${topology%x*}" "${topology#*x}" || { say "cells $topology: no allocation"; return 1; }
	find_best_arms "$condition" "$topology"
	for ((k = 1; k <= cell_rounds; k++)); do
		if [ "$k" -gt 1 ] && [ $((SECONDS + takes)) -gt "$end" ]; then
			say "cells $condition $topology: no time for rounds $k to $cell_rounds"
			break
		fi
		order=(off best bandit off best)
		for mode in "${order[@]:$((k % 3)):3}"; do
			[ "$mode" != best ] || [ -s "$work/best.plan" ] || continue
			cell_step "$condition" "$topology" "$mode" "$k" "$work/best.plan"
		done
		write_results
	done
	keep_report "cells-$condition-$topology"
	release
	say "cells $condition $topology: $((k - 1)) rounds, at $SECONDS s"
}

# The topologies of a condition: one node has no network.
cell_topologies() {
	local topology
	for topology in "${topologies[@]}"; do
		[[ $1 = shaped* && $topology = 1x* ]] || echo "$topology"
	done
}

# cell_condition CONDITION SECONDS: each topology has the share of the time that its rounds are of all rounds.
cell_condition() {
	local condition=$1 end=$((SECONDS + $2)) some=() topology takes all
	mapfile -t some < <(cell_topologies "$condition")
	[ ${#some[@]} -gt 0 ] || return 0
	[[ $condition != shaped* ]] || to_shaped || return 0
	all=$(condition_seconds "$condition")
	for topology in "${some[@]}"; do
		takes=$(cell_round_seconds "$condition" "$topology")
		cell_topology "$condition" "$topology" $(((end - SECONDS) * takes / all))
		all=$((all - takes))
	done
	[[ $condition != shaped* ]] || to_loopback
}

# What a round of all topologies of a condition takes.
condition_seconds() {
	local topology all=0
	for topology in $(cell_topologies "$1"); do
		all=$((all + $(cell_round_seconds "$1" "$topology")))
	done
	echo "$all"
}

# Slurm's nodes into namespaces, and back.
to_shaped() {
	slurm_down
	if nets_up "$SLURM_NODES"; then
		net_cluster_options "$SLURM_NODES"
		export NCCL_SOCKET_IFNAME=$NET_DEVICE
		if slurm_up "${net_options[@]}" && timeout 30 srun -N"$SLURM_NODES" -n"$SLURM_NODES" true; then
			return 0
		fi
		say "shaped network: Slurm did not come up in it"
	fi
	to_loopback
	return 1
}

to_loopback() {
	slurm_down
	nets_down
	export NCCL_SOCKET_IFNAME=lo
	slurm_up || say "Slurm did not come up again"
}

# cells SECONDS: each condition has the share of the time that its rounds are of all rounds.
cells() {
	local end=$((SECONDS + $1)) condition takes all=0
	for condition in "${conditions[@]}"; do
		all=$((all + $(condition_seconds "$condition")))
	done
	for condition in "${conditions[@]}"; do
		takes=$(condition_seconds "$condition")
		[ "$takes" = 0 ] || cell_condition "$condition" $(((end - SECONDS) * takes / all))
		all=$((all - takes))
	done
}
