# shellcheck shell=bash disable=SC2154
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# Batch jobs with launch=auto, for launch.bash: the first program's job of a repetition calibrates; its memory, as it is
# then, is what the other programs' jobs begin with. The jobs of every second repetition are a user's next ones: each begins
# with what the one before has left. Part of tests/gpu/run.sh.

readonly LAUNCH_AUTO=$LAUNCH_PLUGIN,launch=auto LAUNCH_LIE=sockets-wide
readonly LAUNCH_CALIBRATE_S=30 LAUNCH_CALIBRATE_MOST_S=90

# launch_memory NETWORK TOPOLOGY K: what that repetition's calibration has left; nothing where it has left nothing.
launch_memory() {
	local dir
	for dir in "$raw/launch-$1-"*".$2.calibrate.$3/memory"; do
		[ ! -d "$dir" ] || echo "$dir"
	done
}

# launch_calibrate_line NETWORK PROGRAM TOPOLOGY K: for launch-job.sh.
launch_calibrate_line() {
	local some=("$stage/bin/nccl-tune" calibrate --time "${LAUNCH_CALIBRATE_S}s"
		--profile-file "$stage/share/nccl-tune/profiles.conf")
	if [ -n "$dry" ]; then
		launch_command "$1" calibrate auto "$3"
		some+=(-- "${command_line[@]}")
	fi
	launch_line "$raw/launch-$1-$2.$3.calibrate.$4" "$LAUNCH_CALIBRATE_MOST_S" calibrate "${some[@]}"
}

# launch_line DIR LIMIT_S POLICY CMD...
launch_line() {
	printf '%s %s %s' "$1" "$2" "$3"
	shift 3
	printf ' %q' "$@"
	echo
}

# launch_pairs NETWORK PROGRAM TOPOLOGY K WAY: each step with the plugin and one without it, which of them first in turn.
launch_pairs() {
	local name=$raw/launch-$1-$2.$3 limit i which order
	limit=$(launch_limit "$2")
	for ((i = 1; i <= launch_steps; i++)); do
		(((i + $4) % 2 == 0)) && order=(off "$5") || order=("$5" off)
		for which in "${order[@]}"; do
			launch_command "$1" "$2" "$which" "$3"
			if [ "$which" = off ]; then
				launch_line "$name.$5-$i-off.$4" "$limit" off "${command_line[@]}"
			else
				launch_line "$name.$5-$i.$4" "$limit" "$LAUNCH_AUTO" "${command_line[@]}"
			fi
		done
	done
}

# launch_auto NETWORK PROGRAM TOPOLOGY K
launch_auto() {
	local before=$raw/launch-$1-$2.$3.job-auto.$(($4 - 1))/memory
	if (($4 % 2 == 0)) && [ -d "$before" ]; then
		launch_job "$1" "$2" "$3" "$4" next "$before"
	else
		launch_job "$1" "$2" "$3" "$4" auto
	fi
}

# launch_wait JOB DIR SECONDS: until launch-job.sh has ended. (sbatch --wait looks every half minute.)
launch_wait() {
	local end=$((SECONDS + $3)) looks=0
	while [ ! -e "$2/ended" ] && [ "$SECONDS" -lt "$end" ]; do
		sleep 0.3
		looks=$((looks + 1))
		((looks % 20 == 0)) || continue
		[ -n "$(timeout 5 squeue -h -j "$1" -o %i 2>/dev/null)" ] || break
	done
	[ -e "$2/ended" ] || timeout 10 scancel "$1"
	[ "$(cat "$2/ended" 2>/dev/null)" = 0 ]
}

# batch_job LEFT STATE LINES TOPOLOGY LIMIT_S: a batch job of launch-job.sh, whose memory is in STATE; what it has printed, its
# record and its memory are put into LEFT. False where a step failed or the job did not end.
batch_job() {
	local left=$1 state=$2 lines=$3 topology=$4 limit=$5 rc=0 id
	mkdir -p "$state" "$left"
	id=$(XDG_STATE_HOME=$state timeout 30 sbatch --parsable -N"${topology%x*}" --ntasks-per-node="${topology#*x}" \
		-J gpu-launch -t $((limit / 60 + 2)) -o "$left/log" "$here/launch-job.sh" "$top" "$stage" "$lines" "$left" \
		2>"$left/err")
	launch_wait "${id:-0}" "$left" "$limit" || rc=1
	timeout 10 scontrol show job "$id" 2>/dev/null | sed -n 's/^ *AdminComment=//p' >"$left/record"
	cp -R "$state/nccl-tune/memory" "$left/" 2>/dev/null
	[ "$rc" = 0 ] || say "${left##*/}: exit status $(cat "$left/ended" 2>/dev/null || echo unknown); $(tail -n 1 "$left/log" "$left/err" 2>/dev/null | tr '\n' ' ')"
	return "$rc"
}

# launch_job NETWORK PROGRAM TOPOLOGY K WAY [MEMORY]: a batch job with a memory of its own, which begins with MEMORY; without
# it, with what this repetition's calibration has left, or calibrates.
launch_job() {
	local network=$1 program=$2 topology=$3 k=$4 way=$5 memory=${6:-} limit lines=$work/launch-job.lines
	local state=$work/state.launch-$1-$2.$3.$5.$4
	mkdir -p "$state/nccl-tune"
	: >"$lines"
	[ -n "$memory" ] || memory=$(launch_memory "$network" "$topology" "$k" | head -n 1)
	if [ -n "$memory" ]; then
		cp -R "$memory" "$state/nccl-tune/memory"
	else
		launch_calibrate_line "$network" "$program" "$topology" "$k" >"$lines"
	fi
	launch_pairs "$network" "$program" "$topology" "$k" "$way" >>"$lines"
	limit=$((LAUNCH_CALIBRATE_MOST_S + 2 * launch_steps * $(launch_limit "$program")))
	batch_job "$raw/launch-$1-$2.$3.job-$5.$4" "$state" "$lines" "$topology" "$limit" || :
}

# launch_wrong NETWORK TOPOLOGY K END: a memory that says of LAUNCH_LIE that it is four times as fast, over the shaped link,
# where it is not: what a job does that believes it.
launch_wrong() {
	local network=$1 topology=$2 k=$3 memory lie=$work/lie program needs
	if [ "$network" = loopback ] || ! launch_wants wrong; then
		return 0
	fi
	for program in "${launch_programs[@]}"; do
		[ "$program" = bench ] || break
	done
	memory=$(launch_memory "$network" "$topology" "$k" | head -n 1)
	[ -n "$memory" ] || { say "launch $network $topology wrong: no memory to begin with"; return 0; }
	needs=$((launch_steps * ($(launch_run_estimate "$program" wrong) + $(launch_run_estimate "$program" off))))
	launch_fits "$needs" "$4" "$network $topology wrong" || return 0
	rm -rf "$lie"
	if ! python3 "$here/lie.py" "$memory" "$lie" "$LAUNCH_LIE" 4 >"$work/lie.out" 2>&1; then
		say "launch $network $topology wrong: $(tail -n 1 "$work/lie.out")"
		return 0
	fi
	launch_job "$network" "$program" "$topology" "$k" wrong "$lie"
	write_results
}
