#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# The agreement as a model, searched to its end by Spin; tests/model/check.sh prints a line for each size and each rule
# taken away.
bats_require_minimum_version 1.5.0

setup() {
	command -v spin >/dev/null || skip "no spin here: the model of the agreement is NOT checked"
}

# check LEAST [OPTION]...: so many lines must be ok, and none not.
check() {
	local rc=0 least=$1 log=$BATS_TEST_TMPDIR/log
	shift
	"$BATS_TEST_DIRNAME/check.sh" "$@" >"$log" || rc=$?
	sed -nE 's/^not ok/# &/; /^#/p' "$log" >&3
	[ "$rc" = 0 ]
	[ "$(grep -c '^ok ' "$log")" -ge "$least" ]
}

@test "no two ranks differ and every wait ends, in all orders of events of small sizes" {
	check 12 --sizes
}

@test "removing a rule of the agreement is detected" {
	check 26 --mutants
}
