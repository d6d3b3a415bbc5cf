#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# batch-job.sh TOP STAGE LINES DIR - a batch job of the steps that the file LINES lists, one after the other. A line: the
# step's directory, its time limit in seconds, its policy, its command in words quoted for bash. The policy "calibrate" is
# no step but nccl-tune calibrate, which starts its own; what it has left in memory is copied into its directory. All leave
# what the steps of run.sh leave; at the end DIR/ended has the worst exit status.
top=$1 stage=$2 lines=$3 left=$4

say() {
	printf '== %s\n' "$*"
}

# shellcheck source=lab/gpu/slurm.bash
. "$top/lab/gpu/slurm.bash"

# calibrate DIR LIMIT_S CMD...
calibrate() {
	local dir=$1 limit=$2 start rc=0
	shift 2
	mkdir -p "$dir"
	start=$(date +%s.%N)
	timeout -k 5 "$limit" "$@" </dev/null >"$dir/out" 2>"$dir/err" || rc=$?
	echo "$rc $(awk -v a="$start" -v b="$(date +%s.%N)" 'BEGIN { printf "%.1f", b - a }')" >"$dir/status"
	cp -R "$XDG_STATE_HOME/nccl-tune/memory" "$dir/" 2>/dev/null
	return "$rc"
}

job=$SLURM_JOB_ID
worst=0 command_line=()
export PATH=$stage/bin:$PATH
while read -r dir limit policy words <&9; do
	rc=0
	eval "command_line=($words)"
	case $policy in
	calibrate) calibrate "$dir" "$limit" "${command_line[@]}" || rc=$? ;;
	# srun says then which launch profile it is, and why.
	*launch*|site) SLURM_DEBUG=1 step "$dir" "$limit" "$SLURM_JOB_NUM_NODES" "${SLURM_NTASKS_PER_NODE%%(*}" "$policy" \
		"${command_line[@]}" || rc=$? ;;
	*) step "$dir" "$limit" "$SLURM_JOB_NUM_NODES" "${SLURM_NTASKS_PER_NODE%%(*}" "$policy" \
		"${command_line[@]}" || rc=$? ;;
	esac
	[ "$rc" = 0 ] || say "${dir##*/}: exit status $rc"
	worst=$((rc > worst ? rc : worst))
done 9<"$lines"
echo "$worst" >"$left/ended"
exit "$worst"
