#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# Sends, receives and all-to-alls: counted in all modes, timed while GPU times are on, and never tuned.
bats_require_minimum_version 1.5.0
load ../lib/policy
load ../lib/records

# In each round of the program, on one communicator.
readonly ROUND=(--p2p alltoall:4M --p2p sendrecv:1Mx2 --p2p send:256K)

setup_file() {
	alone_environment
}

# sends MODE [option]...: four ranks on two nodes, in $dir; what is known of rank $rank's, 0 where it is not set
sends() {
	local policy _
	# Again where a busy machine has timed none of so few.
	for _ in {1..6}; do
		dir=$(mktemp -d "$BATS_TEST_TMPDIR/nodes.XXXXXX")
		policy=$(task_policy "$1" "$dir" ${graphs:+graphs=$graphs})
		run -0 timeout -k 2 1000 "$FAKE" --fork 4 --nodes 2 --coll allreduce --sizes 1M --iters 200 \
			--env "NCCL_TUNE_POLICY=${policy/node=n1/node=n%n}" "${@:2}"
		"$RECORD" check "$SCHEMA/rank.schema.json" <(rank_records "$dir")
		run -0 jq -r --argjson rank "${rank:-0}" 'select(.comms[0].rank == $rank) | .comms[0].keys[] | select(.why == "p2p")
			| "\(.coll) \(.bytes) \(.calls) \(.sent_bytes) \(if .own_us then "timed" else "-" end)"' <(rank_records "$dir")
		[[ $1 != policy && $output = *' -'* ]] || break
	done
}

# even TIMES, odd TIMES: 200 rounds of $ROUND, of an even rank and of an odd one
even() {
	[ "$output" = "AllToAll 4194304 200 838860800 $1
SendRecv 1048576 400 419430400 $1
Send 262144 200 52428800 $1" ] || { echo "$output"; false; }
}

odd() {
	[ "$output" = "AllToAll 4194304 200 838860800 $1
SendRecv 1048576 400 419430400 $1
Recv 262144 200 0 $1" ] || { echo "$output"; false; }
}

@test "all are counted in each mode, and timed where it measures" {
	local mode
	for mode in observe bandit profile; do
		sends $mode "${ROUND[@]}"
		even timed
		rank=1 sends $mode "${ROUND[@]}"
		odd timed
	done
	sends policy "${ROUND[@]}"
	even -
}

@test "of each release that tells of them" {
	local release
	for release in 2.28.9 2.30.7 2.31.2 2.32.6; do
		sends observe "${ROUND[@]}" --nccl "$release"
		even timed
	done
	graphs=never sends observe "${ROUND[@]}" --nccl 2.27.7
	even timed
	sends observe "${ROUND[@]}" --nccl 2.26.2
	[ -z "$output" ]
}

@test "their times are those of the slowest rank, from start to end" {
	sends observe "${ROUND[@]}" --lateness-us 0
	run -0 --separate-stderr "$RECORD" step "$dir" observe
	"$RECORD" check "$SCHEMA/step.schema.json" /dev/stdin <<<"$output"
	jq -e 'def near(us): . > us * 0.98 and . < us * 1.02;
		.["4r2n"] as $of | ($of["AllToAll 4M"].own_us[0] | near(439)) and ($of["SendRecv 1M"].own_us[0] | near(125))
			and ($of["Send 256K"].own_us[0] | near(46)) and $of["Send 256K"].rank_calls == 400
			and $of["Recv 256K"].sent_bytes == 0 and $of["AllToAll 4M"].sent_bytes == 838860800 * 4' <<<"$output" ||
		{ jq . <<<"$output"; false; }
}

@test "collectives of a program that sends are explored, also those that begin while its first sends are timed" {
	local sends
	for sends in send:256K sendrecv:1M alltoall:4M; do
		four_ranks '' --coll allreduce --sizes 1M --p2p "$sends" --more 60000
		jq -se '[.[].comms[0].keys[] | select(.coll == "AllReduce")] | all(.why != "async") and any(.state == "kept" or .state == "committed")' \
			<(rank_records "$dir") || { jq -c '.comms[0].keys[]' <(rank_records "$dir"); false; }
	done
}

@test "a program that does not send has no events in its steady state; one that does is counted on" {
	local policy
	dir=$BATS_TEST_TMPDIR/steady
	mkdir -m 700 "$dir"
	policy=$(task_policy policy "$dir")
	for sends in "" "--p2p send:256K"; do
		# shellcheck disable=SC2086 # no word, or two
		NCCL_TUNE_POLICY=$policy run -0 --separate-stderr timeout -k 2 1000 "$FAKE" --ranks-in-process 2 --coll allreduce \
			--sizes 64K --iters 6000 $sends
		jq -e --arg sends "$sends" '.mask == if $sends == "" then 0 else 1024 end' <<<"$output" || { echo "$output"; false; }
	done
	run -0 jq -r '[.comms[0].keys[] | select(.why == "p2p") | .calls] | @text' <(rank_records "$dir")
	[[ $output == *"[6000]"* ]]
}
