#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# The plugin and the simulated NCCL from 2.31 on: symmetric kernels and what is asked for them, kernel times from other
# threads, RAS that sets the event mask. Four ranks of one node.
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
	jq -es 'all(.[].counts; (.unmatched_events // 0) == 0 and (.odd_tables // 0) == 0)' <(rank_records "$dir")
}

# found: the arm is in force, and that calls of its own are another's is not.
found() {
	jq -e '.keys[0].overridden > 0' <<<"$output"
	jq -es 'all(.[].comms[].keys[]; .state == "committed" and .arm == "TREE/SIMPLE" and (.differed // 0) == 0)' \
		<(rank_records "$dir")
}

@test "its interfaces are used, and faster arms are found" {
	# PyTorch 2.12 and 2.13 bring this one.
	ranks --nccl 2.29.7
	jq -e '.tuner == 5 and .profiler == 6' <<<"$output"
	found
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
	ranks --nccl 2.31.2 --symmetric 3 --sync never --groups 2 --sizes 4M,1M
}

# Nothing was forced: each call ran NCCL's own choice, and every second one a symmetric kernel.
left_alone() {
	jq -e '.keys[0] | .overridden == 0 and .symmetric == (.calls / 2 | floor)' <<<"$output"
	jq -es 'all(.[].comms[].keys[]; .state != "committed" and .why == "symmetric")' <(rank_records "$dir")
}

@test "where NCCL asks one question for all kernels, its choice stays among all of them" {
	export NCCL_ENQUEUE_REARCH_ENABLE=1
	mode=bandit four_ranks '' --sizes 4M --arm TREE/SIMPLE=0.2 --nccl 2.32.6 --symmetric 2
	left_alone
	# Also one that is remembered.
	NCCL_TUNE_WARM='v=1 nccl=23206 fabric=any fingerprint=0000000000000001 4r1n.AllReduce.4194304=TREE/SIMPLE' \
		mode=policy four_ranks '' --sizes 4M --nccl 2.32.6 --symmetric 2
	jq -e '.keys[0] | .overridden == 0 and .symmetric == (.calls / 2 | floor)' <<<"$output"
	# Without the variable they are asked for first, and the others are tuned.
	export NCCL_ENQUEUE_REARCH_ENABLE=0
	ranks --nccl 2.32.6 --symmetric 2
	found
	jq -e '.keys[0] | .symmetric == (.calls / 2 | floor)' <<<"$output"
}

@test "one question for all kernels that no variable tells of is noticed by its first symmetric kernel" {
	mode=bandit four_ranks '' --sizes 4M --arm TREE/SIMPLE=0.2 --nccl 2.32.6 --symmetric 2 --one-question
	left_alone
}

@test "within a node NCCL's own LL stays: the question may be a symmetric kernel's" {
	# Buffers are put into windows when a faster arm would long be in force.
	four_ranks '' --sizes 8K --arm RING/SIMPLE=0.05 --arm TREE/SIMPLE=0.05 --nccl 2.30.7 --iters 4000 --probe-from 3000
	jq -e '.keys[0] | .overridden == 0 and .symmetric > 999' <<<"$output"
	jq -es 'all(.[].comms[].keys[]; .auto == "RING/LL" and .why == "symmetric")' <(rank_records "$dir")
	# NCCL 2.28 asks for no such thing.
	four_ranks '' --sizes 8K --arm RING/SIMPLE=0.05 --arm TREE/SIMPLE=0.05 --nccl 2.28.9 --more 60000
	jq -e '.keys[0].overridden > 0' <<<"$output"
}

@test "calls with an algSelection keep it, and the others get the faster arm" {
	# They take part in no plan of the rest: they have other legal pairs.
	ranks --nccl 2.32.6 --select 4:RING/LL128
	jq -es 'all(.[].comms[]; (.keys | length) == 2 and any(.keys[]; .arm == "TREE/SIMPLE") and
		any(.keys[]; .auto == "RING/LL128" and .state == "counted"))' <(rank_records "$dir")
	# Among several the choice is free, but none beside them is used.
	ranks --nccl 2.31.2 --select 2:RING/LL128+RING/SIMPLE
	jq -es 'all(.[].comms[].keys[]; .arm == "TREE/SIMPLE" or .arm == "AUTO" or (.arm | startswith("RING/")))' \
		<(rank_records "$dir")
}

@test "a question without a task is not a call, on all ranks or on one" {
	ranks --nccl 2.31.2 --probe
	found
	ranks --nccl 2.32.6 --probe-on 1@2
	found
	# One communicator, one key: nothing was made of the questions.
	jq -es --argjson calls "$(jq .calls <<<"$output")" \
		'all(.[].comms[]; (.keys | length) == 1 and .keys[0].calls == $calls)' <(rank_records "$dir")
}

@test "a pair that a chained tuner forbids is not used, although its cost is the lowest" {
	NT_FAKE_PLUGIN=take:RING/LL128 NCCL_TUNE_CHAINED_TUNER=$TESTS/nt-fake-plugin.so NCCL_TUNE_CHAINED_PROFILER=none \
		four_ranks "" --nccl 2.32.6 --sizes 4M --iters 50
	jq -e '.keys[0].arm != "RING/LL128"' <<<"$output"
}

# apart MASK@CALL [option]...: each rank a process, with a mask of its own that RAS sets when it does.
apart() {
	dir=$(mktemp -d "$BATS_TEST_TMPDIR/shm.XXXXXX")
	# shellcheck disable=SC2086 # several words
	NCCL_TUNE_POLICY=$(task_policy bandit "$dir") run -0 --separate-stderr timeout 1000 "$FAKE" --fork 4 \
		--env SLURM_LOCALID=%l --env SLURM_PROCID=%r --nccl 2.32.6 --noise lognormal:0.03 --call-gap-us 20 \
		--iters 500 $FASTER --more 3000 "${@:2}" --ras "$1"
	jq -e --arg mask "${1%@*}" '.mismatches == 0 and .mask == ($mask | tonumber)' <<<"$output"
}

@test "RAS switches events off in a window: no rank differs, tuning ends, and RAS's mask is in force" {
	apart 1@6
	jq -es 'all(.[].comms[].keys[]; .state != "committed")' <(rank_records "$dir")
	apart 0@12
	apart 64@25 --sync never
	apart 2048@30 --groups 2 --sizes 4M,1M
}
