#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# A user who has a profiler and a tuner of his own, and asks for tuning: srun, the SPANK plugin, and both behind ours.
# shellcheck disable=SC2016 # expressions for the shell of the task
bats_require_minimum_version 1.5.0
load ../lib/cluster

setup_file() {
	cluster_start_tuned 2
	mkdir -m 1777 "$NT_BASE/logs"
	export LOGS=$NT_BASE/logs LOGGER=$NT_TESTS/nt-chain-new.so
}

setup() {
	out=$BATS_TEST_TMPDIR/out err=$BATS_TEST_TMPDIR/err
}

# job LOG TUNE [option of nt-fake-nccl]...: two nodes of two ranks, with plugins as the user has set them.
job() {
	local log=$LOGS/$1 tune=$2
	shift 2
	rm -f "$log"
	as_user env NT_CHAIN_LOG="$log" NT_CHAIN_MASK="${MASK-0xb43}" NCCL_TUNER_PLUGIN="${PLUGIN-$LOGGER}" \
		NCCL_PROFILER_PLUGIN="${PLUGIN-$LOGGER}" srun -N2 --ntasks-per-node=2 -t 20 --mpi=pmix --nccl-tune="$tune" \
		bash -c '[ "$SLURM_PROCID" != 0 ] || echo "$SLURM_JOB_ID" >&2; exec "$@"' - \
		"$NT_TESTS/nt-fake-nccl" --arm RING/SIMPLE=0.3 --noise none --sizes 256K --call-gap-us 100 "$@" \
		>"$out" 2>"$err" || { cat "$err"; return 1; }
	jq -e '.mismatches == 0' "$out" >/dev/null
}

record() {
	local number
	number=$(grep -m1 -xE '[0-9]+' "$err")
	wait_record "$number"
	sacct_field "$number" admincomment
}

@test "the user's plugins get the same calls, and an arm faster than theirs is found" {
	local MASK=0xb03
	job alone off --iters 12000
	job behind bandit,min_calls=8 --iters 12000
	[ -s "$LOGS/alone" ]
	cmp <(sort "$LOGS/alone") <(sort "$LOGS/behind")
	run -0 record
	jq -e '.keys[0].arm == "RING/SIMPLE" and .keys[0].overridden > 100' "$out"
	jq -e '.nccl_tune["0"]["4r2n"]["AllReduce 256K"].arm == "RING/SIMPLE"' <<<"$output"
}

@test "in mode observe every event is the same, also those of channels" {
	job alone off --iters 200
	job behind observe --iters 200
	cmp <(sort "$LOGS/alone") <(sort "$LOGS/behind")
}

@test "a missing plugin changes nothing else" {
	PLUGIN=/nowhere/their.so NCCL_DEBUG=WARN job none bandit,min_calls=8 --iters 12000
	grep -q 'the tuner plugin /nowhere/their.so is not loaded: ' "$err"
	run -0 record
	run -0 as_user "$NT_STAGE/bin/nccl-tune" report "$(grep -m1 -xE '[0-9]+' "$err")"
	[[ $(tr -s ' \n' ' ' <<<"$output") = *"plugin /nowhere/their.so could not be loaded, and the job ran without it"* ]]
	jq -e '.keys[0].arm == "RING/SIMPLE"' "$out"
}
