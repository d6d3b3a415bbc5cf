#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# House rules that a machine can check.
bats_require_minimum_version 1.5.0
load sources

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || exit 1
}

@test "every C file names its licence in the first two lines" {
	local found
	[ "$(sources | wc -l)" -gt 10 ]
	found=$(sources | while read -r file; do
		head -n 2 "$file" | tr '\n' ' ' |
			grep -q 'SPDX-FileCopyrightText: .*SPDX-License-Identifier: Apache-2.0' || echo "$file"
	done)
	none "$found"
}

@test "no function without a bound on its output or a way to report unread input" {
	none "$(sources | xargs grep -nE '\b(strcpy|strcat|sprintf|vsprintf|gets|atoi|atol|atof|strtok|alloca)\(' || :)"
}

# Texts and character constants are blanked first: '=' in them is no assignment.
assignments_in_if() {
	sources | xargs awk '{
		line = $0
		gsub(/"([^"\\]|\\.)*"|\047(.|\\.)\047/, "", line)
		gsub(/[=!<>]=/, "", line)
	}
	line ~ /(^|[^a-z_])if \(.*=/ { print FILENAME ":" FNR ": " $0 }'
}

@test "no assignment in an if" {
	none "$(assignments_in_if)"
}

@test "what is shipped includes nothing of the tests and of lab/" {
	none "$(product_files | xargs grep -nE '#include "(tests|lab)/' || :)"
}

@test "the tree keeps at most 12 inputs of a fuzz target (./dev fuzz leaves no more)" {
	none "$(for corpus in tests/fuzz/corpus/*/; do
		find "$corpus" -type f | wc -l | sed "s,\$, $corpus,"
	done | awk '$1 > 12')"
}
