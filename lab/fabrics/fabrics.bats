#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# nt-fabrics: calibrations on made-up fabrics, with the installed profiles.
bats_require_minimum_version 1.5.0

setup() {
	fabrics=$NT_STAGE/libexec/nccl-tune/tests/nt-fabrics
	profiles=$BATS_TEST_DIRNAME/../../etc/nccl-tune/profiles.conf
}

# holds CONDITION: of each line, by the names in the head.
holds() {
	# shellcheck disable=SC2154 # bats sets it
	awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ lines++ } !('"$1"') { print "not: " $0; bad = 1 } END { exit bad || lines != 48 }' <<<"$output"
}

@test "slower profiles are rarely chosen, which cannot be said of the best of one turn each" {
	run -0 "$fabrics" "$profiles" 60
	holds '$at["slower_percent"] <= 5 && $at["seconds"] <= 60 && $at["chosen"] >= 1 && $at["chosen"] <= $at["best"]'
	run ! holds '$at["naive_slower_percent"] <= 5'
}

@test "the same seeds give the same table; with more time more is found" {
	run -0 "$fabrics" "$profiles" 20 600
	local more=$output
	run -0 "$fabrics" "$profiles" 20 600
	[ "$output" = "$more" ]
	holds '$at["program"] != "dense" || $at["fabric"] != "ib" || $at["noise"] > 0.1 || $at["gained_percent"] >= 25'
	run -2 "$fabrics"
	run -1 "$fabrics" /nonexistent
}
