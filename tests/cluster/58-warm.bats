#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# Remembered arms from one step to the next, on two nodes that agree over PMIx: found, found again in one round, and
# followed as a policy, also in captured graphs.
bats_require_minimum_version 1.5.0
load ../lib/cluster

setup_file() {
	cluster_start_tuned 2
}

setup() {
	out=$BATS_TEST_TMPDIR/out
	err=$BATS_TEST_TMPDIR/err
	export NCCL_TUNE_MEMORY=$NT_CLUSTER/work/memory.$BATS_TEST_NUMBER
}

# job POLICY [option of nt-fake-nccl]...: two nodes of two ranks; TREE/SIMPLE takes half of what NCCL believes.
job() {
	as_user srun -N2 --ntasks-per-node=2 -t 20 --mpi=pmix --nccl-tune="$1" \
		bash -c '[ "$SLURM_PROCID" != 0 ] || echo "$SLURM_JOB_ID" >&2; exec "$@"' - \
		"$NT_TESTS/nt-fake-nccl" --noise lognormal:0.03 --sizes 4M --realtime 1 --arm RING/SIMPLE=0.5 \
		--arm TREE/SIMPLE=2 "${@:2}" >"$out" 2>"$err"
}

json() {
	jq -er "$1" "$out" >/dev/null || { printf '%s\n' "$1"; cat "$out" "$err"; return 1; }
}

# entry: what accounting has of the job's one key.
entry() {
	local job
	job=$(grep -m1 -xE '[0-9]+' "$err")
	wait_record "$job" && sacct_field "$job" admincomment | jq -c '.nccl_tune["0"]["4r2n"]["AllReduce 4M"]'
}

@test "one step finds an arm, the next one confirms it sooner, and a policy uses it" {
	job bandit,launch=default --iters 3000 --more 60000 --settled || { cat "$err"; false; }
	json '.mismatches == 0 and .keys[0].arm == "RING/SIMPLE"'
	run -0 entry
	jq -e '.arm == "RING/SIMPLE" and .spent_calls > 50' <<<"$output"
	job bandit,launch=default --iters 3000 --more 60000 --settled || { cat "$err"; false; }
	json '.mismatches == 0 and .keys[0].arm == "RING/SIMPLE"'
	run -0 entry
	jq -e '.arm == "RING/SIMPLE" and .spent_calls == 50' <<<"$output"
	job policy --iters 3000 || { cat "$err"; false; }
	json '.mismatches == 0 and .keys[0].arm == "RING/SIMPLE" and .keys[0].overridden > 0'
	run -0 entry
	# What it saves is not measured: the earlier step's times tell.
	jq -e '.arm == "RING/SIMPLE" and .spent_calls == 0 and .saved_ms == null and .estimated_ms > 0' <<<"$output"
	[[ $(sacct_field "$(grep -m1 -xE '[0-9]+' "$err")" admincomment | jq -r .nccl_tune.says) = *'saved about '*' (estimate)' ]]
	# What came before the capture stays in it, on all ranks; and a capture around the moment of the agreement does no harm.
	job policy --iters 3000 --capture 2000x3 || { cat "$err"; false; }
	json '.mismatches == 0 and .keys[0].overridden > 1000'
	for every in 20 60 110; do
		job policy --iters 300 --sync never --lateness-us 300 --capture "${every}x2" || { cat "$err"; false; }
		json '.mismatches == 0'
	done
}

@test "arms remembered on two nodes are not used on one" {
	job bandit,launch=default --iters 3000 --more 60000 --settled || { cat "$err"; false; }
	json '.mismatches == 0 and .keys[0].arm == "RING/SIMPLE"'
	as_user srun -N1 -n4 -t 20 --mpi=pmix --nccl-tune=policy "$NT_TESTS/nt-fake-nccl" --sizes 4M --iters 500 \
		--realtime 1 >"$out" 2>"$err"
	json '.mismatches == 0 and .keys[0].overridden == 0'
}
