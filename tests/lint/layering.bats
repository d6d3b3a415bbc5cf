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

# plain: a pattern for the headers of lib/ that the NCCL process may use, which need libc only.
plain() {
	awk '/^libnt_contract_a_SOURCES/ { on = 1; next } on { print $1 } on && !/\\$/ { exit }' lib/local.mk |
		sed -n 's,^%D%/\(.*\)\.h$,\1,p' | paste -sd'|' | sed 's,.*,lib/(&)\\.h,'
}

@test "lib/ needs libc, inih and json-c, and knows nothing of tuning" {
	only lib 'lib/'
	never lib 'slurm|pmix|hwloc|cuda|nccl'
}

@test "contract/ needs libc, lib/ and itself" {
	only contract "contract/|$(plain)"
	never contract 'slurm|json-c|pmix|hwloc|ini\.h|cuda|nccl'
}

@test "pmix-sync/ needs libc, PMIx's header, contract/ and itself" {
	only pmix-sync "contract/|$(plain)|pmix-sync/"
	never pmix-sync 'slurm|json-c|hwloc|ini\.h|cuda|nccl'
}

# Plain values in, schedules out: nothing of NCCL, shared memory, communicators or agreement.
@test "engine/ needs libc, contract/ without shared memory, and itself" {
	only engine "contract/(coll|key-id|line|policy|reason)\.h|$(plain)|engine/"
	never engine 'pthread|stdatomic|slurm|json-c|pmix|hwloc|ini\.h|cuda|nccl'
}

@test "record/ needs contract/, lib/ and itself of the project; json-c where it reads" {
	only record 'contract/|lib/|record/'
	never record 'slurm|pmix|hwloc|cuda|nccl'
}

# What runs in the NCCL process is built without json-c's headers.
@test "the files that write records need libc only" {
	local file files
	files=$(awk '/^libnt_record_a_SOURCES/ { on = 1; next } on { print $1 } on && !/\\$/ { exit }' record/local.mk)
	[[ $files = *field.c* ]]
	for file in ${files//%D%/record} lib/{error,json-writer,quantile,size,write-all}.c; do
		run -1 grep -nE '<json|record/(read|rankread)\.h' "$file"
	done
}

@test "tuner/ needs libc, contract/, engine/, pmix-sync/, what writes records and itself" {
	only tuner "contract/|engine/|pmix-sync/|$(plain)|lib/printable\.h|record/(field|rank|reason|tray)\.h|tuner/"
	never tuner 'slurm|json-c|pmix|hwloc|ini\.h|cuda|nccl'
}

@test "launch/ needs json-c, contract/, lib/ and itself, and nothing of Slurm or the GPU" {
	only launch 'contract/|lib/|launch/'
	never launch 'slurm|pmix|hwloc|cuda|nccl'
	only launch/measure 'contract/|lib/|launch/'
}

# slurmstepd reads tickets as root, srun reads profiles: what they do it with needs libc only.
@test "tickets and profiles are read with libc only" {
	local files
	files=$(awk '/^libnt_launch_plain_a_SOURCES/ { on = 1; next } on { print $1 } on && !/\\$/ { exit }' launch/local.mk)
	[[ $files = *profile.c*ticket.c* ]]
	# shellcheck disable=SC2086 # words
	run -1 grep -nE 'json-c|math\.h|launch/(select|entry|memory|step-ratio|memory-store)\.h' ${files//%D%/launch}
}

# slurmstepd reads the administrator's file as root, and so do srun and the command.
@test "site/ needs contract/, lib/ and itself, and nothing of Slurm; inih is called in one place" {
	only site 'contract/|lib/|site/'
	never site 'slurm|json-c|pmix|hwloc|cuda|nccl'
	run -0 git grep -lE '<ini\.h>' -- '*.c' '*.h'
	[ "$output" = lib/ini.c ]
}

# slurmstepd is root: what it runs needs libc, inih for the site's file, and Slurm's symbols.
@test "spank/ needs contract/, lib/, launch/, site/ and itself of the project, and nothing of JSON or the GPU" {
	local room
	for room in spank spank/step spank/submit; do
		only "$room" 'contract/|lib/|launch/|site/|spank/'
		never "$room" 'json-c|pmix|cuda|nccl'
	done
}

@test "recordd/ needs accounting/, contract/, lib/, launch/, record/, site/ and spank/, but nothing of submit/" {
	only recordd 'accounting/|contract/|lib/|launch/|record/|recordd/|site/|spank/([a-z_-]*|step/[a-z-]*)\.h'
	never recordd 'pmix|cuda|nccl'
}

# What both nt-recordd and the command deliver with knows neither of them.
@test "accounting/ needs the record's formats and the site's list of sinks" {
	only accounting 'accounting/|lib/|record/|site/|spank/(slurm_compat|rundir)\.h'
	never accounting 'json-c|pmix|cuda|nccl'
}

# NCCL and CUDA are loaded at run time; what it calls of them it declares itself.
@test "bench/ needs contract/, the user's memory and variables and calibrations in launch/ and itself, and no header of NCCL or CUDA" {
	only bench 'contract/|lib/|launch/(entry|memory-dir|memory-store|user-env|measure/(race|request))\.h|record/tray\.h|bench/'
	never bench 'slurm|pmix|hwloc|json-c|cuda|nccl'
}

# A job as it is read and shown, without the commands.
@test "report/ needs contract/, lib/, launch/, record/, site/, two headers of spank/, and itself" {
	local room
	for room in report/*/; do
		only "${room%/}" 'contract/|lib/|launch/|record/|report/|site/|spank/(option|slurm_compat)\.h'
		never "${room%/}" 'pmix|cuda|nccl|hwloc'
	done
}

# The fingerprint that is shown is the one that jobs get, and the settings are those that steps get: by the same code.
@test "cli/ needs everything except what runs in the NCCL process, and no header of PMIx or the GPU" {
	only cli 'contract/|lib/|launch/|record/|report/|site/|cli/|accounting/[a-z-]*\.h|spank/(option|slurm_compat|step/(cache|node-fingerprint))\.h'
	never cli 'pmix|cuda|nccl|hwloc'
}
