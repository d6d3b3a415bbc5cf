#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# Sends, receives and all-to-alls: counted in all modes, timed while GPU times are on, and never tuned.
# shellcheck disable=SC2154 # what four_ranks sets
bats_require_minimum_version 1.5.0
load ../lib/policy
load ../lib/records

setup_file() {
	alone_environment
}

# sends MODE [option]...: four ranks on two nodes; the keys of rank 0 that no tuner is asked about
sends() {
	local policy
	dir=$BATS_TEST_TMPDIR/nodes.$RANDOM
	mkdir -m 700 "$dir"
	policy=$(task_policy "$1" "$dir")
	run -0 timeout -k 2 300 "$FAKE" --fork 4 --nodes 2 --coll allreduce --sizes 1M \
		--env "NCCL_TUNE_POLICY=${policy/node=n1/node=n%n}" "${@:2}"
	"$RECORD" check "$SCHEMA/rank.schema.json" "$dir"/rank.*.json
	output=$(jq -r 'select(.comms[0].rank == 0) | .comms[0].keys[] | select(.why == "p2p")
		| "\(.coll) \(.bytes) \(.calls) \(.sent_bytes) \(.own_us != null)"' "$dir"/rank.*.json)
}

@test "x" {
	sends observe --p2p alltoall:4M --p2p sendrecv:1Mx2 --p2p send:256K --iters 200
	echo "$output" >&3
	sends bandit --p2p alltoall:4M --p2p sendrecv:1Mx2 --p2p send:256K --iters 200
	echo "$output" >&3
	sends observe --p2p alltoall:4M --p2p sendrecv:1Mx2 --p2p send:256K --iters 200 --nccl 2.27.7
	echo "$output" >&3
	jq -c .comms[0].keys "$dir"/rank.*.json >&3
}
