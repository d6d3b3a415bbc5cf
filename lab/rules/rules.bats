#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# nt-replay and nt-engine-sim: the other rules on measured and made-up times.
#
bats_require_minimum_version 1.5.0

setup() {
	tests=$NT_STAGE/libexec/nccl-tune/tests
	traces=$BATS_TEST_DIRNAME/../../tests/traces
	cells=("$traces"/h200-1x8-seq.csv "$traces"/h200-2x4-{10gbit,ovl,seq}.csv)
	trace=$BATS_TEST_TMPDIR/trace.csv
}

# replay RULE ARG...: the answer in JSON, in $output; $lines are useless then.
replay() {
	run -0 --separate-stderr "$tests/nt-replay" "$1" --json "${@:2}"
}

holds() {
	jq -e "$@" <<<"$output" >/dev/null || { printf '%s\n' "$*" "$output"; return 1; }
}

noise() {
	"$tests/nt-noise" "$@" >"$trace"
}

# rates CONDITION ARG...: the race with two arms beside AUTO; CONDITION of found and wrong, in percent of the trials, for each noise
rates() {
	run -0 "$tests/nt-engine-sim" -r race -a 3 -n 300 "${@:2}"
	awk 'NR > 1 && !/^mean/ {
		split(substr($0, 17), field)
		found = field[1]
		wrong = field[2]
		n++
		if (!('"$1"')) {
			print "not: " $0
			bad = 1
		}
	}
	END { exit bad || n == 0 }' <<<"$output"
}

@test "a race takes fewer calls where times lie close together" {
	replay race --picks "$traces/h200-auto-picks.csv" "${cells[@]}"
	holds 'all(.[]; .rule == "race" and .chosen_us <= 1.01 * .auto_us) and ([.[].calls] | add / length) < 50'
	noise -c 2 -n 400 lognormal-3
	replay race --aa 200 "$trace"
	holds 'all(.[]; .rate <= 0.02)'
	replay race --power 10 --trials 100 "$trace"
	holds 'all(.[]; .rate >= 0.97)'
}

@test "a race errs as rarely as our rule, and finds as much" {
	rates 'wrong <= 2' aa
	rates 'found >= 99' -f lognormal-3 power=10
	rates 'found >= 95' -f lognormal-8 power=10
	rates 'found >= 85' -f bimodal-3 power=10
	rates 'found + wrong <= 2' -f lognormal-3 stalls=30
}

@test "another's rules err where ours does not" {
	noise -c 1 -n 1000 bimodal-3
	replay paper-online --aa 200 "$trace"
	holds '.[0].rate > 0.2'
	replay ucb1 --aa 200 "$trace"
	holds '.[0].rate > 0.2'
	replay paper-offline --aa 200 "$trace"
	holds '.[0].rate > 0.05 and .[0].rule == "paper-offline"'
	replay nccl-tune --aa 200 "$trace"
	holds '.[0].rate <= 0.02'
}

@test "the paper's rule does what the paper says" {
	{
		echo "allreduce,2x4,seq,AUTO,AUTO,1024,$(printf '100,%.0s' {1..10})"
		echo "allreduce,2x4,seq,Tree,Simple,1024,$(printf '94,%.0s' {1..9})900"
		echo "allreduce,2x4,seq,AUTO,AUTO,2048,$(printf '100,%.0s' {1..10})"
		echo "allreduce,2x4,seq,Tree,Simple,2048,$(printf '96,%.0s' {1..9})900"
	} >"$trace"
	replay paper-online "$trace"
	holds '[.[].chosen_arm] == ["TREE/SIMPLE", "AUTO"] and all(.[]; .calls == 20)'
}

@test "what is no rule is refused" {
	run -2 "$tests/nt-replay"
	[[ $output = *"RULE (nccl-tune, race, paper-online, paper-offline, ucb1)"* ]]
	run -1 "$tests/nt-replay" best "${cells[0]}"
	[[ $output = *"best: No such file"* ]]
	run -2 "$tests/nt-engine-sim" -r best aa
	run -1 "$tests/nt-engine-sim" -f none aa
}
