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

# Plain values in, schedules out: nothing of NCCL, of boards and communicators, or of agreeing.
@test "engine/ needs libc, contract/ without the board, and itself" {
	only engine 'contract/(coll|key|line|policy)\.h|engine/'
	never engine 'pthread|stdatomic|slurm|json-c|pmix|hwloc|ini\.h|cuda|nccl'
}

@test "record/ needs contract/ and itself of the project; json-c where it reads" {
	only record 'contract/|record/'
	never record 'slurm|pmix|hwloc|cuda|nccl'
}

# What runs in the NCCL process is built without json-c's headers.
@test "what writes records needs libc only" {
	local file files
	files=$(awk '/^libnt_record_la_SOURCES/ { on = 1; next } on { print $1 } on && !/\\$/ { exit }' record/local.mk)
	[[ $files = *put.c* ]]
	for file in ${files//%D%/record}; do
		run -1 grep -nE '<json|record/(read|rankread)\.h' "$file"
	done
}

@test "tuner/ needs libc, contract/, engine/, pmix-sync/, what writes records and itself" {
	only tuner 'contract/|engine/|pmix-sync/|record/(field|printable|put|rank|reason)\.h|tuner/'
	never tuner 'slurm|json-c|pmix|hwloc|ini\.h|cuda|nccl'
}

@test "launch/ needs json-c, contract/ and itself, and nothing of Slurm or the GPU" {
	only launch 'contract/|launch/'
	never launch 'slurm|pmix|hwloc|cuda|nccl'
}

# slurmstepd reads tickets as root, srun reads profiles: what they do it with needs libc only.
@test "tickets and profiles are read with libc only" {
	local files
	files=$(awk '/^libnt_launch_plain_la_SOURCES/ { on = 1; next } on { print $1 } on && !/\\$/ { exit }' launch/local.mk)
	[[ $files = *profile.c*ticket.c* ]]
	# shellcheck disable=SC2086 # words
	run -1 grep -nE 'json-c|math\.h|launch/(choice|entry|memory|weigh|feel|store)\.h' ${files//%D%/launch}
}

# slurmstepd reads the administrator's file as root, and so do srun and the command.
@test "site/ needs inih, contract/, the reading of files of launch/ and itself, and nothing of Slurm" {
	only site 'contract/|launch/file\.h|site/'
	never site 'slurm|json-c|pmix|hwloc|cuda|nccl'
	run -0 grep -lE '<ini\.h>' site/*.c
	[ "$output" = site/ini.c ]
}

# nt-recordd compares steps by the engine's test, as the launch does.
@test "spank/ needs contract/, record/, launch/, site/, one header of engine/ and itself of the project, and nothing of the GPU" {
	only spank 'contract/|engine/compare\.h|launch/|record/|site/|spank/'
	never spank 'pmix|cuda|nccl'
}

@test "replay/ needs the engine, what report/ reads and prints with, and nothing of the GPU" {
	only replay 'contract/|engine/|record/|replay/|report/(command|table)\.h'
	never replay 'slurm|pmix|cuda|nccl|hwloc'
}

# The fingerprint that is shown must be the one that jobs get: computed and read by the same code. What differs between
# releases of Slurm is written in one header.
# A calibration's choice is the one that srun would make, by the same statistics.
# What the command shows of settings must be what steps get: by the same code.
# The records of a step that runs are read as nt-recordd reads them, where it makes their directory.
@test "report/ needs contract/, launch/, record/, site/, one header of engine/, seven of spank/ and itself, and nothing of the GPU" {
	only report 'contract/|engine/compare\.h|launch/|record/|report/|site/|spank/(cache|collect|fingerprint|settle|sink|slurm_compat|step)\.h'
	never report 'pmix|cuda|nccl|hwloc'
}
