# shellcheck shell=bash disable=SC2054,SC2154
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# Does a call of an arm take as long after another arm as in a run of its own? Each arm for all calls of a process; all arms
# by turns, call by call, in runs of four, and of twelve; and one size by itself, by turns in one allocation, each a
# process with one communicator whose arms nt-fixed.so sets.
# Part of lab/gpu/run.sh; carry_summary.py reads what these runs leave.

readonly CARRY_SIZES=64K,1M,8M CARRY_ALONE=1M CARRY_COLL=AllReduce
readonly CARRY_SECONDS=4 CARRY_START_S=4	# of calls; what a run takes beside, until one was seen
readonly CARRY_ROUNDS_MOST=6000
readonly CARRY_TURNS=(1 4 12)

# Between nodes LL128 is not legal; LL of 8M is not tried.
carry_arms() {
	case $1 in
	1x*) echo RING/SIMPLE RING/LL128 TREE/SIMPLE TREE/LL128 ;;
	*) echo RING/SIMPLE RING/LL TREE/SIMPLE TREE/LL ;;
	esac
}

# carry_plan ARM...: the arms of each size.
carry_plan() {
	local size arm sizes
	IFS=, read -ra sizes <<<"$CARRY_SIZES"
	for size in "${sizes[@]}"; do
		for arm; do
			[ "$size/${arm#*/}" = 8M/LL ] || echo "$CARRY_COLL $(bytes_of "$size") $arm"
		done
	done
}

# carry_step TOPOLOGY WAY K SIZES RUN ARM...: WAY is an arm's name, turnsN or alone.
carry_step() {
	local topology=$1 way=$2 k=$3 played=$4 in_a_row=$5 rc=0
	local dir=$raw/carry.$1.${2//\//-}.$3
	shift 5
	mkdir -p "$dir"
	carry_plan "$@" >"$dir/plan"
	if [ -n "$dry" ]; then
		command_line=("$stage/libexec/nccl-tune/tests/nt-fake-nccl" --coll allreduce --sizes "$played" --iters 100)
	else
		command_line=("$bench" --coll allreduce --sizes "$played" --align --iters "$CARRY_ROUNDS_MOST" --warmup 4
			--seconds 1 --last-seconds "$CARRY_SECONDS" --check 500 --rendezvous "$work/meet" --stall 30
			--samples "$dir/samples.csv")
	fi
	step "$dir" 60 "${topology%x*}" "${topology#*x}" off env NCCL_TUNER_PLUGIN="$fixed" NT_FIXED_PLAN="$dir/plan" \
		NT_FIXED_RUN="$in_a_row" NT_FIXED_LOG="$dir/arms" "${command_line[@]}" || rc=$?
	[ "$rc" = 0 ] || say "carry $topology $way $k: exit status $rc"
}

# One repetition: all ways, another one first each time.
carry_repetition() {
	local topology=$1 k=$2 arms way ways
	read -ra arms < <(carry_arms "$topology")
	ways=("${arms[@]}" "${CARRY_TURNS[@]}" alone)
	for way in "${ways[@]:$((k % ${#ways[@]}))}" "${ways[@]:0:$((k % ${#ways[@]}))}"; do
		case $way in
		alone) carry_step "$topology" alone "$k" "$CARRY_ALONE" 1 RING/SIMPLE ;;
		*/*) carry_step "$topology" "$way" "$k" "$CARRY_SIZES" 1 "$way" ;;
		*) carry_step "$topology" "turns$way" "$k" "$CARRY_SIZES" "$way" "${arms[@]}" ;;
		esac
	done
}

# carry_topology TOPOLOGY SECONDS: repetitions until all are made or the time is up.
carry_topology() {
	local topology=$1 end=$((SECONDS + $2)) k start takes=$((8 * (CARRY_SECONDS + 1 + CARRY_START_S)))
	allocate "${topology%x*}" "${topology#*x}" || { say "carry $topology: no allocation"; return 1; }
	for ((k = 1; k <= cell_rounds; k++)); do
		if [ $((SECONDS + takes)) -gt "$end" ]; then
			say "carry $topology: no time for rounds $k to $cell_rounds"
			break
		fi
		start=$SECONDS
		carry_repetition "$topology" "$k"
		takes=$((SECONDS - start))
		write_results
	done
	release
	say "carry $topology: $((k - 1)) rounds, at $SECONDS s"
}

# carry SECONDS
carry() {
	local end=$((SECONDS + $1)) left=${#topologies[@]} topology
	for topology in "${topologies[@]}"; do
		carry_topology "$topology" $(((end - SECONDS) / left))
		left=$((left - 1))
	done
}
