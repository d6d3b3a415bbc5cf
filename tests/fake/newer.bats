#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# The plugin and the simulated NCCL from 2.31 on: symmetric kernels and what is asked for them, kernel times from other
# threads, RAS that sets the event mask. Four ranks of one node.
# shellcheck disable=SC2154 # what four_ranks sets
bats_require_minimum_version 1.5.0
load ../lib/policy

setup_file() {
	alone_environment
}

# A faster arm, and as many calls as a busy machine needs.
readonly FASTER='--sizes 4M --arm TREE/SIMPLE=0.2 --more 60000'

# ranks [option]...: with those, in one process; without events that fit no decision.
ranks() {
	# shellcheck disable=SC2086 # several words
	four_ranks "" $FASTER "$@"
	jq -es 'all(.[].counts; (.unmatched_events // 0) == 0 and (.odd_tables // 0) == 0)' "$dir"/rank.*.json
}

# found: the arm is in force, and that calls of its own are another's is not.
found() {
	jq -e '.keys[0].overridden > 0' <<<"$output"
	jq -es 'all(.[].comms[].keys[]; .state == "committed" and .arm == "TREE/SIMPLE" and (.differed // 0) == 0)' \
		"$dir"/rank.*.json
}

@test "its interfaces are used, and faster arms are found" {
	ranks --nccl 2.31.2
	jq -e '.tuner == 6 and .profiler == 7' <<<"$output"
	found
	ranks --nccl 2.32.6 --profiler-threads 2
	jq -e '.tuner == 7 and .profiler == 7' <<<"$output"
	found
}

@test "symmetric kernels between calls give no samples and shift no positions" {
	ranks --nccl 2.32.6 --symmetric 2
	found
	ranks --nccl 2.31.2 --symmetric 3 --sync never --groups 2 --sizes 4M,64K
}

@test "a question without a task is not a call, on all ranks or on one" {
	ranks --nccl 2.31.2 --probe
	found
	ranks --nccl 2.32.6 --probe-on 1@2
	found
	# One communicator, one key: nothing was made of the questions.
	jq -es --argjson calls "$(jq .calls <<<"$output")" \
		'all(.[].comms[]; (.keys | length) == 1 and .keys[0].calls == $calls)' "$dir"/rank.*.json
}

@test "a pair that a chained tuner forbids is not used, although its cost is the lowest" {
	NT_FAKE_PLUGIN=take:RING/LL128 NCCL_TUNE_CHAINED_TUNER=$TESTS/nt-fake-plugin.so NCCL_TUNE_CHAINED_PROFILER=none \
		four_ranks "" --nccl 2.32.6 --sizes 4M --iters 50
	jq -e '.keys[0].arm != "RING/LL128"' <<<"$output"
}

# apart MASK@CALL [option]...: each rank a process, with a mask of its own that RAS sets when it does.
apart() {
	dir=$BATS_TEST_TMPDIR/shm.$RANDOM
	mkdir -m 700 "$dir"
	# shellcheck disable=SC2086 # several words
	NCCL_TUNE_POLICY=$(task_policy bandit "$dir") run -0 --separate-stderr timeout 300 "$FAKE" --fork 4 \
		--env SLURM_LOCALID=%l --env SLURM_PROCID=%r --nccl 2.32.6 --noise lognormal:0.03 --call-gap-us 20 \
		--iters 500 $FASTER "${@:2}" --ras "$1"
	jq -e --arg mask "${1%@*}" '.mismatches == 0 and .mask == ($mask | tonumber)' <<<"$output"
}

@test "RAS switches events off in a window: no rank differs, tuning ends, and RAS's mask is in force" {
	apart 1@6
	jq -es 'all(.[].comms[].keys[]; .state != "committed")' "$dir"/rank.*.json
	apart 0@12
	apart 64@25 --sync never
	apart 2048@30 --groups 2 --sizes 4M,64K
}
