#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# nccl-tune compare on records in files, without Slurm. What it asks of Slurm is in cluster/30-report-job.
# shellcheck disable=SC2154 # what bats sets
bats_require_minimum_version 1.5.0
load ../lib/policy
load ../lib/records

setup_file() {
	alone_environment
}

setup() {
	cd "$BATS_TEST_TMPDIR" || exit 1
}

compare() {
	"$NT_STAGE/bin/nccl-tune" compare "$@"
}

# row SIZE ARM US QUARTER: a collective whose calls take US with the arm in use and vary by QUARTER either way
row() {
	printf '"AllReduce %s":{"auto":"RING/SIMPLE","arm":"%s","us":[%s,%s],"p25_us":[%s,%s],"p75_us":[%s,%s],"own_us":[%s,%s],"calls":100}' \
		"$1" "$2" "$3" "$3" $(($3 - $4)) $(($3 - $4)) $(($3 + $4)) $(($3 + $4)) "$3" "$3"
}

# step NAME NCCL US QUARTER ROW...: a step whose program's own steps take US
step() {
	local rows
	rows=$(IFS=, && echo "${*:5}")
	printf '"%s":{"mode":"bandit","nccl":"%s","ranks":8,"nodes":2,"per_node":4,"fabric":"socket","step_us":[%s,%s,%s],"steps":600,"8r2n":{%s}}' \
		"$1" "$2" $(($3 - $4)) "$3" $(($3 + $4)) "$rows"
}

# job FILE STEP...
job() {
	(IFS=, && printf '{"nccl_tune":{"v":1,%s}}' "${*:2}") >"$1"
}

json() {
	jq -e "$1" <<<"$output" >/dev/null || { printf '%s\n' "$1" "$output" >&2; return 1; }
}

@test "times, bandwidths, choices and settings side by side, and which differences are beyond noise" {
	job a "$(step 0 2.28.9 10000 100 "$(row 16K AUTO 20 5)" "$(row 1M TREE/LL 100 5)" "$(row 4M AUTO 500 9)")"
	job b "$(step 0 2.30.7 9900 100 "$(row 16K AUTO 24 5)" "$(row 1M AUTO 150 5)" "$(row 16M AUTO 900 9)")"
	run -0 --separate-stderr compare a b
	[ -z "$stderr" ]
	[ "$(wc -L <<<"$output")" -le 80 ]
	[[ $(tr -s ' \n' ' ' <<<"$output") = *'step takes 10.0 ms in A and 9.90 ms in B: B is 1.0 % faster, within noise.'* ]]
	[[ $(tr -s ' \n' ' ' <<<"$output") = *'1 slower in B beyond noise, 1 within noise, 1 only in A, 1 only in B.'* ]]
	[[ $(tr -s ' ' <<<"$output") = *$'\nNCCL 2.28.9 2.30.7 differs\n'*$'\nnodes 2 2 same\n'* ]]
	[[ $(tr -s ' ' <<<"$output") = *$'\nAllReduce 1M 100.0 150.0 +50.0 beyond 18.35 12.23\n A: Tree/LL; B: Ring/Simple (NCCL\'s choice)\n'* ]]
	[[ $(tr -s ' ' <<<"$output") = *$'\nAllReduce 4M 500.0 - - only in A '* ]]
	run -0 compare --json a b
	"$RECORD" check "$SCHEMA/compare.schema.json" /dev/stdin < <(jq -c . <<<"$output")
	json '.jobs == ["a", "b"] and .steps[0].step.noise == "within" and .steps[0].step.change_percent == -1'
	json '[.steps[0].settings[] | select(.same == false)] == [{"name": "nccl", "values": ["2.28.9", "2.30.7"], "same": false}]'
	json '[.steps[0].keys[] | [.bytes, .call.noise, .arms[0], .arms[1]]] == [[16384, "within", "RING/SIMPLE", "RING/SIMPLE"],
		[1048576, "beyond", "TREE/LL", "RING/SIMPLE"], [4194304, "unknown", "RING/SIMPLE", null],
		[16777216, "unknown", null, "RING/SIMPLE"]]'
}

@test "without quartiles in a record noise is unknown" {
	job a "$(step 0 2.28.9 10000 100 "$(row 1M AUTO 100 5)")"
	sed 's/"p25_us":[^]]*],//; s/"step_us":[^]]*],//' a >b
	run -0 compare --json a b
	json '.steps[0].step.noise == "unknown" and .steps[0].keys[0].call.noise == "unknown"'
	json '.steps[0].keys[0].call.us == [100, 100] and .steps[0].step.us == [10000, null]'
	run -0 compare b a
	[[ $output = *'1 without a known spread.'* && $output != *'step takes'* ]]
}

@test "steps belong together by their order, without those of a calibration" {
	job a "$(step 0 2.28.9 100 1 "$(row 1M AUTO 10 1)")" "$(step 1 2.28.9 300 1 "$(row 4M AUTO 30 1)")"
	job b "$(step 0 2.28.9 70 1 "$(row 1M AUTO 7 1)" | sed 's/"mode"/"calibration":1,&/')" \
		"$(step 1 2.28.9 120 1 "$(row 1M AUTO 12 1)")"
	run -0 compare --json a b
	json '[.steps[].steps] == [["0", "1"], ["1", null]]'
	run -0 compare a b
	[[ $output = *'Step 0 of a (A), step 1 of b (B):'*'Step 1 of a (A), no such step in B:'* ]]
}

@test "what has no record, what is damaged, wrong usage" {
	job a "$(step 0 2.28.9 100 1 "$(row 1M AUTO 10 1)")"
	: >none
	run -1 --separate-stderr compare a none
	[[ $stderr = 'nccl-tune compare: none has no record of a step' && -z $output ]]
	run -1 compare a ./not-there
	[[ $output = *'./not-there: No such file'* ]]
	head -c -20 a >cut.off
	run -1 --separate-stderr compare a cut.off
	[[ $stderr = 'nccl-tune compare: cut.off: the record is damaged' && -z $output ]]
	sed 's/"calls":100/"calls":"x"/' a >part
	run -1 --separate-stderr compare a part
	[[ $stderr = 'nccl-tune compare: part: the record is damaged' && $output = *'step takes'* ]]
	run -2 compare a
	run -2 compare a a a
	run -2 compare --csv a a
}
