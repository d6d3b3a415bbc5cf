#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# launch-job.sh TOP STAGE NAME K STEP_S CALIBRATE_S POLICY STEPS CMD... - a batch job: nccl-tune calibrate, then steps of
# one program, which begin with what calibrate has found. Leaves NAME.calibrate.K, NAME.auto-1.K, NAME.auto-2.K, ... as
# the steps of run.sh do.
top=$1 stage=$2 name=$3 k=$4 step_s=$5 calibrate_s=$6 policy=$7 steps=$8
shift 8

say() {
	printf '== %s\n' "$*"
}

# shellcheck source=tests/gpu/slurm.bash
. "$top/tests/gpu/slurm.bash"

calibrate() {
	local dir=$name.calibrate.$k start rc=0
	mkdir -p "$dir"
	start=$(date +%s.%N)
	timeout -k 5 "$calibrate_s" "$stage/bin/nccl-tune" calibrate </dev/null >"$dir/out" 2>"$dir/err" || rc=$?
	echo "$rc $(awk -v a="$start" -v b="$(date +%s.%N)" 'BEGIN { printf "%.1f", b - a }')" >"$dir/status"
	say "calibrate: exit status $rc"
}

job=$SLURM_JOB_ID
worst=0
calibrate
for ((i = 1; i <= steps; i++)); do
	rc=0
	step "$name.auto-$i.$k" "$step_s" "$SLURM_JOB_NUM_NODES" "${SLURM_NTASKS_PER_NODE%%(*}" "$policy" "$@" || rc=$?
	[ "$rc" = 0 ] || say "step $i: exit status $rc"
	worst=$((rc > worst ? rc : worst))
done
exit "$worst"
