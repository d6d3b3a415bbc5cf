#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# House rules that a machine can check.
bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || exit 1
}

sources() {
	find contract launch pmix-sync tuner spank report bench tests \( -name '*.[ch]' -o -name '*.cu' \)
}

none() {
	[ -z "$1" ] || { printf '%s\n' "$1" >&2; return 1; }
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

@test "no file is longer than 450 lines" {
	none "$(sources | xargs wc -l | awk '$2 != "total" && $1 > 450')"
}

@test "no function that cannot bound what it writes or say what it could not read" {
	none "$(sources | xargs grep -nE '\b(strcpy|strcat|sprintf|vsprintf|gets|atoi|atol|atof|strtok|alloca)\(' || :)"
}

# Texts and character constants are blanked first: '=' in them is no assignment.
# shellcheck disable=SC2016 # awk, not shell
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
