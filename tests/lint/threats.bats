#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# docs/threat-model.md names a test for every attack: these tests are there.
bats_require_minimum_version 1.5.0
load sources

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || exit 1
}

# named FILE: what the last column of its tables of attacks names, one a line
named() {
	awk -F'|' '
		/^\| attack \|/ { on = 1; next }
		!/^\|/ { on = 0 }
		on && !/^\|---/ { n = split($(NF - 1), test, "<br>"); for (i = 1; i <= n; i++) print test[i] }' "$1" |
		sed 's/^ *//; s/ *$//'
}

# missing: of the names on stdin, those that no file or no test has. A fuzz target is a test by itself.
missing() {
	local file name at
	while IFS= read -r name; do
		file=${name%%: *}
		for at in "tests/$file.bats" "tests/$file.c" tests/unit/*/"${file#unit/}.c" ''; do
			[ ! -f "$at" ] || break
		done
		[ -n "$at" ] || { echo "no test file: $name"; continue; }
		case $at in
		tests/fuzz/*) [ "$file" = "$name" ] || echo "a target has no tests: $name" ;;
		*.bats) grep -qxF "@test \"${name#*: }\" {" "$at" || echo "no such test: $name" ;;
		*) grep -qxF "static void ${name#*: }(void **state)" "$at" || echo "no such test: $name" ;;
		esac
	done
}

@test "every attack of the threat model names tests that exist" {
	[ "$(named docs/threat-model.md | wc -l)" -gt 50 ]
	none "$(named docs/threat-model.md | missing)"
}
