#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# The checker of traces has the model's transitions and no others, the simulator's runs make all of them, and mutants of
# the code make some that are not allowed.
bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || return 1
	build=${NT_BUILD:-build}
}

@test "the checker and agree.pml have the same transitions" {
	sed -n 's/^\tX(\([a-z]*\)).*/transition: \1/p' tests/model/trace-check.h | sort >"$BATS_TEST_TMPDIR/checker"
	grep -o 'transition: [a-z]*' tests/model/agree.pml | sort >"$BATS_TEST_TMPDIR/model"
	run -0 diff "$BATS_TEST_TMPDIR/checker" "$BATS_TEST_TMPDIR/model"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/model")" -gt 20 ]
}

@test "what the simulator does is allowed, and is all that the checker knows" {
	local options
	for options in '--mix --runs 400' '--mix --brief --runs 400' '--mix --calls 1500 --runs 40'; do
		# shellcheck disable=SC2086 # words
		run -0 "$build/lab/sim/nt-agree-sim" $options
		jq -e '.unmodelled == 0 and .transitions > 20000 and (.untried | length) == 0' <<<"$output"
	done
}

@test "two writes in the wrong order, a check left out, an epoch that is not compared" {
	run -0 lab/sim/mutants.sh -a -s 10 \
		-n 'the epoch is published before|turns are looked at before|no second look|an answer to another proposal'
	[ "$(grep -cE '^ok .* (install|ack|commit) +[0-9]+ runs$' <<<"$output")" = 4 ]
}
