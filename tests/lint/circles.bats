#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# Files that include each other in a circle can only be understood all at once.
bats_require_minimum_version 1.5.0
load sources

setup() {
	top=$BATS_TEST_DIRNAME/../..
}

# circles TOP: of the product files below it
circles() {
	local files
	cd "$1" || exit 1
	mapfile -t files < <(product_files)
	awk -f "$BATS_TEST_DIRNAME/edges.awk" round=1 "${files[@]}" round=2 "${files[@]}" |
		awk -f "$BATS_TEST_DIRNAME/circles.awk"
}

@test "no circle among the product files" {
	cd "$top" || exit 1
	[ "$(product_files | wc -l)" -gt 100 ]
	none "$(circles .)"
}
