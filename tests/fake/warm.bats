#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# The plugin and the simulated NCCL: what is made of remembered arms, four ranks of one node.
# shellcheck disable=SC2034,SC2086 # what four_ranks sets and takes; several words
bats_require_minimum_version 1.5.0
load ../lib/policy

setup_file() {
	alone_environment
}

readonly HEADER='v=1 nccl=22809 fabric=any fingerprint=0000000000000001'
# A TREE/SIMPLE that takes half as long as NCCL thinks, which is the best there is at 4 MiB.
readonly FAST='--sizes 4M --arm TREE/SIMPLE=0.5'
# A busy machine gets through more calls until all is decided.
readonly DECIDED='--more 60000'

# ranks MODE 'SETTING=VALUE...' 'KEY=ARM...' [option]...: with these remembered arms; header, where it is another one.
ranks() {
	local mode=$1
	local -x NCCL_TUNE_WARM="${header:-$HEADER}${3:+ $3}"
	four_ranks "$2" "${@:4}"
}

# of_keys FILTER: true of every rank's every key.
of_keys() {
	jq -es "[.[].comms[].keys[]] | length > 0 and all($1)" <(rank_records "$dir") >/dev/null ||
		{ jq -c '.warm, .comms[].keys' <(rank_records "$dir"); return 1; }
}

process() {
	jq -e "$1" <(rank_records "$dir") >/dev/null || { jq -c .warm <(rank_records "$dir"); return 1; }
}

@test "a remembered arm is committed after one round" {
	ranks bandit min_calls=100000 4r1n.AllReduce.4194304=TREE/SIMPLE $FAST $DECIDED
	# 25 blocks of two arms; by twos, but on a machine so busy that calls look rare
	of_keys '.state == "committed" and .arm == "TREE/SIMPLE" and .from == "warm" and
		(.spent_calls == 100 or .spent_calls == 50) and .samples >= 20 and .decided > 50'
	process '.warm == {offered: 1, used: 4}'
}

@test "one that has become slow is forgotten, and another is found" {
	ranks bandit '' 4r1n.AllReduce.4194304=RING/SIMPLE $FAST $DECIDED --arm RING/SIMPLE=4
	of_keys '.state == "committed" and .arm == "TREE/SIMPLE" and .from == null and .spent_calls > 100'
	process '.warm == {offered: 1, used: 0}'
}

@test "if NCCL's choice is remembered as best, nothing is tried soon, and the record says why" {
	ranks bandit min_calls=200 4r1n.AllReduce.4194304=AUTO $FAST
	of_keys '.state == "counted" and .from == "warm" and .why == "best"'
	ranks bandit min_calls=20 4r1n.AllReduce.4194304=AUTO $FAST $DECIDED
	of_keys '.state == "committed" and .decided >= 400'
}

@test "a policy is in force after a few calls, and nothing is tried" {
	ranks policy '' '4r1n.AllReduce.65536=AUTO 4r1n.AllReduce.4194304=RING/SIMPLE/6ch' --sizes 4M,64K,1M --iters 8000
	jq -e '.keys[] | select(.bytes == 4194304) | .arm == "RING/SIMPLE/6ch" and .overridden > 2000' <<<"$output"
	jq -e '[.keys[] | select(.bytes != 4194304) | .overridden] | add == 0' <<<"$output"
	of_keys 'if .bytes == 4194304 then .state == "committed" and .from == "policy" and .spent_calls == 0 and
		.why == "known" else .state == "counted" end'
	# Programs whose calls are far apart need no more of them.
	ranks policy '' 4r1n.AllReduce.4194304=TREE/SIMPLE --sizes 4M --sync every --call-gap-us 100000 --realtime 1 --iters 20
	of_keys '.state == "committed" and .decided <= 12'
}

@test "a policy's arm stays in captured graphs, and NCCL's choice if the capture is first" {
	ranks policy '' 4r1n.AllReduce.4194304=TREE/SIMPLE $FAST --iters 8000 --capture 4000x3
	of_keys '.state == "committed" and .from == "policy"'
	jq -e '.keys[0].overridden > 2000' <<<"$output"
	ranks policy '' 4r1n.AllReduce.4194304=TREE/SIMPLE $FAST --capture 2x3
	of_keys '.state != "committed" and .why == "captured"'
	jq -e '.keys[0].overridden == 0' <<<"$output"
	# Anywhere around the moment at which it is agreed on, with processes that are not in step: no rank may differ.
	local every
	for every in 7 40 90 130; do
		ranks policy '' 4r1n.AllReduce.4194304=TREE/SIMPLE $FAST --sync never --groups 2 --lateness-us 300 \
			--realtime 0.3 --iters 300 --capture "${every}x2"
	done
}

@test "a policy that has become slower is rolled back" {
	ranks policy recheck=1 4r1n.AllReduce.4194304=TREE/SIMPLE $FAST --slow-after 300:3 --realtime 1 --call-gap-us 200 \
		--arm TREE/SIMPLE=3
	of_keys '.rollbacks == 1 and .state == "kept" and .rechecks >= 2 and .from == null'
}

# The policy of another topology, NCCL, fabric or hardware made collectives 110 % slower once, elsewhere. Here, not one
# call is other than without it.
@test "arms from another place change no call, and are refused with the reason" {
	local header
	local -r slow='--sizes 4M --arm RING/SIMPLE=2.1'
	for header in "$HEADER" "${HEADER/22809/22808}" "${HEADER/01/02}"; do
		ranks policy '' "8r2n.AllReduce.4194304=RING/SIMPLE" $slow
		jq -e '.keys[0].overridden == 0' <<<"$output"
		of_keys '.state == "counted" and .from == null'
	done
	process '.warm == {offered: 1, used: 0,
		refused: "remembered on hardware 0000000000000002, this is 0000000000000001"}'
	header=${HEADER/22809/22705} NCCL_DEBUG=WARN ranks policy '' 4r1n.AllReduce.4194304=RING/SIMPLE $slow
	jq -e '.keys[0].overridden == 0' <<<"$output"
	process '.warm.refused == "remembered with NCCL 22705, this is 22809"'
	[ "$(grep -c 'remembered arms are not used: remembered with NCCL 22705' <<<"$stderr")" = 1 ]
	header=${HEADER/any/ib} NCCL_NET=Socket ranks policy '' 4r1n.AllReduce.4194304=RING/SIMPLE $slow
	jq -e '.keys[0].overridden == 0' <<<"$output"
	process '.warm.refused == "remembered over fabric ib, this is socket"'
	header=${HEADER/any/socket} NCCL_NET=Socket ranks policy '' 4r1n.AllReduce.4194304=RING/SIMPLE $slow
	jq -e '.keys[0].overridden > 1000' <<<"$output"
	header=nonsense ranks policy '' 4r1n.AllReduce.4194304=RING/SIMPLE $slow
	jq -e '.keys[0].overridden == 0' <<<"$output"
	process '.warm.offered == 0 and (.warm.refused | contains("does not begin with"))'
	# In mode bandit the step is tuned as without it.
	header=${HEADER/22809/22705} ranks bandit '' 4r1n.AllReduce.4194304=RING/SIMPLE $slow $DECIDED --arm TREE/SIMPLE=0.5
	of_keys '.state == "committed" and .arm == "TREE/SIMPLE" and .from == null'
}

@test "ranks with other remembered arms are not tuned together" {
	dir=$BATS_TEST_TMPDIR/shm.odd
	mkdir -m 700 "$dir"
	NCCL_TUNE_POLICY=$(task_policy policy "$dir") run -0 --separate-stderr timeout 1000 "$FAKE" --fork 4 --sizes 4M \
		--iters 300 --call-gap-us 20 --env "NCCL_TUNE_WARM=$HEADER 4r1n.AllReduce.4194304=TREE/SIMPLE/%rch"
	jq -e '.mismatches == 0 and .keys[0].overridden == 0' <<<"$output"
	jq -es '[.[].comms[]] | all(.state == "rejected" and (.why | startswith("warm:")))' <(rank_records "$dir")
}

@test "mode profile measures every arm from the first calls on" {
	ranks profile max_calls=10 '' $DECIDED --sizes 4M --arm TREE/LL=0.05 --arm RING/LL=20
	of_keys '.state == "committed" and .arm == "TREE/LL"'
	jq -e '[.explored[0].arms[].arm] | contains(["AUTO", "TREE/LL", "TREE/SIMPLE", "RING/LL", "RING/SIMPLE"])' \
		<(rank_records "$dir" | jq -c "select(.task == 0)")
}
