#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# Which module may include what. A value crosses a border, a header does not.
bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || exit 1
}

# includes DIR: "FILE:HEADER" for each #include, <> kept for the system's; fails if DIR has none.
includes() {
	grep -HoE '^[ \t]*#[ \t]*include[ \t]*["<][^">]+[">]' "$1"/*.[ch] |
		sed -E 's/:[^"<]*/:/; s/"//g'
}

# only DIR PATTERN: every project header that DIR includes matches PATTERN.
only() {
	local found
	found=$(includes "$1") || { echo "$1 has no source" >&2; return 1; }
	found=$(grep -v ':<' <<<"$found" | grep -vE ":($2)" || :)
	[ -z "$found" ] || { printf '%s\n' "$found" >&2; return 1; }
}

# never DIR PATTERN: no system header that DIR includes matches PATTERN.
never() {
	local found
	found=$(includes "$1" | grep -E ":<($2)" || :)
	[ -z "$found" ] || { printf '%s\n' "$found" >&2; return 1; }
}

@test "contract/ needs libc and itself" {
	only contract 'contract/'
	never contract 'slurm|json-c|pmix|hwloc|ini\.h|cuda|nccl'
}

@test "pmix-sync/ needs libc, PMIx's header, contract/ and itself" {
	only pmix-sync 'contract/|pmix-sync/'
	never pmix-sync 'slurm|json-c|hwloc|ini\.h|cuda|nccl'
}

@test "tuner/ needs libc, contract/, pmix-sync/ and itself" {
	only tuner 'contract/|pmix-sync/|tuner/'
	never tuner 'slurm|json-c|pmix|hwloc|ini\.h|cuda|nccl'
}

@test "launch/ needs json-c, contract/ and itself, and nothing of Slurm or the GPU" {
	only launch 'contract/|launch/'
	never launch 'slurm|pmix|hwloc|cuda|nccl'
}

# slurmstepd reads profiles as root: what it reads them with needs libc only.
@test "profiles are read with libc only" {
	[ -z "$(grep -lE 'json-c|math\.h' launch/profile*.[ch] launch/variable.[ch] launch/file.[ch])" ]
}

@test "spank/ needs contract/ and itself of the project, and nothing of the GPU" {
	only spank 'contract/|spank/'
	never spank 'pmix|cuda|nccl'
}

@test "replay/ needs the engine, what report/ reads and prints with, and nothing of the GPU" {
	only replay 'contract/|replay/|tuner/(decide|engine|rule|schedule|times|trial)\.h|report/(command|file|rank|table)\.h'
	never replay 'slurm|pmix|cuda|nccl|hwloc'
}

# Mending a record later must write what the step would have written: one splice for both. The fingerprint that is
# shown must be the one that jobs get: computed and read by the same code.
@test "report/ needs contract/, three headers of spank/ and itself of the project, and nothing of the GPU" {
	only report 'contract/|report/|spank/(splice|fingerprint|cache)\.h'
	never report 'pmix|cuda|nccl|hwloc'
}
