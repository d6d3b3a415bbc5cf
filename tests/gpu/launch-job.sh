#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# launch-job.sh TOP STAGE POLICY CALIBRATE_S DIR STEPS - a batch job: nccl-tune calibrate, at most so many seconds, into DIR;
# then the steps that the file STEPS lists, which begin with what was found. A line: the step's directory, its time limit
# in seconds, its command in words quoted for bash. All leave what the steps of run.sh leave.
top=$1 stage=$2 policy=$3 calibrate_s=$4 calibrated=$5 steps=$6

say() {
	printf '== %s\n' "$*"
}

# shellcheck source=tests/gpu/slurm.bash
. "$top/tests/gpu/slurm.bash"

calibrate() {
	local start rc=0
	mkdir -p "$calibrated"
	start=$(date +%s.%N)
	timeout -k 5 "$calibrate_s" "$stage/bin/nccl-tune" calibrate </dev/null >"$calibrated/out" 2>"$calibrated/err" || rc=$?
	echo "$rc $(awk -v a="$start" -v b="$(date +%s.%N)" 'BEGIN { printf "%.1f", b - a }')" >"$calibrated/status"
	say "calibrate: exit status $rc"
}

job=$SLURM_JOB_ID
worst=0 command_line=()
calibrate
while read -r dir limit words <&9; do
	rc=0
	eval "command_line=($words)"
	step "$dir" "$limit" "$SLURM_JOB_NUM_NODES" "${SLURM_NTASKS_PER_NODE%%(*}" "$policy" "${command_line[@]}" || rc=$?
	[ "$rc" = 0 ] || say "${dir##*/}: exit status $rc"
	worst=$((rc > worst ? rc : worst))
done 9<"$steps"
exit "$worst"
