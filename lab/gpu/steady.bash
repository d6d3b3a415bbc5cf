# shellcheck shell=bash disable=SC2054,SC2154
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# What the plugin costs once it has nothing left to do: without it (twice: what two equal runs differ by), mode observe
# after it has seen enough, mode bandit after everything was decided for NCCL's own choice. Short runs by turns, calls one
# by one and in long bursts.
# Part of lab/gpu/run.sh; steady_summary.py reads what these runs leave.

readonly STEADY_SIZES=8,1K,32K,1M,16M STEADY_EVEN=1M STEADY_BURST=50
readonly STEADY_MODES=(off observe bandit again)
# Few calls, for the largest size is rarely called; and nothing can be so much faster.
readonly STEADY_SOON=min_calls=8,screen_blocks=3,confirm_blocks=8 STEADY_GAIN=90
readonly STEADY_START_S=4

# Seconds until all is decided, and of what is compared.
steady_seconds() {
	case $1 in
	1x*) echo 3 2 ;;
	*) echo 3 3 ;;
	esac
}

# Between nodes on one machine 256M takes so long that nothing of a call's cost could be seen.
steady_command() {
	local settle last sizes=$STEADY_SIZES
	[[ $1 != 1x* ]] || sizes+=,256M
	read -r settle last < <(steady_seconds "$1")
	if [ -n "$dry" ]; then
		command_line=("$stage/libexec/nccl-tune/tests/nt-fake-nccl" --sizes 1K,32K,1M --iters 400 --call-gap-us 200)
		return
	fi
	command_line=("$bench" --sizes "$sizes" --even "$STEADY_EVEN" --mode both --burst "$STEADY_BURST" --align
		--no-gpu-times --seconds "$settle" --last-seconds "$last" --iters 60000 --warmup 3
		--rendezvous "$work/meet" --stall 30)
}

steady_round() {
	local topology=$1 k=$2 mode policy modes=("${STEADY_MODES[@]}" "${STEADY_MODES[@]}")
	# Each mode is first to last in turn: what drifts falls on all.
	for mode in "${modes[@]:$((k % ${#STEADY_MODES[@]})):${#STEADY_MODES[@]}}"; do
		case $mode in
		off|again) policy=off ;;
		observe) policy=observe,min_calls=8 ;;
		*) policy=bandit,$STEADY_SOON,min_gain=$STEADY_GAIN ;;
		esac
		steady_command "$topology"
		step "$raw/steady.$topology.$mode.$k" 60 "${topology%x*}" "${topology#*x}" "$policy" \
			"${command_line[@]}" || say "steady $topology $mode $k: exit status $?"
	done
}

# steady_topology NODESxTASKS SECONDS
steady_topology() {
	local topology=$1 end=$((SECONDS + $2)) k settle last takes
	read -r settle last < <(steady_seconds "$topology")
	takes=$((${#STEADY_MODES[@]} * (settle + last + STEADY_START_S)))
	if [ $((SECONDS + takes)) -gt "$end" ]; then
		say "steady $topology: no time"
		return
	fi
	allocate "${topology%x*}" "${topology#*x}" || { say "steady $topology: no allocation"; return 1; }
	for ((k = 1; k <= steady_runs; k++)); do
		if [ $((SECONDS + takes)) -gt "$end" ]; then
			say "steady $topology: no time for runs $k to $steady_runs of each"
			break
		fi
		steady_round "$topology" "$k"
	done
	release
	say "steady $topology: $((k - 1)) runs of each, at $SECONDS s"
	write_results
}

# steady SECONDS: inside one node, and on two.
steady() {
	local end=$((SECONDS + $1)) topology some=("1x$gpus" "2x$((gpus / 2))") left=2
	for topology in "${some[@]}"; do
		steady_topology "$topology" $(((end - SECONDS) / left))
		left=$((left - 1))
	done
}
