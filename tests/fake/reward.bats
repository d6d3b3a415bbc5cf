#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# The plugin and the simulated NCCL: an arm that is faster itself and makes what follows slower, four ranks of one node.
bats_require_minimum_version 1.5.0
load ../lib/policy

setup_file() {
	alone_environment
}

# ranks DRAG [setting=value]...: TREE/SIMPLE takes 4 MiB from 52 to 22 us; the Broadcast behind it takes so much longer.
ranks() {
	four_ranks "${*:2}" --sync never --queue 64 --more 60000 --coll allreduce,broadcast --sizes 4M \
		--arm AllReduce:TREE/SIMPLE=0.2 --drag "TREE/SIMPLE=$1"
	arm=$(jq -r '.keys[] | select(.coll == "AllReduce") | .arm' <<<"$output")
	why=$(jq -rs '[.[].comms[].keys[] | select(.coll == "AllReduce") | .why // ""] | unique[]' <(rank_records "$dir" | jq -c "select(.task == 0)"))
}

@test "an arm is chosen if it gains more than the following work loses" {
	ranks 5
	[ "$arm" = TREE/SIMPLE ]
	ranks 5 reward=period
	[ "$arm" = TREE/SIMPLE ]
}

@test "an arm is not chosen if the following work loses more, and the record says why" {
	ranks 60
	[ "$arm" = RING/LL128 ]
	[ "$why" = period ]
	ranks 60 reward=period
	[ "$arm" = RING/LL128 ]
	[[ $why = screened || $why = small || $why = chance ]]
}

# An 8 % faster AllReduce in a program that computes twice as long: 2.6 % of the time from call to call.
@test "a gain is relative to the collective's own time, not to the program's computing" {
	for policy in min_gain=12 ""; do
		four_ranks "$policy" --sync never --queue 64 --coll allreduce --sizes 4M --noise lognormal:0.005 \
			--lateness-us 0 --more 100000 --arm AllReduce:TREE/SIMPLE=0.721 --compute-us 116
		arm=$(jq -r '.keys[].arm' <<<"$output")
		if [ -z "$policy" ]; then
			[ "$arm" = TREE/SIMPLE ]
		else
			[ "$arm" = RING/LL128 ]
		fi
	done
	# The GPU computes 116 us between the calls, and the collective takes the rest.
	run -0 jq -s '[.[].comms[].keys[]] | all(.own_us[0] > 48 and .own_us[0] < 65 and .own_us[1] < .own_us[0] and
		.us[0] - .own_us[0] > 110 and .period_us[0] > .us[0] * 0.95)' <(rank_records "$dir" | jq -c "select(.task == 0)")
	[ "$output" = true ]
}
