#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# nccl-tune-record(5) and the schemas in docs/schema speak of the same members; that the schemas are what the code says
# is tests/unit/record/schema.c's business.
bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || exit 1
	page=docs/man/nccl-tune-record.5
}

# members [SCHEMA...]: every member that has a name of its own; of all records' schemas.
members() {
	[ $# -gt 0 ] || set -- docs/schema/{key,rank,step,job,long,topology,calls,stacks}.schema.json
	jq -r '.. | objects | .properties // empty | keys[]' "$@" | sort -u
}

# literals [PAGE]: the words that the page has as they are in a record.
literals() {
	sed -nE 's/^\.((It|Pq) )?(.* )?Li //p' "${1:-$page}" | tr ' ' '\n' | grep -E '^[a-z][a-z0-9_]*$' | sort -u
}

# codes: of all reasons.
codes() {
	sed -nE 's/^REASON\([A-Z0-9_]+, "([a-z0-9]+)",.*/\1/p' contract/reasons.def
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

@test "every member of the report's JSON is in one of the manual pages" {
	run -0 comm -23 <(members docs/schema/{report,compare}.schema.json) <({ literals; literals docs/man/nccl-tune.1; } | sort -u)
	[ -z "$output" ] || { echo "$output"; return 1; }
}

@test "every reason that a record may have is in the manual page" {
	local codes
	codes=$(codes | sort -u)
	[ "$(wc -l <<<"$codes")" -gt 40 ]
	run -0 comm -23 <(echo "$codes") <(literals)
	[ -z "$output" ] || { printf 'not in %s: %s\n' "$page" "$output"; return 1; }
}

# Literals that are not members: states, reasons, and words of values and formats.
values() {
	codes
	sed -n 's/^#define NT_[A-Z]*STATE_[A-Z]* "\([a-z]*\)".*/\1/p; s/^#define NT_KEY\(FROM\|ROUND\)_[A-Z]* "\([a-z]*\)".*/\2/p' record/rank.h
	printf '%s\n' observe chosen dp default none socket ib any uid record tuner profiler v
	sed -n 's/^#define NT_GRAPH_[A-Z]* "\([a-z]*\)".*/\1/p' record/topology.h
	printf '%s\n' collnet_chain nvls collnet_direct topology stacks
}

@test "every member in the manual page exists" {
	run -0 comm -13 <({ members; values; } | sort -u) <(literals)
	[ -z "$output" ] || { printf 'not a member of any record: %s\n' "$output"; return 1; }
}
