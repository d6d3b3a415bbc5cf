#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# The simulated NCCL under launch variables: times of the trace's rows for what is set, measured and made up; a training
# loop with a step marker, and steps that are slower though their calls are faster.
bats_require_minimum_version 1.5.0
load ../lib/policy

readonly WIDE=NCCL_MIN_NCHANNELS=8+NCCL_SOCKET_NTHREADS=2+NCCL_NSOCKS_PERTHREAD=4

setup_file() {
	alone_environment
	export MADE=$TESTS/nt-launch-trace KNOBS=$BATS_TEST_DIRNAME/../traces/h200-2x4-launch-knobs.csv
	export PLUGIN=$TESTS/nt-fake-plugin.so
	export NCCL_TUNER_PLUGIN=none NCCL_PROFILER_PLUGIN=none
}

# fake TRACE [option]...: eight ranks on two nodes, each sample of the trace as it is.
fake() {
	timeout -k 2 1000 "$FAKE" --fork 8 --nodes 2 --iters 20 --call-gap-us 0 --lateness-us 0 --noise none \
		--peer-timeout 60 --trace "$1,2x4" "${@:2}"
}

# under SET fake...: with these launch variables in the environment.
under() {
	local -a set=()
	[ "$1" = none ] || IFS=+ read -ra set <<<"$1"
	(for one in "${set[@]}"; do export "${one?}"; done; "${@:2}")
}

json() {
	jq -er "$1" <<<"$output" >/dev/null || { printf '%s\n' "$1" "$output" >&2; return 1; }
}

# sum_of SET SIZE N: the trace's first N samples of AUTO there, microseconds.
sum_of() {
	awk -F, -v set="$1" -v size="$2" -v n="$3" \
		'$1 == set && $5 == "AUTO" && $7 == size { for (i = 8; i < 8 + n; i++) s += $i; printf "%.0f", s }' "$KNOBS"
}

@test "times are those of the rows whose launch variables are set, in any order" {
	local set sum
	for set in none "$WIDE" NCCL_BUFFSIZE=16777216; do
		run -0 --separate-stderr under "$set" fake "$KNOBS" --sizes 4M
		sum=$(sum_of "$set" 4194304 20)
		json "(.keys[0].total_us - $sum) | fabs < 2"
	done
	run -0 --separate-stderr under NCCL_NSOCKS_PERTHREAD=4+NCCL_MIN_NCHANNELS=8+NCCL_SOCKET_NTHREADS=2 \
		fake "$KNOBS" --sizes 4M
	json "(.keys[0].total_us - $(sum_of "$WIDE" 4194304 20)) | fabs < 2"
	json '.launch | test("NCCL_MIN_NCHANNELS=8")'
	# A variable that the trace does not name changes nothing.
	run -0 --separate-stderr under NCCL_IB_TIMEOUT=22 fake "$KNOBS" --sizes 4M
	json '.launch == "none"'
	# One set from inside, as a plugin's variables are.
	run -0 --separate-stderr fake "$KNOBS" --sizes 4M --env NCCL_MIN_NCHANNELS=8
	json "(.keys[0].total_us - $(sum_of NCCL_MIN_NCHANNELS=8 4194304 20)) | fabs < 2"
}

@test "a set that is not in the trace is refused, or replaced by another on request" {
	run -2 under NCCL_NSOCKS_PERTHREAD=4 fake "$KNOBS"
	[[ $output = *"no times of launch variables NCCL_NSOCKS_PERTHREAD=4 in "*"--launch-else"* ]]
	run -2 under NCCL_MIN_NCHANNELS=9 fake "$KNOBS"
	run -2 under NCCL_MIN_NCHANNELS=9 fake "$KNOBS" --launch-else NCCL_MIN_NCHANNELS=10
	run -0 --separate-stderr under NCCL_MIN_NCHANNELS=9 fake "$KNOBS" --sizes 4M --launch-else none
	json "(.keys[0].total_us - $(sum_of none 4194304 20)) | fabs < 2 "
	json '.launch == "NCCL_MIN_NCHANNELS=9"'
	run -2 fake "$KNOBS" --slow-after 5:2:NONSENSE
	[[ $output = *"--slow-after: launch variables 'NONSENSE' (want none or NAME=VALUE+NAME=VALUE...)"* ]]
	run -2 fake "$KNOBS" --slow-after 5
	run -2 fake "$KNOBS" --compute-factor none
	run -2 fake "$KNOBS" --sizes 64Kx0
	run -2 fake "$KNOBS" --sizes 64Kx300,1Mx300
}

@test "ranks with different launch variables stop the job, and every rank says so" {
	run -70 fake "$KNOBS" --launch-else none --env NCCL_MIN_NCHANNELS=%n8
	[ "$(grep -c 'MISMATCH launch variables: rank 0 NCCL_MIN_NCHANNELS=08, rank 4 NCCL_MIN_NCHANNELS=18' <<<"$output")" = 8 ]
}

@test "wide launch variables have more channels, and a limit of channels takes the trace's time" {
	local wide=$BATS_TEST_TMPDIR/wide.csv
	"$MADE" --best wide --noise 0 --picks "$BATS_TEST_TMPDIR/picks.csv" >"$wide"
	export NCCL_TUNER_PLUGIN=$PLUGIN
	export NT_FAKE_PLUGIN=idle
	run -0 --separate-stderr under none fake "$wide" --auto-picks "$BATS_TEST_TMPDIR/picks.csv" --sizes 256K
	json '.keys[0].arm == "RING/SIMPLE"'
	local default
	default=$(jq '.keys[0].last_us' <<<"$output")
	run -0 --separate-stderr under "$WIDE" fake "$wide" --auto-picks "$BATS_TEST_TMPDIR/picks.csv" --sizes 256K
	local uncapped
	uncapped=$(jq '.keys[0].last_us' <<<"$output")
	jq -en "$uncapped > 1.2 * $default"
	export NT_FAKE_PLUGIN=channels:2
	run -0 --separate-stderr under "$WIDE" fake "$wide" --auto-picks "$BATS_TEST_TMPDIR/picks.csv" --sizes 256K
	json '.keys[0].arm == "RING/SIMPLE/2ch"'
	json ".keys[0].last_us < 0.9 * $uncapped"
	# A cap that the trace has not takes as long as NCCL's own pick.
	export NT_FAKE_PLUGIN=channels:3
	run -0 --separate-stderr under "$WIDE" fake "$wide" --auto-picks "$BATS_TEST_TMPDIR/picks.csv" --sizes 256K
	json ".keys[0].last_us == $uncapped"
}

# best TRACE MIX: the profile that its head names, and how much that gains.
best() {
	awk -F, -v mix="$2" '$1 == "# best" && $2 == mix { print $3 }' "$1"
}

@test "made-up traces: each profile is best once, or none is, with any seed" {
	local name seed trace=$BATS_TEST_TMPDIR/made.csv
	for name in wide threads sockets none; do
		for seed in 1 2 3 4 5 6 7 8; do
			"$MADE" --best "$name" --seed "$seed" --samples 2 >"$trace"
			[ "$(best "$trace" large)" = "$name" ]
			[ "$(best "$trace" both)" = "$name" ]
			[ "$(best "$trace" small)" != wide ] || [ "$name" = wide ]
		done
	done
	"$MADE" --best wide >"$trace"
	run -0 "$MADE" --best wide --seed 1
	[ "$output" = "$(cat "$trace")" ]
	run ! cmp "$trace" <("$MADE" --best wide --seed 2)
	run -2 "$MADE" --best fast
	run -0 "$MADE" --profile wide=NCCL_MIN_NCHANNELS=4+NCCL_BUFFSIZE=8388608 --topology 4x2
	grep -q '^NCCL_MIN_NCHANNELS=4+NCCL_BUFFSIZE=8388608,allreduce,4x2,seq,Tree,LL/2ch,65536,' <<<"$output"
	run -1 grep '/4ch' <<<"$output"
}

@test "a profile that is good at first and bad later: by rounds, or by calls of the trace" {
	local made=$BATS_TEST_TMPDIR/made.csv
	"$MADE" --best wide --noise 0 >"$made"
	local -a slow=(--sizes 16M --slow-after "12:5:$WIDE" --iters 24)
	run -0 --separate-stderr under "$WIDE" fake "$made" "${slow[@]}"
	json '.keys[0] | .last_us / .first_us | . > 4.9 and . < 5.1'
	json '(.keys[0].total_us / .keys[0].first_us) | . > 70 and . < 75'
	run -0 --separate-stderr under none fake "$made" "${slow[@]}"
	json '.keys[0].last_us == .keys[0].first_us'
	"$MADE" --best wide --noise 0 --fade 10:6 >"$made"
	run -0 --separate-stderr under "$WIDE" fake "$made" --sizes 16M --iters 40
	json '.keys[0] | .last_us / .first_us | . > 5.9'
}

@test "a training loop: many large calls, one small one, and computing between them" {
	local made=$BATS_TEST_TMPDIR/made.csv
	"$MADE" --best wide --noise 0 >"$made"
	local -a loop=(--sizes 16Mx8,64K --compute-us 20000 --compute-factor "2:$WIDE")
	run -0 --separate-stderr under none fake "$made" "${loop[@]}"
	json '[.keys[].calls] == [160, 20]'
	json '.calls == 180 and .rounds.count == 20'
	local calls default
	calls=$(jq '8 * .keys[0].last_us + .keys[1].last_us' <<<"$output")
	default=$(jq .rounds.median_us <<<"$output")
	jq -en "($default - $calls - 20000) | fabs < 500"
	# Calls are faster, but what it computes is slower by more.
	run -0 --separate-stderr under "$WIDE" fake "$made" "${loop[@]}" --compute-us 60000
	json ".rounds.median_us > $default + 60000"
	json "8 * .keys[0].last_us + .keys[1].last_us < 0.5 * $calls"
	# Seen by a clock on the wall as well.
	local start=$EPOCHREALTIME
	run -0 under none fake "$made" "${loop[@]}" --realtime 0.5
	jq -en "$EPOCHREALTIME - $start > 0.45 * 20 * $default / 1e6"
}

@test "replay of such a trace compares the sets" {
	run -0 "$TESTS/nt-replay" "$KNOBS"
	[[ $output = *"launch variables, and times as fast as NCCL's default"* ]]
	[[ $output = *"$WIDE: 2x4 256K 0.28 2x4 4M 0.88 2x4 64M 3.99 2x4 256M 4.34"* ]]
	"$MADE" --best wide >"$BATS_TEST_TMPDIR/made.csv"
	run -0 "$TESTS/nt-replay" "$BATS_TEST_TMPDIR/made.csv"
	[[ $output = *", 24 cases: "*"0 slower than NCCL's choice by over 1 %"* ]]
	[[ $output = *"  none: 2x4 64K 1."* ]]
	run -0 "$TESTS/nt-replay" --json "$BATS_TEST_TMPDIR/made.csv"
	jq -es "[.[] | .. | .launch? // empty] | unique | length == 4" <<<"$output"
}
