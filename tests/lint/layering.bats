#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# Which part may include what: the table of docs/design.md. A value crosses a border, a header does not.
bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || exit 1
}

# half DIR: the files of its half for the NCCL process, srun and slurmstepd: the first sources in its local.mk
half() {
	awk '/_SOURCES/ { on = 1; next } on { print $1 } on && !/\\$/ { exit }' "$1/local.mk" | sed "s,^%D%,$1,"
}

# includes FILE...: "FILE:HEADER" for each #include, <> kept for the system's
includes() {
	grep -HoE '^[ \t]*#[ \t]*include[ \t]*["<][^">]+[">]' "$@" | sed -E 's/:[^"<]*/:/; s/"//g'
}

# cell DIR COLUMN: of the table
cell() {
	awk -F' *[|] *' -v name="\`$1/\`" -v column="$2" '$2 == name { print $column }' docs/design.md
}

# named CELL: the headers that it names, as a pattern: `dir/`, `dir/{a,b}.h`, half of `dir/`
named() {
	local path
	{
		grep -oE '(half of )?`[^` ]+/[^` ]*`' <<<"$1" | tr -d '`' | while read -r path; do
			case $path in
			'half of '*) path=${path#half of } && half "${path%/}" ;;
			*) sed 's/{/(/; s/}/)/; s/,/|/g' <<<"$path" ;;
			esac
		done
		echo none
	} | sed 's/\./\\./g' | paste -sd'|'
}

# libraries CELL: the system headers of those that it names, as a pattern
libraries() {
	local name headers
	for headers in Slurm:slurm json-c:json-c libpmix:pmix inih:ini\\.h hwloc:hwloc expat:expat zlib:zlib; do
		name=${headers%%:*}
		[[ " ${1//[,;.]/ } " != *" $name "* ]] || printf '%s|' "${headers#*:}"
	done
	echo none
}

# NCCL and CUDA have no name in the table: what is called of them is declared here.
readonly LIBRARIES='slurm|json-c|pmix|ini\.h|hwloc|expat|zlib|cuda|nccl'

# nothing: fails if there is any input
nothing() {
	! grep . >&2
}

@test "each part includes only what the table in docs/design.md says" {
	local dir files uses found
	while read -r dir; do
		mapfile -t files < <(git ls-files "$dir/*.[ch]")
		uses=$(cell "$dir" 4)
		found=$(includes "${files[@]}")
		grep -v ':<' <<<"$found" | grep -vE ":($dir/|$(named "$uses"))" | nothing
		grep -E ":($(named "$(cell "$dir" 5)"))" <<<"$found" | nothing
		grep -E ":<($LIBRARIES)" <<<"$found" | grep -vE ":<($(libraries "$uses"))" | nothing
	done < <(git ls-files '*.[ch]' | sed 's,/.*,,' | sort -u | grep -vE '^(build-aux|lab|tests)$')
}

# What runs in the NCCL process, and as root in slurmstepd, is built without the headers of libraries.
@test "half of lib/, record/ and launch/ needs libc only" {
	local dir files may
	for dir in lib record launch; do
		mapfile -t files < <(half "$dir")
		[ "$dir" = launch ] && may=lib/ || may="$(named "half of \`lib/\`")"
		includes "${files[@]}" | grep -E ":<($LIBRARIES)" | nothing
		includes "${files[@]}" | grep -vE ":(<|contract/|$may|$(named "half of \`$dir/\`"))" | nothing
	done
}

@test "inih is called in one place" {
	run -0 git grep -lE '<ini\.h>' -- '*.c' '*.h'
	[ "$output" = lib/ini.c ]
}
