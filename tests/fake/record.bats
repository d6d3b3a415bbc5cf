#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# A job for every setting: whatever it makes the ranks write, the step's record has all of them. The settings and their
# words are those of the table in contract/policy.h.
bats_require_minimum_version 1.5.0
load ../lib/policy
load ../lib/records

setup_file() {
	alone_environment
}

setup() {
	dir=$BATS_TEST_TMPDIR/step
}

# job OPTION [fake option]...: four ranks of the simulated NCCL on one node with that option; the step's record is in
# $output, and every rank's was read. Mode policy has an arm to follow.
job() {
	local option=$1
	local -x NCCL_TUNE_WARM=
	[[ $option != policy* ]] || NCCL_TUNE_WARM="v=1 nccl=23007 fabric=any fingerprint=0000000000000001 \
4r1n.AllReduce.4194304=RING/SIMPLE"
	rm -rf "$dir"
	mkdir -m 700 "$dir"
	NCCL_TUNE_POLICY=$("$RECORD" policy "$dir" "$option") run -0 timeout -k 2 1000 "$FAKE" --fork 4 --nodes 1 \
		--nccl 2.30.7 --noise lognormal:0.02 --call-gap-us 50 --sizes 4M --iters 6000 "${@:2}"
	run -0 --separate-stderr "$RECORD" step "$dir" "${option%%,*}"
	[ "$stderr" = "4 read, 0 unusable" ] || { echo "$option: $stderr"; return 1; }
	"$RECORD" check "$SCHEMA/rank.schema.json" <(rank_records "$dir")
	"$RECORD" check "$SCHEMA/step.schema.json" /dev/stdin <<<"$output"
}

json() {
	jq -e "$1" <<<"$output" >/dev/null || { printf '%s\n' "$1" "$output" >&2; return 1; }
}

@test "every setting is tried, with each of its words" {
	run -0 "$RECORD" options
	[[ $output = *"bandit,channels=on"*"bandit,reward=period"* ]]
	[ "$(sed 's/^[^,]*,//; s/=.*//' <<<"$output" | grep -v '^off$\|^observe$' | sort -u | wc -l)" -ge 15 ]
}

@test "with every setting all ranks' records are readable, and the step's record has their keys" {
	local option options
	options=$("$RECORD" options)
	for option in $options; do
		[ "$option" != off ] || continue
		job "$option"
		json '."4r1n"."AllReduce 4M".auto | length > 0' || { echo "$option"; return 1; }
	done
}

@test "also with channels" {
	job bandit,channels=on --arm RING/SIMPLE=0.8 --iters 20000 --more 60000 --settled
	json '."4r1n"."AllReduce 4M" | .samples > 0 and .calls >= 20000'
	rank_records "$dir" | grep '"channels":{' | jq -e '[.explored[].arms[].arm] | any(contains("ch"))'
}

@test "a report reads only its own member" {
	local deep
	deep=$(printf '[%.0s' {1..40})1$(printf ']%.0s' {1..40})
	echo '{"other":"é","deep":'"$deep"',"nccl_tune":{"v":1,"0":{"mode":"bandit"}}}' >"$BATS_TEST_TMPDIR/comment"
	run -0 "$SHOW" report --file "$BATS_TEST_TMPDIR/comment"
	[[ $output != *[Dd]amaged* ]]
}

# What version 1 has written once, and is kept as it was; and the same as a later release might write it: with members
# that nobody knows today in every object but lists of counts and of rows, and a line of another kind.
KEPT=../unit/data/kept

later() {
	jq -c 'walk(if type == "object" and (has("cut") or any(keys[]; test("^[A-Z][A-Za-z]+ [0-9]")) | not) then
		. + {zz_later: {a: [1, "x", null], b: {}}} else . end)' "$BATS_TEST_DIRNAME/$KEPT/$1"
}

@test "a job's record of version 1 is read, and so is one of a later release" {
	local kept=$BATS_TEST_DIRNAME/$KEPT/v1-job.json form
	"$RECORD" check "$SCHEMA/job.schema.json" "$kept"
	later v1-job.json >"$BATS_TEST_TMPDIR/later"
	run -1 "$RECORD" check "$SCHEMA/job.schema.json" "$BATS_TEST_TMPDIR/later"
	for form in '' --json --prometheus; do
		run -0 --separate-stderr "$SHOW" report $form --file "$BATS_TEST_TMPDIR/later"
		[ "$output" = "$("$SHOW" report $form --file "$kept")" ]
	done
	run -0 "$SHOW" report --file "$kept"
	[[ $output = *"AllReduce     4M"*"TREE/SIMPLE"* && $output = *"AllReduce    16K"* && $output != *[Dd]amaged* ]]
}

@test "a part of a long form of version 1 is read, and so is one of a later release" {
	local dir=$BATS_TEST_TMPDIR/part
	mkdir "$dir"
	gzip -c "$BATS_TEST_DIRNAME/$KEPT/v1-part.jsonl" >"$dir/0.n1.jsonl.gz"
	records_part "$dir/0.n1.jsonl.gz"
	{ later v1-part.jsonl; echo '{"zz_line":[1,2]}'; } | gzip >"$dir/later.jsonl.gz"
	run ! records_part "$dir/later.jsonl.gz"
	zcat "$dir/later.jsonl.gz" | jq -c '.rank | objects' | "$RECORD" put "$dir" 0 1
	run -0 --separate-stderr "$RECORD" step "$dir" bandit
	[ "$stderr" = "1 read, 0 unusable" ]
	json '."4r1n" | ."AllReduce 4M".arm == "TREE/SIMPLE" and ."AllReduce 16K".why == "small"'
}
