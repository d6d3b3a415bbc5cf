# shellcheck shell=bash disable=SC2154
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# NCCL's start-up variables and the plugin, alone and together, by turns in one allocation: nccl-tune-bench and training
# programs (train.py), over loopback sockets and over a shaped link; where `nccl-tune calibrate` is there, also batch jobs
# that calibrate first. Part of tests/gpu/run.sh; launch_summary.py reads what these runs leave.

readonly LAUNCH_WIDE=(NCCL_MIN_NCHANNELS=8 NCCL_SOCKET_NTHREADS=2 NCCL_NSOCKS_PERTHREAD=4)
readonly LAUNCH_SIZES=64K,256K,1M,4M,16M,64M LAUNCH_EVEN=4M
readonly LAUNCH_PLUGIN=bandit,channels=on
readonly LAUNCH_AUTO=$LAUNCH_PLUGIN,launch=auto LAUNCH_AUTO_STEPS=3
# None of both, one of both, both; a batch job for each program; one for all programs.
readonly LAUNCH_WAYS=(off bandit wide-off wide-bandit job shared)
readonly LAUNCH_START_S=5 LAUNCH_TORCH_S=14	# what a run takes beside its calls, until one was seen
readonly LAUNCH_STEPS=40 LAUNCH_TRAIN_S=8	# of each training program
readonly LAUNCH_CALIBRATE_S=60
readonly LAUNCH_TRACE_SEED=7

# launch_seconds WAY: of nccl-tune-bench, until all is decided, and of what is compared.
launch_seconds() {
	case $1 in
	*off) echo 1 4 ;;
	*) echo 11 4 ;;
	esac
}

# launch_command NETWORK PROGRAM WAY: sets command_line. A program is bench, or training programs joined by '+'.
launch_command() {
	local network=$1 program=$2 explore last master=127.0.0.1
	read -r explore last < <(launch_seconds "$3")
	if [ -n "$dry" ]; then
		dry_launch_command "$program"
	elif [ "$program" = bench ]; then
		command_line=("$bench" --sizes "$LAUNCH_SIZES" --even "$LAUNCH_EVEN" --align --seconds "$explore"
			--last-seconds "$last" --iters 60000 --warmup 2 --check 100 --rendezvous "$work/meet" --stall 30)
	else
		[ "$network" = loopback ] || master=$NET_PREFIX.1
		command_line=(python3 "$here/train.py" --programs "${program//+/,}" --steps "$LAUNCH_STEPS"
			--seconds "$LAUNCH_TRAIN_S" --master "$master")
	fi
}

# The simulated NCCL, with times of launch variables that are made up: a training loop for each training program.
dry_launch_command() {
	local trace=$work/launch-trace.csv picks=$work/launch-picks.csv
	[ -e "$trace" ] || "$stage/libexec/nccl-tune/tests/nt-launch-trace" --best wide --seed "$LAUNCH_TRACE_SEED" \
		--picks "$picks" --topology 2x1 >"$trace" || return 1
	command_line=("$stage/libexec/nccl-tune/tests/nt-fake-nccl" --trace "$trace,2x1" --auto-picks "$picks"
		--launch-else none --call-gap-us 100)
	case $1 in
	bench) command_line+=(--sizes "$LAUNCH_SIZES" --iters 1000) ;;
	*) command_line+=(--sizes 16Mx8,64K --iters 120 --compute-us 5000) ;;
	esac
}

# launch_limit PROGRAM: the longest that a step may take.
launch_limit() {
	case $1 in
	bench) echo 60 ;;
	*) echo 110 ;;
	esac
}

# What one run of a program is thought to take in a way.
launch_run_estimate() {
	local explore last some
	read -r explore last < <(launch_seconds "$2")
	IFS=+ read -ra some <<<"$1"
	if [ "$1" = bench ]; then
		echo $((explore + last + LAUNCH_START_S))
	else
		echo $((${#some[@]} * LAUNCH_TRAIN_S / 2 + LAUNCH_TORCH_S))
	fi
}

# launch_estimate PROGRAM|shared: of a repetition.
launch_estimate() {
	local way program takes=0
	if [ "$1" = shared ]; then
		takes=35
		for program in "${launch_programs[@]}"; do
			takes=$((takes + $(launch_run_estimate "$program" bandit)))
		done
		echo "$takes"
		return
	fi
	for way in "${steps_ways[@]}"; do
		takes=$((takes + $(launch_run_estimate "$1" "$way")))
	done
	! launch_wants job || takes=$((takes + 35 + LAUNCH_AUTO_STEPS * $(launch_run_estimate "$1" bandit)))
	echo "$takes"
}

# Is that way asked for, and possible?
launch_wants() {
	case $1 in
	job|shared) [ -n "$launch_calibrates" ] || return 1 ;;
	esac
	[[ " ${launch_ways[*]} " = *" $1 "* ]]
}

# launch_step NETWORK PROGRAM TOPOLOGY WAY K
launch_step() {
	local program=$2 topology=$3 way=$4 policy=off rc=0 one
	local name=launch-$1-$2
	[[ $way != *bandit ]] || policy=$LAUNCH_PLUGIN
	launch_command "$1" "$program" "$way"
	(
		if [[ $way = wide* ]]; then
			for one in "${LAUNCH_WIDE[@]}"; do
				export "${one?}"
			done
		fi
		step "$raw/$name.$topology.$way.$5" "$(launch_limit "$program")" "${topology%x*}" "${topology#*x}" \
			"$policy" "${command_line[@]}"
	) || rc=$?
	[ "$rc" = 0 ] || say "$name $topology $way $5: exit status $rc"
}

# launch_job NETWORK TOPOLOGY K NAME PROGRAM...: a batch job with a memory of its own: calibrate, then a step for each of the
# programs, the same one several times.
launch_job() {
	local network=$1 topology=$2 k=$3 name=$4 limit=$LAUNCH_CALIBRATE_S program i=0 rc=0
	local steps=$work/launch-job.steps state=$work/state.$1.$2.$3.$4
	shift 4
	: >"$steps"
	for program; do
		[ "$name" = shared ] && i=1 || i=$((i + 1))
		launch_command "$network" "$program" bandit
		printf '%s %s' "$raw/launch-$network-$program.$topology.auto-$i.$k" "$(launch_limit "$program")" >>"$steps"
		printf ' %q' "${command_line[@]}" >>"$steps"
		echo >>"$steps"
		limit=$((limit + $(launch_limit "$program")))
	done
	mkdir -p "$state"
	XDG_STATE_HOME=$state timeout -k 5 "$limit" sbatch --wait -N"${topology%x*}" --ntasks-per-node="${topology#*x}" \
		-J gpu-launch -o "$work/launch-job.log" "$here/launch-job.sh" "$top" "$stage" "$LAUNCH_AUTO" \
		"$LAUNCH_CALIBRATE_S" "$raw/launch-$network-$name.$topology.calibrate.$k" "$steps" \
		>"$work/launch-job.out" 2>&1 || rc=$?
	case $rc in
	124|137) timeout 10 scancel -n gpu-launch ;;
	esac
	[ "$rc" = 0 ] ||
		say "launch-$network-$name $topology job $k: exit status $rc; $(tail -n 1 "$work/launch-job.log" 2>/dev/null)"
}

# One repetition of one program: each way once, first to last in turn. Of shared: one job for all programs.
launch_repetition() {
	local network=$1 program=$2 topology=$3 k=$4 way ways n=${#steps_ways[@]} i same=()
	if [ "$program" = shared ]; then
		launch_job "$network" "$topology" "$k" shared "${launch_programs[@]}"
		write_results
		return
	fi
	ways=("${steps_ways[@]}" "${steps_ways[@]}")
	if [ "$n" -gt 0 ]; then
		allocate "${topology%x*}" "${topology#*x}" || { say "launch $topology: no allocation"; return 1; }
		for way in "${ways[@]:$((k % n)):$n}"; do
			launch_step "$network" "$program" "$topology" "$way" "$k"
		done
		release
	fi
	if launch_wants job; then
		for ((i = 0; i < LAUNCH_AUTO_STEPS; i++)); do
			same+=("$program")
		done
		launch_job "$network" "$topology" "$k" "$program" "${same[@]}"
	fi
	write_results
}

# launch_block NETWORK TOPOLOGY SECONDS: repetitions of all programs until all are made or the time is up.
launch_block() {
	local network=$1 topology=$2 end=$((SECONDS + $3)) k program start order way steps_ways=()
	local -A takes=()
	for way in off bandit wide-off wide-bandit; do
		! launch_wants "$way" || steps_ways+=("$way")
	done
	if [ $((${topology%x*} * ${topology#*x})) -gt "$gpus" ]; then
		mps_up || return 0
	fi
	for ((k = 1; k <= launch_runs; k++)); do
		order=("${launch_programs[@]}")
		if launch_wants shared; then
			((k % 2 == 0)) && order=(shared "${order[@]}") || order+=(shared)
		fi
		for program in "${order[@]}"; do
			[ -n "${takes[$program]:-}" ] || takes[$program]=$(launch_estimate "$program")
			if [ $((SECONDS + takes[$program])) -gt "$end" ]; then
				say "launch $network $topology: no time for $program from repetition $k on"
				continue
			fi
			start=$SECONDS
			launch_repetition "$network" "$program" "$topology" "$k"
			takes[$program]=$((SECONDS - start))
		done
	done
	mps_down
	say "launch $network $topology: at $SECONDS s"
}

# launch_blocks SECONDS: loopback and shaped of the first topology, then of the second.
launch_blocks() {
	local end=$((SECONDS + $1)) topology network left
	launch_calibrates=''
	! timeout 20 "$stage/bin/nccl-tune" calibrate --help >/dev/null 2>&1 || launch_calibrates=1
	[ -n "$launch_calibrates" ] || say "launch: this nccl-tune has no calibrate: no batch jobs with it"
	left=$((${#launch_topologies[@]} * ${#launch_networks[@]}))
	for topology in "${launch_topologies[@]}"; do
		for network in "${launch_networks[@]}"; do
			if [ "$network" = loopback ]; then
				launch_block "$network" "$topology" $(((end - SECONDS) / left))
			elif to_shaped; then
				launch_block "$network" "$topology" $(((end - SECONDS) / left))
				to_loopback
			fi
			left=$((left - 1))
		done
	done
}
