#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# The step marker in the records of a training loop of the simulated NCCL, against the program's own clock.
bats_require_minimum_version 1.5.0
load ../lib/policy

setup_file() {
	alone_environment
}

setup() {
	dir=$BATS_TEST_TMPDIR/step
	mkdir -m 700 "$dir"
}

# loop MODE [option]...: four processes, each round 8 large calls, one small one and what it computes.
loop() {
	NCCL_TUNE_POLICY=$(task_policy "$1" "$dir") NCCL_TUNE_LAUNCH="wide NCCL_MIN_NCHANNELS=8" NCCL_IB_DISABLE=1 \
		run -0 --separate-stderr timeout -k 2 1000 "$FAKE" --fork 4 --nodes 1 --noise lognormal:0.02 --call-gap-us 20 \
		--sizes 16Mx8,64K --realtime 1 "${@:2}"
}

# each FILTER: true of every process's record, with $wall the program's median round in microseconds.
each() {
	local wall record
	wall=$(jq .rounds.wall_median_us <<<"$output")
	rank_records "$dir" >"$dir/records"
	[ "$(wc -l <"$dir/records")" = 4 ]
	while IFS= read -r record; do
		jq -e --argjson wall "$wall" "$1" <<<"$record" >/dev/null ||
			{ echo "wall $wall"; echo "$record"; return 1; }
	done <"$dir/records"
}

# Rounds are as long as a window at least, so that medians of both are of the same; however busy the machine is.
readonly AS_LONG='(.marker.periods_us | sort | .[length / 2 | floor]) / $wall | . > 0.7 and . < 1.5'

@test "the marker is the call that is made once per round, and its period is the round" {
	loop bandit --compute-us 150000 --iters 50
	each '.end and .marker.coll == "AllReduce" and .marker.bytes == 65536 and .marker.ranks == 4 and
		.marker.calls == 50'
	each '.marker.periods_us | length >= 8 and length <= 64'
	each "$AS_LONG"
	each '.fabric == "any" and .launch == "wide"'
}

@test "also in mode observe, with the round's duration" {
	loop observe --compute-us 300000 --iters 20
	each '.marker.bytes == 65536 and .marker.calls == 20'
	each "$AS_LONG"
}

@test "a program that is too short has no marker, but everything else" {
	loop bandit --compute-us 1000 --iters 3
	each '.end and .marker == null and (.comms | length) == 1 and .launch == "wide"'
}

# Equal calls, which only the gap of a round tells apart: DDP with two equal buckets, JAX with eight
@test "equal calls are as many a round as the program makes" {
	local calls
	for calls in 2 8; do
		rm -f "$dir/shm"
		loop bandit --sizes 16Mx$calls --sync $calls --compute-us 60000 --iters 80
		each ".marker.bytes == 16777216 and .marker.a_step == $calls and .marker.calls == 80 * $calls"
		each '.marker.periods_us | sort | .[length / 2 | floor] | . >= 60000 and . < 90000'
	done
}

@test "a benchmark of one size has no steps" {
	loop bandit --sizes 1M --compute-us 0 --iters 3000
	each '.end and .marker == null and .comms[0].keys[0].calls == 3000'
}
