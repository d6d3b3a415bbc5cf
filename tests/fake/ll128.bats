#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# The plugin and the simulated NCCL: LL128 is not forced where NCCL uses an external network plugin or GPUs are on C2C, four
# ranks on one shared memory.
# shellcheck disable=SC2034,SC2086 # what four_ranks sets and takes; several words
bats_require_minimum_version 1.5.0
load ../lib/policy

setup_file() {
	alone_environment
}

readonly LL128=16 C2C=32
# RING/LL128 is the best by far. Inside a node NCCL's own choice is RING/SIMPLE, and TREE/SIMPLE the second; across it is the
# other way round. A busy machine gets through more calls until all is decided.
readonly FAST='--sizes 64M --arm RING/LL128=0.2 --more 60000'
readonly INSIDE="$FAST --arm TREE/SIMPLE=0.5" ACROSS="$FAST --arm RING/SIMPLE=0.5 --nodes 2 --ll128"
readonly WARM='v=1 nccl=22809 fabric=any fingerprint=0000000000000001 4r2n.AllReduce.67108864=RING/LL128'

# chose ARM: calls of 64 MiB came to that, on all ranks; and where it is not RING/LL128, no LL128 was tried.
chose() {
	jq -e --arg arm "$1" '.mismatches == 0 and any(.keys[]; .bytes == 67108864 and .arm == $arm)' <<<"$output" ||
		{ echo "$output"; return 1; }
	[ "$1" = RING/LL128 ] || jq -e '.keys[0].arms | keys | all(endswith("/LL128") | not)' <<<"$output"
}

# noted FLAGS: of the records' flags those of LL128.
noted() {
	jq -es --argjson flags "$1" 'all((.flags // 0) == $flags)' <(rank_records "$dir")
}

@test "with an external network plugin it is tried inside a node, but not between nodes" {
	NCCL_NET_PLUGIN=ofi four_ranks '' $ACROSS
	chose RING/SIMPLE
	noted $LL128
	! jq -es '.[].explored[]?.arms[].arm | select(endswith("/LL128"))' <(rank_records "$dir") || false
	NCCL_NET_PLUGIN=ofi four_ranks '' $INSIDE
	chose RING/LL128
	noted 0
	NCCL_NET_PLUGIN=none four_ranks '' $ACROSS
	chose RING/LL128
	noted 0
}

@test "a plugin is also recognised by its library" {
	cp "$(ldd "$FAKE" | sed -n 's/.*=> \([^ ]*libm\.so[^ ]*\).*/\1/p')" "$BATS_TEST_TMPDIR/libnccl-net-x.so"
	LD_PRELOAD=$BATS_TEST_TMPDIR/libnccl-net-x.so four_ranks '' $ACROSS
	chose RING/SIMPLE
	# NCCL is told to use its own.
	NCCL_NET=Socket LD_PRELOAD=$BATS_TEST_TMPDIR/libnccl-net-x.so four_ranks '' $ACROSS
	chose RING/LL128
}

@test "with GPUs on C2C it is not tried" {
	NT_FAKE_ARM=1:1 four_ranks '' $INSIDE
	chose TREE/SIMPLE
	noted $C2C
	NT_FAKE_ARM=1:1 NCCL_NET_PLUGIN=ofi four_ranks '' $ACROSS
	chose RING/SIMPLE
	noted $((LL128 + C2C))
}

@test "it is tried if NCCL uses it itself for another size" {
	NT_FAKE_ARM=1:1 four_ranks '' $INSIDE --sizes 64M,4M
	jq -es 'all(.[].comms[].keys[] | select(.bytes == 4194304); .auto == "RING/LL128")' <(rank_records "$dir")
	chose RING/LL128
	noted 0
}

@test "the site can allow it, and anybody can forbid it" {
	NT_FAKE_ARM=1:1 NCCL_NET_PLUGIN=ofi four_ranks ll128=on $ACROSS
	chose RING/LL128
	noted 0
	four_ranks ll128=off $ACROSS
	chose RING/SIMPLE
	noted 0
}

@test "a remembered one is refused, in mode policy and in mode bandit" {
	local mode
	for mode in policy bandit; do
		NCCL_NET_PLUGIN=ofi NCCL_TUNE_WARM=$WARM four_ranks min_calls=100000 $ACROSS --more 0
		jq -e '.keys[0].overridden == 0' <<<"$output"
		jq -es 'all(.[].comms[].keys[]; .why == "ll128arm")' <(rank_records "$dir")
	done
	mode=policy
	NCCL_TUNE_WARM=$WARM four_ranks '' $ACROSS
	chose RING/LL128
}

@test "a risk that one rank sees counts for all" {
	local rank
	dir=$BATS_TEST_TMPDIR/shm
	for rank in 0 3; do
		rm -rf "$dir"
		mkdir -m 700 "$dir"
		run -0 --separate-stderr timeout 1000 "$FAKE" --fork 4 --noise lognormal:0.03 --call-gap-us 20 --iters 2500 $INSIDE \
			--env "NCCL_TUNE_POLICY=$(task_policy bandit "$dir")" --env "NT_FAKE_ARM=%r:$rank"
		chose TREE/SIMPLE
		noted $C2C
	done
}
