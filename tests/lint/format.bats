#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# How C files look: .clang-format as clang-format of Debian 12 reads it, and what that does not bound.
bats_require_minimum_version 1.5.0
load sources

FORMAT_MAJOR=14		# other major versions may format the same file otherwise

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || exit 1
}

# misformatted: the first difference of each file
misformatted() {
	sources | xargs -P "$(nproc)" -n 20 clang-format --dry-run 2>&1 |
		awk -F: '/clang-format-violations/ && !seen[$1]++ { print $1 ":" $2 }'
}

@test "clang-format would change nothing (./dev format)" {
	local found major
	command -v clang-format >/dev/null || skip "no clang-format here (./dev setup installs it)"
	[ "$(sources | wc -l)" -gt 100 ]
	found=$(misformatted)
	major=$(clang-format --version | sed 's/.*version \([0-9]*\)\..*/\1/')
	[ -z "$found" ] || [ "$major" = "$FORMAT_MAJOR" ] ||
		skip "clang-format $major formats $(wc -l <<<"$found") files otherwise than $FORMAT_MAJOR, which decides"
	none "$found"
}

# too_wide FILE...: columns with tabs of 8; a line with a text in it, and a table kept by hand, may be longer.
too_wide() {
	awk '
		FNR == 1 { table = 0 }
		/clang-format off/ { table = 1 }
		/clang-format on/ { table = 0 }
		/"/ || /\\$/ || /^[ \t]+X\(/ || table { next }
		{
			text = $0
			while (at = index(text, "\t"))
				text = sprintf("%s%*s%s", substr(text, 1, at - 1), 8 - (at - 1) % 8, "", substr(text, at + 1))
			if (length(text) > 100)
				print FILENAME ":" FNR ": " length(text) " columns"
		}' "$@"
}

@test "no line is longer than 100 columns" {
	local files
	mapfile -t files < <(sources)
	none "$(too_wide "${files[@]}")"
}

# too_long FILE...: from the line of the name to the last brace, both counted
too_long() {
	awk '
		/^[a-z_].*\(/ && !/;$/ { name = $0; first = FNR }
		/^{/ { inside = 1 }
		/^}/ {
			if (inside && FNR - first + 1 > 60)
				print FILENAME ":" first ": " FNR - first + 1 " lines: " name
			inside = 0
		}' "$@"
}

@test "no function is longer than 60 lines" {
	local files
	mapfile -t files < <(sources)
	none "$(too_long "${files[@]}")"
}
