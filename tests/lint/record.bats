#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# nccl-tune-record(5) and the schemas in docs/schema speak of the same members; that the schemas are what the code says
# is tests/unit/schema.c's business.
bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || exit 1
	page=docs/man/nccl-tune-record.5
}

# members: every member that has a name of its own, of all schemas.
members() {
	jq -r '.. | objects | .properties // empty | keys[]' docs/schema/*.schema.json | sort -u
}

# literals: the words that the page has as they are in a record.
literals() {
	sed -nE 's/^\.((It|Pq) )?Li //p' "$page" | tr ' ' '\n' | grep -E '^[a-z][a-z0-9_]*$' | sort -u
}

# quoted: the members of its examples.
quoted() {
	grep -oE '"[a-z_]+":' "$page" | tr -d '":' | sort -u
}

@test "every member of a record is in the manual page" {
	[ "$(members | wc -l)" -gt 90 ]
	run -0 comm -23 <(members) <({ literals; quoted; } | sort -u)
	[ -z "$output" ] || { printf 'not in %s: %s\n' "$page" "$output"; return 1; }
}

@test "every reason that a record may have is in the manual page" {
	local codes
	codes=$(sed -n 's/^\tX([A-Z_]*, "\([a-z]\{1,\}\)",.*/\1/p' record/reason.h | sort -u)
	[ "$(wc -l <<<"$codes")" -gt 40 ]
	run -0 comm -23 <(echo "$codes") <(literals)
	[ -z "$output" ] || { printf 'not in %s: %s\n' "$page" "$output"; return 1; }
}

# What is no member: states, reasons, and the words of values and formats.
values() {
	sed -n 's/^\tX([A-Z_]*, "\([a-z]\{1,\}\)",.*/\1/p' record/reason.h
	sed -n 's/^#define NT_[A-Z]*STATE_[A-Z]* "\([a-z]*\)".*/\1/p; s/^#define NT_KEY\(FROM\|ROUND\)_[A-Z]* "\([a-z]*\)".*/\2/p' record/rank.h
	printf '%s\n' chosen dp default none socket ib any uid record tuner profiler v
	sed -n 's/^#define NT_GRAPH_[A-Z]* "\([a-z]*\)".*/\1/p' record/topology.h
	printf '%s\n' collnet_chain nvls collnet_direct topology
}

@test "what the manual page has as a member is one" {
	run -0 comm -13 <({ members; values; } | sort -u) <(literals)
	[ -z "$output" ] || { printf 'of no record: %s\n' "$output"; return 1; }
}
