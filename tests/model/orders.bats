#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# The agreement's shared memory on weak memory; tests/model/orders.sh says how.
bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || exit 1
	orders=tests/model/orders.sh
	gcc -v 2>/dev/null || skip "no gcc here: memory orders are NOT checked"
}

# Rows of docs/memory-orders.md, without the last column.
documented() {
	sed -nE 's/^\| ([a-z_]+) \| (load|store|cas|or|add|swap) \| /\1\t\2\t/p' docs/memory-orders.md |
		awk -F ' [|] ' -v OFS='\t' '{ print $1, $2, $3 }'
}

@test "each atomic access to shared memory is in docs/memory-orders.md, and no other" {
	"$orders" table </dev/null | cut -f1-4 >"$BATS_TEST_TMPDIR/source"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/source")" -gt 80 ]
	diff <(documented | cut -f1-4) "$BATS_TEST_TMPDIR/source"
}

@test "the explorer allows what C11 allows, and no more" {
	"$orders" litmus >"$BATS_TEST_TMPDIR/log" || { cat "$BATS_TEST_TMPDIR/log"; false; }
	[ "$(grep -c '^ok ' "$BATS_TEST_TMPDIR/log")" -ge 11 ]
}

@test "ranks never differ in all executions that C11 allows" {
	"$orders" search >"$BATS_TEST_TMPDIR/log" || { cat "$BATS_TEST_TMPDIR/log"; false; }
	grep '^#' "$BATS_TEST_TMPDIR/log" >&3
	[ "$(grep -c '^ok ' "$BATS_TEST_TMPDIR/log")" -ge 12 ]
}

@test "what each weaker order does is as documented" {
	"$orders" mutants >"$BATS_TEST_TMPDIR/mutants"
	diff <(grep -v '^#' docs/results/agreement/orders.txt) "$BATS_TEST_TMPDIR/mutants"
	diff <(documented) <("$orders" table <"$BATS_TEST_TMPDIR/mutants")
}
