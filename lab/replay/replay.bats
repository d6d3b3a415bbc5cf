#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# nt-replay on measured and made-up times: what is chosen, how often it is wrong, and what
# is said to files that are none.
#
bats_require_minimum_version 1.5.0

setup() {
	tests=$NT_STAGE/libexec/nccl-tune/tests
	traces=$BATS_TEST_DIRNAME/../../tests/traces
	cells=("$traces"/h200-1x8-seq.csv "$traces"/h200-2x4-{10gbit,ovl,seq}.csv)
	trace=$BATS_TEST_TMPDIR/trace.csv
}

# replay ARG...: the answer in JSON, in $output; $lines are useless then.
replay() {
	run -0 --separate-stderr "$tests/nt-replay" --json "$@"
}

holds() {
	jq -e "$@" <<<"$output" >/dev/null || { printf '%s\n' "$*" "$output"; return 1; }
}

# share COND LEAST: of the cells.
share() {
	holds "([.[] | select($1)] | length) / length >= $2"
}

noise() {
	"$tests/nt-noise" "$@" >"$trace"
}

@test "every measured cell: near the best arm, never slower than NCCL's choice" {
	replay "${cells[@]}"
	holds 'length == 34'
	share '.chosen_us <= 1.02 * .best_us' 0.95
	share '.chosen_us <= 1.01 * .auto_us' 1
	holds 'all(.[]; [has("collective", "topology", "mode", "bytes", "auto_us", "best_arm", "best_us", "chosen_arm",
		"chosen_us", "calls")] | all)'
	holds '.[] | select(.topology == "2x4" and .mode == "seq" and .bytes == 262144 and .auto_us < 300) |
		.chosen_arm == "TREE/SIMPLE" and .best_arm == .chosen_arm and .calls < 300'
}

@test "arms that no job can choose are left out: NCCL's own pick, and what it masks" {
	replay --picks "$traces/h200-auto-picks.csv" "${cells[@]}"
	holds 'length == 34 and all(.[]; has("auto_arm", "extra_us") and .chosen_arm != .auto_arm and .best_arm != .auto_arm)'
	holds 'all(.[] | select(.topology == "2x4"); (.chosen_arm, .best_arm) | endswith("LL128") | not)'
	holds '[.[] | select(.chosen_arm != "AUTO")] | length >= 8'
	holds '[.[] | .arms] | (min, max) | . >= 3 and . <= 6'
	share '.chosen_us <= 1.02 * .best_us' 0.94
	share '.chosen_us <= 1.01 * .auto_us' 1
	# The nearest size, a pair, and what is of another topology.
	printf '%s\n' allreduce,2x4,4096,Ring,LL,Tree/Simple allreduce,1x8,1024,Ring,LL,LL >"$trace"
	printf 'allreduce,2x4,seq,%s,1024,9,8,9\n' AUTO,AUTO Tree,Simple Tree,LL Ring,LL |
		"$tests/nt-replay" --json --picks "$trace" - | jq -e '.[0] | .arms == 2 and .auto_arm == "RING/LL"'
	printf 'allreduce,4x2,seq,%s,1024,9,8,9\n' AUTO,AUTO Tree,Simple Tree,LL Ring,LL |
		"$tests/nt-replay" --json --picks "$trace" - | jq -e '.[0] | .arms == 4 and (has("auto_arm") | not)'
	local line
	for line in allreduce,2x4,4096,Ring,LL,LL256 allreduce,2x4,4096,Ring,LL,Star/LL; do
		echo "$line" >"$trace"
		run -1 --separate-stderr "$tests/nt-replay" --picks "$trace" "${cells[0]}"
		[[ $stderr = *"trace.csv:1: unknown protocol or pair"* ]] || { echo "$stderr"; return 1; }
	done
}

@test "made-up cells: near the best arm, never slower than NCCL's choice" {
	noise -c 20 -n 400 lognormal-3 lognormal-8 drift tail
	replay "$trace"
	holds 'length == 80'
	share '.chosen_us <= 1.02 * .best_us' 0.95
	share '.chosen_us <= 1.01 * .auto_us' 1
	noise -c 20 -n 400 bimodal-3
	replay "$trace"
	share '.chosen_us <= 1.01 * .auto_us' 1
}

@test "identical arms are left alone, a faster one is found" {
	replay --aa 300 "${cells[@]}"
	holds 'length == 34 and all(.[]; .trials == 300 and .rate <= 0.02)'
	holds '([.[].rate] | add) / length <= 0.005'
	noise -c 1 -n 1000 lognormal-3 lognormal-8
	replay --power 10 --trials 200 "$trace"
	holds 'length == 2 and all(.[]; .trials == 200 and .rate >= 0.95) and .[0].rate_within_40 >= 0.95'
}

@test "the same seed gives the same answer" {
	replay --power 5 --trials 50 --seed 4 "${cells[0]}"
	local first=$output
	replay --power 5 --trials 50 --seed 4 "${cells[0]}"
	[ "$output" = "$first" ]
	replay --power 5 --trials 50 --seed 5 "${cells[0]}"
	[ "$output" != "$first" ]
}

@test "any unit of time gives the same choice" {
	replay "${cells[3]}"
	local first
	first=$(jq -c '[.[].chosen_arm]' <<<"$output")
	awk -F, -v OFS=, '!/^#/ { for (i = 7; i <= NF; i++) $i *= 100000 } 1' "${cells[3]}" >"$trace"
	replay "$trace"
	[ "$(jq -c '[.[].chosen_arm]' <<<"$output")" = "$first" ]
	awk -F, -v OFS=, '!/^#/ { for (i = 7; i <= NF; i++) $i /= 10000 } 1' "${cells[3]}" >"$trace"
	replay "$trace"
	[ "$(jq -c '[.[].chosen_arm]' <<<"$output")" = "$first" ]
}

@test "standard input, one arm, an arm in two lines, another order, Windows line ends" {
	run -0 "$tests/nt-replay" --json - <<<"allreduce,1x8,seq,AUTO,AUTO,1024,10,11,12"
	holds '.[0] | .chosen_arm == "AUTO" and .calls == 0 and .auto_us == 11 and .best_arm == "AUTO"'
	printf '%s\r\n' "allgather,2x4,ovl,Ring,LL,1024,5,5,5," "AllGather, 2x4, ovl, auto, auto, 1024, 9, 9" '' '# x' \
		"allgather,2x4,ovl,AUTO,AUTO,1024,9,8.5,8.5,8.5" >"$trace"
	replay "$trace"
	holds 'length == 1 and (.[0] | .auto_us == 8.75 and .best_us == 5 and .chosen_arm == "RING/LL")'
}

@test "an invalid trace is refused, with the line and the mistake" {
	local line
	while IFS='|' read -r line want; do
		printf '# comment\n%s\n' "$line" >"$trace"
		run -1 --separate-stderr "$tests/nt-replay" --json "$trace"
		[[ $stderr = *"trace.csv:2: "*"$want"* ]] || { echo "$line: $stderr"; return 1; }
		[ "$(jq length <<<"$output")" = 0 ]
	done <<-'END'
		allreduce,2x4,seq,Star,LL,1024,1|unknown algorithm or protocol 'Star,LL'
		alltoall,2x4,seq,Ring,LL,1024,1|unknown collective 'alltoall'
		allreduce,2x4,seq,Ring,LL,64K,1|bad size '64K'
		allreduce,2x4,seq,Ring,LL,1024,1,nan|sample 2 is 'nan'
		allreduce,2x4,seq,Ring,LL,1024,1,-3|sample 2 is '-3'
		allreduce,2x4,seq,Ring,LL,1024,1,,2|sample 2 is ''
		allreduce,2x4,seq,Ring,LL,1024|no samples
		allreduce,2x4|too few fields
	END
	head -c 20000 /dev/urandom >"$trace"
	run -1 "$tests/nt-replay" "$trace"
	: >"$trace"
	run -1 --separate-stderr "$tests/nt-replay" "$trace"
	[[ $stderr = *empty* ]]
	run -1 --separate-stderr "$tests/nt-replay" "$BATS_TEST_TMPDIR/none"
	[[ $stderr = *"No such file"* ]]
}

@test "cells without NCCL's choice are left out, with a message" {
	printf '%s\n' allreduce,2x4,seq,Ring,LL,1024,1 allreduce,2x4,seq,AUTO,AUTO,2048,1 >"$trace"
	run -1 --separate-stderr "$tests/nt-replay" --json "$trace"
	[[ $stderr = *"1 ignored: no row of NCCL's choice (AUTO)"* ]]
	holds 'length == 1 and .[0].bytes == 2048'
}

@test "an invalid command line is refused" {
	local args
	while IFS='|' read -r args want; do
		# shellcheck disable=SC2086 # words
		run -2 --separate-stderr "$tests/nt-replay" $args
		[[ $stderr = *"$want"* ]] || { echo "$args: $stderr"; return 1; }
	done <<-'END'
		|usage: nt-replay
		--aa 0 x|--aa '0'
		--aa 5 --power 10 x|cannot be combined
		--trials 5 x|needs --power
		--power 100 x|bad --power '100'
		--rule race x|unrecognized option
		--policy bandit,rule=race x|unknown setting 'rule=race'
		--seed x x|--seed 'x'
	END
}
