#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# What the GPU tests say about their runs, on runs that are made up: no GPU.
bats_require_minimum_version 1.5.0

@test "the summaries say of made-up runs what is known of them" {
	run -0 env PYTHONDONTWRITEBYTECODE=1 python3 "$BATS_TEST_DIRNAME/made_up.py"
}

@test "docs/results.md and its plots are what page.py makes of the measured figures" {
	local top=$BATS_TEST_DIRNAME/../.. copy=$BATS_TEST_TMPDIR/docs plot
	mkdir -p "$copy/results/plots" "$BATS_TEST_TMPDIR/tests"
	cp -R "$top/docs/results" "$copy/" && rm -rf "$copy/results/plots"
	ln -s "$(cd "$top/tests/traces" && pwd)" "$BATS_TEST_TMPDIR/tests/traces"
	run -0 env PYTHONDONTWRITEBYTECODE=1 python3 "$BATS_TEST_DIRNAME/page.py" "$copy/results" "$copy/results.md"
	diff "$top/docs/results.md" "$copy/results.md"
	diff -r "$top/docs/results/plots" "$copy/results/plots"
}
