# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# Batch jobs whose steps are listed in a file (batch-job.sh), each with a memory of its own. Part of lab/gpu/run.sh.

# batch_line DIR LIMIT_S POLICY CMD...: a line of that file
batch_line() {
	printf '%s %s %s' "$1" "$2" "$3"
	shift 3
	printf ' %q' "$@"
	echo
}

# batch_wait JOB DIR SECONDS: until batch-job.sh has ended. (sbatch --wait looks every half minute.)
batch_wait() {
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

readonly TORCH_S=12	# what a run of PyTorch takes beside its calls, until one was seen

batch_options=()	# of sbatch

# batch_job LEFT STATE LINES TOPOLOGY LIMIT_S [MINUTES]: its memory is in STATE; what it has printed, its record and its
# memory are put into LEFT. MINUTES is the limit that Slurm is told. False where a step failed or the job did not end.
batch_job() {
	local left=$1 state=$2 lines=$3 topology=$4 limit=$5 rc=0 id
	mkdir -p "$state" "$left"
	id=$(XDG_STATE_HOME=$state timeout 30 sbatch --parsable -N"${topology%x*}" --ntasks-per-node="${topology#*x}" \
		"${batch_options[@]}" -J gpu-batch -t "${6:-$((limit / 60 + 2))}" -o "$left/log" "$here/batch-job.sh" "$top" "$stage" "$lines" "$left" \
		2>"$left/err")
	echo "$id" >"$left/id"
	batch_wait "${id:-0}" "$left" "$limit" || rc=1
	timeout 10 scontrol show job "$id" 2>/dev/null | sed -n 's/^ *AdminComment=//p' >"$left/record"
	cp -R "$state/nccl-tune/memory" "$left/" 2>/dev/null
	[ "$rc" = 0 ] || say "${left##*/}: exit status $(cat "$left/ended" 2>/dev/null || echo unknown); $(tail -n 1 "$left/log" "$left/err" 2>/dev/null | tr '\n' ' ')"
	return "$rc"
}

# fits SECONDS END WHAT: or says that it does not.
fits() {
	[ $((SECONDS + $1)) -gt "$2" ] || return 0
	say "$3: left out, no time (it takes some $1 s)"
	return 1
}

readonly DRY_SIZES=64K,256K,1M,4M,16M,64M DRY_TRACE_SEED=7

# dry_command NETWORK PROGRAM TOPOLOGY: sets command_line: the simulated NCCL, with made-up times of launch variables and a
# training loop for each training program. Over the shaped link no profile is good there.
dry_command() {
	local trace=$work/launch-$1.csv picks=$work/launch-$1.picks best=wide
	[ "$1" = loopback ] || best=none
	[ -e "$trace" ] || "$stage/libexec/nccl-tune/tests/nt-launch-trace" --best "$best" --seed "$DRY_TRACE_SEED" \
		--picks "$picks" --topology 2x1 >"$trace" || return 1
	command_line=("$stage/libexec/nccl-tune/tests/nt-fake-nccl" --trace "$trace,2x1" --auto-picks "$picks"
		--launch-else none --call-gap-us 100)
	case $2 in
	bench) command_line+=(--sizes "$DRY_SIZES" --iters 1000) ;;
	mesh) command_line+=(--comms "world,dp:${3#*x},tp:${3#*x}" --sizes 16M,512K --iters 2500) ;;
	# Steps are told by the clock on the wall.
	*) command_line+=(--sizes '16Mx8,64K' --iters 120 --compute-us 5000 --realtime 1) ;;
	esac
}
