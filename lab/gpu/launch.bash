# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# NCCL's start-up variables and the plugin, alone and together: nccl-tune-bench and training programs (train.py), over
# loopback sockets and over a shaped link, by turns in one allocation. Part of lab/gpu/run.sh; launch_summary.py reads what
# these runs leave.

readonly LAUNCH_WIDE=(NCCL_MIN_NCHANNELS=8 NCCL_SOCKET_NTHREADS=2 NCCL_NSOCKS_PERTHREAD=4)
readonly LAUNCH_SIZES=64K,256K,1M,4M,16M,64M LAUNCH_EVEN=4M
readonly LAUNCH_PLUGIN=bandit,channels=on
# None of both, one of both, both.
readonly LAUNCH_WAYS=(off bandit wide-off wide-bandit)
readonly LAUNCH_START_S=3 LAUNCH_TORCH_S=12	# what a run takes beside its calls, until one was seen
readonly LAUNCH_STEPS=40 LAUNCH_TRAIN_S=8	# of each training program
readonly LAUNCH_MESH_S=24			# of mesh, which must have decided before its half
readonly LAUNCH_TRACE_SEED=7

# launch_seconds WAY: of nccl-tune-bench, until all is decided, and of what is compared.
launch_seconds() {
	case $1 in
	*off) echo 1 3 ;;
	*) echo 11 3 ;;
	esac
}

launch_train_seconds() {
	[[ $1 = *mesh* ]] && echo "$LAUNCH_MESH_S" || echo "$LAUNCH_TRAIN_S"
}

# launch_command NETWORK PROGRAM WAY TOPOLOGY: sets command_line. A program is bench, or training programs joined by '+'.
launch_command() {
	local network=$1 program=$2 explore last master=127.0.0.1
	read -r explore last < <(launch_seconds "$3")
	if [ -n "$dry" ]; then
		dry_launch_command "$network" "$program" "$4"
	elif [ "$program" = bench ]; then
		command_line=("$bench" --sizes "$LAUNCH_SIZES" --even "$LAUNCH_EVEN" --align --seconds "$explore"
			--last-seconds "$last" --iters 60000 --warmup 2 --check 100 --rendezvous "$work/meet" --stall 30)
	else
		[ "$network" = loopback ] || master=$NET_PREFIX.1
		command_line=(python3 "$here/train.py" --programs "${program//+/,}" --steps "$LAUNCH_STEPS"
			--seconds "$(launch_train_seconds "$program")" --master "$master")
	fi
}

# The simulated NCCL, with times of launch variables that are made up: a training loop for each training program. Over the
# shaped link no profile is good there.
dry_launch_command() {
	local trace=$work/launch-$1.csv picks=$work/launch-$1.picks best=wide
	[ "$1" = loopback ] || best=none
	[ -e "$trace" ] || "$stage/libexec/nccl-tune/tests/nt-launch-trace" --best "$best" --seed "$LAUNCH_TRACE_SEED" \
		--picks "$picks" --topology 2x1 >"$trace" || return 1
	command_line=("$stage/libexec/nccl-tune/tests/nt-fake-nccl" --trace "$trace,2x1" --auto-picks "$picks"
		--launch-else none --call-gap-us 100)
	case $2 in
	bench) command_line+=(--sizes "$LAUNCH_SIZES" --iters 1000) ;;
	mesh) command_line+=(--comms "world,dp:${3#*x},tp:${3#*x}" --sizes 16M,512K --iters 2500) ;;
	# Steps are told by the clock on the wall.
	*) command_line+=(--sizes '16Mx8,64K' --iters 120 --compute-us 5000 --realtime 1) ;;
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
		echo $((${#some[@]} * $(launch_train_seconds "$1") / 2 + LAUNCH_TORCH_S))
	fi
}

# launch_estimate PROGRAM: of a repetition
launch_estimate() {
	local way takes=0
	for way in "${launch_ways[@]}"; do
		takes=$((takes + $(launch_run_estimate "$1" "$way")))
	done
	echo "$takes"
}

# launch_step NETWORK PROGRAM TOPOLOGY WAY K
launch_step() {
	local program=$2 topology=$3 way=$4 policy=off rc=0 one
	local name=launch-$1-$2
	[[ $way != *bandit ]] || policy=$LAUNCH_PLUGIN
	launch_command "$1" "$program" "$way" "$topology"
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

# One repetition of one program: each way once, first to last in turn.
launch_repetition() {
	local network=$1 program=$2 topology=$3 k=$4 way ways n=${#launch_ways[@]}
	ways=("${launch_ways[@]}" "${launch_ways[@]}")
	allocate "${topology%x*}" "${topology#*x}" || { say "launch $topology: no allocation"; return 1; }
	for way in "${ways[@]:$((k % n)):$n}"; do
		launch_step "$network" "$program" "$topology" "$way" "$k"
	done
	release
	write_results
}

# launch_fits SECONDS END WHAT: or says that it does not.
launch_fits() {
	[ $((SECONDS + $1)) -gt "$2" ] || return 0
	say "$3: left out, no time (it takes some $1 s)"
	return 1
}

# launch_block NETWORK TOPOLOGY SECONDS: repetitions of all programs until all are made or the time is up.
launch_block() {
	local network=$1 topology=$2 end=$((SECONDS + $3)) k last program start
	local -A takes=()
	if [ $((${topology%x*} * ${topology#*x})) -gt "$gpus" ]; then
		mps_up || return 0
	fi
	last=$((launch_first + launch_runs - 1))
	for ((k = launch_first; k <= last; k++)); do
		for program in "${launch_programs[@]}"; do
			[ -n "${takes[$program]:-}" ] || takes[$program]=$(launch_estimate "$program")
			launch_fits "${takes[$program]}" "$end" "launch $network $topology $program, repetition $k" || continue
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
	left=$((${#launch_topologies[@]} * ${#launch_networks[@]}))
	for topology in "${launch_topologies[@]}"; do
		for network in "${launch_networks[@]}"; do
			if [ "$network" = loopback ] || [ -n "$dry" ]; then
				launch_block "$network" "$topology" $(((end - SECONDS) / left))
			elif to_shaped; then
				launch_block "$network" "$topology" $(((end - SECONDS) / left))
				{ [ "$left" = 1 ] && ! wanted settle; } || to_loopback
			fi
			left=$((left - 1))
		done
	done
}
