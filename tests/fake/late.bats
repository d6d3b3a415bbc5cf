#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# A rank that others wait for: named where there is one, and nobody where there is none.
bats_require_minimum_version 1.5.0
load ../lib/policy
load ../lib/records

setup_file() {
	alone_environment
}

# late MODE: what the step's record says of $dir.
late() {
	"$RECORD" check "$SCHEMA/rank.schema.json" <(rank_records "$dir")
	run -0 --separate-stderr "$RECORD" step "$dir" "$1"
	"$RECORD" check "$SCHEMA/step.schema.json" /dev/stdin <<<"$output"
	output=$(jq -r '[.late, .late_rank, .late_node] | map(. // "-") | join(" ")' <<<"$output")
}

# one_node MODE [option]...
one_node() {
	mode=$1 four_ranks '' --sizes 1M,4M --coll allreduce,allgather "${@:2}"
	late "$1"
}

# two_nodes [option]...: of two ranks each, a process a rank; they only observe, so nobody has to agree. NCCL's choice for
# AllGather is a ring.
two_nodes() {
	local policy
	dir=$(mktemp -d "$BATS_TEST_TMPDIR/nodes.XXXXXX")
	policy=$(task_policy observe "$dir")
	run -0 timeout -k 2 1000 "$FAKE" --fork 4 --nodes 2 --coll allgather --sizes 1M --noise lognormal:0.03 --iters 120 \
		--env "NCCL_TUNE_POLICY=${policy/node=n1/node=n%n}" "$@"
	late observe
}

@test "on one node a slow rank is named, while choices are explored and while they are only observed" {
	one_node observe --iters 120 --slow-rank 2@60
	[ "$output" = "steady 2 n1" ]
	one_node bandit --slow-rank 3@120
	[ "$output" = "steady 3 n1" ]
}

@test "nobody is named without a cause" {
	local seed
	for seed in 1 2 3 4 5; do
		one_node observe --iters 120 --seed "$seed" --lateness-us $((4 * seed * seed))
		[[ $output = "- - -" || $output = "varies - -" ]] || { echo "seed $seed: $output"; return 1; }
		two_nodes --seed "$seed" --lateness-us $((seed * 20))
		[[ $output = "- - -" || $output = "varies - -" ]] || { echo "seed $seed: $output"; return 1; }
	done
	one_node bandit --seed 7
	[ "$output" = "- - -" ]
}

@test "a rank that is slow for some time only, and then another one, is told as such" {
	one_node observe --iters 120 --slow-rank 0@200 --slow-calls 40
	[ "$output" = "wanders - -" ]
}

# running NAME MODE [option]...: a program of four ranks with steps of 0.1 s and eight calls; its directory is $BATS_TEST_TMPDIR/NAME.
running() {
	mkdir -m 700 "$BATS_TEST_TMPDIR/$1"
	NCCL_TUNE_POLICY=$(task_policy "$2" "$BATS_TEST_TMPDIR/$1") NCCL_IB_DISABLE=1 timeout -k 2 65 "$FAKE" --fork 4 --nodes 1 \
		--coll allgather --sizes 1Mx7,64K --compute-us 100000 --realtime 1 --noise lognormal:0.02 --call-gap-us 20 --iters 10000 \
		"${@:3}" >/dev/null 2>&1 3>&- &
	pids+=($!)
}

# named NAME MODE: who is late by the records so far; "- -" is nobody, nothing is no record.
named() {
	"$RECORD" step "$BATS_TEST_TMPDIR/$1" "$2" 2>/dev/null | jq -r 'select(.step_us) | [.late, .late_rank] | map(. // "-") | join(" ")'
}

@test "a rank that costs 5 % of a step is named within a minute of a running job, and nobody in a healthy one" {
	local i pids=()
	running observes observe --slow-rank 2@650
	running explores bandit --slow-rank 1@650
	running healthy observe
	for ((i = 0; i < 60; i++)); do
		[ "$(named healthy observe)" != "steady 2" ]
		[[ $(named observes observe) != "steady 2" || $(named explores bandit) != "steady 1" || $(named healthy observe) != "- -" ]] ||
			break
		sleep 1
	done
	kill "${pids[@]}"
	wait "${pids[@]}" || true
	echo "observes: $(named observes observe), explores: $(named explores bandit), healthy: $(named healthy observe)"
	[ "$i" -lt 60 ]
}
