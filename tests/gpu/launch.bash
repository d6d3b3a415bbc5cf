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
# None of both, one of both, both.
readonly LAUNCH_WAYS=(off bandit wide-off wide-bandit)
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

# What a repetition of a program is thought to take.
launch_estimate() {
	local way explore last takes=0 some
	IFS=+ read -ra some <<<"$1"
	for way in "${LAUNCH_WAYS[@]}"; do
		read -r explore last < <(launch_seconds "$way")
		if [ "$1" = bench ]; then
			takes=$((takes + explore + last + LAUNCH_START_S))
		else
			takes=$((takes + ${#some[@]} * LAUNCH_TRAIN_S / 2 + LAUNCH_TORCH_S))
		fi
	done
	[ -z "$launch_jobs" ] || takes=$((takes * (${#LAUNCH_WAYS[@]} + LAUNCH_AUTO_STEPS) / ${#LAUNCH_WAYS[@]} + 35))
	echo "$takes"
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

# A batch job with a memory of its own: calibrate, then steps.
launch_job() {
	local program=$2 topology=$3 limit rc=0
	local name=$raw/launch-$1-$2.$3
	limit=$(launch_limit "$program")
	launch_command "$1" "$program" bandit
	mkdir -p "$work/state.$1.$2.$3.$4"
	XDG_STATE_HOME=$work/state.$1.$2.$3.$4 timeout -k 5 $((LAUNCH_CALIBRATE_S + LAUNCH_AUTO_STEPS * limit)) \
		sbatch --wait -N"${topology%x*}" --ntasks-per-node="${topology#*x}" -J gpu-launch -o "$work/launch-job.log" \
		"$here/launch-job.sh" "$top" "$stage" "$name" "$4" "$limit" "$LAUNCH_CALIBRATE_S" "$LAUNCH_AUTO" \
		"$LAUNCH_AUTO_STEPS" "${command_line[@]}" >"$work/launch-job.out" 2>&1 || rc=$?
	case $rc in
	0) ;;
	124|137) timeout 10 scancel -n gpu-launch ;;
	esac
	[ "$rc" = 0 ] || say "launch-$1-$2 $3 job $4: exit status $rc; $(tail -n 1 "$work/launch-job.log" 2>/dev/null)"
}

# One repetition of one program: each way once, first to last in turn.
launch_repetition() {
	local network=$1 program=$2 topology=$3 k=$4 way ways
	ways=("${LAUNCH_WAYS[@]}" "${LAUNCH_WAYS[@]}")
	allocate "${topology%x*}" "${topology#*x}" || { say "launch $topology: no allocation"; return 1; }
	for way in "${ways[@]:$((k % ${#LAUNCH_WAYS[@]})):${#LAUNCH_WAYS[@]}}"; do
		launch_step "$network" "$program" "$topology" "$way" "$k"
	done
	release
	[ -z "$launch_jobs" ] || launch_job "$network" "$program" "$topology" "$k"
	write_results
}

# launch_block NETWORK TOPOLOGY SECONDS: repetitions of all programs until all are made or the time is up.
launch_block() {
	local network=$1 topology=$2 end=$((SECONDS + $3)) k program start
	local -A takes=()
	if [ $((${topology%x*} * ${topology#*x})) -gt "$gpus" ]; then
		mps_up || return 0
	fi
	for ((k = 1; k <= launch_runs; k++)); do
		for program in "${launch_programs[@]}"; do
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
	launch_jobs=''
	! timeout 20 "$stage/bin/nccl-tune" calibrate --help >/dev/null 2>&1 || launch_jobs=1
	[ -n "$launch_jobs" ] || say "launch: this nccl-tune has no calibrate: no batch jobs with it"
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
