#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# docs/trouble.md quotes the programs' messages, and has all that they print into slurmd's log.
bats_require_minimum_version 1.5.0
load sources

PAGE=docs/trouble.md
# Other programs' messages.
NOT_OURS="^(srun: unrecognized option |version 'GLIBC_)"

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || exit 1
}

# texts_of [awk option]... [FILE]...
texts_of() {
	awk -f tests/lint/trouble.awk "$@"
}

# Messages that fill the first column of a table.
quoted() {
	sed -nE 's/^\| `([^`]+)` \|.*/\1/p' "$1"
}

# unknown PAGE TEXTS: quoted messages with a part between two … that is in no text.
unknown() {
	local message part
	while read -r message; do
		[[ $message =~ $NOT_OURS ]] && continue
		while read -r part; do
			[ "${#part}" -lt 5 ] || grep -qF -- "$part" "$2" || echo "$PAGE: '$part' of '$message' is in no source"
		done < <(tr '\001' '\n' <<<"${message//…/$'\001'}" | sed 's/^:* *//; s/ *$//')
	done < <(quoted "$1")
}

@test "every message that the page quotes is in a source" {
	local texts=$BATS_TEST_TMPDIR/texts files
	mapfile -t files < <(product_files)
	texts_of "${files[@]}" >"$texts"
	[ "$(wc -l <"$texts")" -gt 1000 ]
	[ "$(quoted "$PAGE" | wc -l)" -gt 60 ]
	none "$(unknown "$PAGE" "$texts")"
}

# said FILE...: messages in slurmd's log, and srun's warnings.
said() {
	cat "$@" | tr '\n\t' '  ' | sed 's/) *;/\n/g' | grep -oE '(slurm_(error|info)\(|say\(NT_ARGUMENTS_(ERROR|INFO),).*' |
		texts_of -v lines=1 | sed 's/^[…:; ]*//; s/[…:; ]*$//' | awk 'length($0) > 9' | sort -u
}

@test "the page has every line of slurmd's log" {
	local text missing=''
	[ "$(said {spank,spank/*,recordd}/*.c | wc -l)" -gt 10 ]
	while read -r text; do
		grep -qF -- "$text" "$PAGE" || missing+="$PAGE does not have '$text'"$'\n'
	done < <(said {spank,spank/*,recordd}/*.c)
	none "$missing"
}

@test "the tables of reasons match the list" {
	run -0 build-aux/update-reasons --check
}

@test "the page has every reason of a launch profile" {
	local text missing=''
	[ "$(sed -nE 's/^\tX\([A-Z_]+, "(.*)"\).*/\1/p' launch/select-reason.h | wc -l)" -gt 15 ]
	while read -r text; do
		grep -qF -- "| \`$text\` |" "$PAGE" || missing+="$PAGE does not have '$text'"$'\n'
	done < <(sed -nE 's/^\tX\([A-Z_]+, "(.*)"\).*/\1/p' launch/select-reason.h)
	none "$missing"
}

# untested LIST FILE...: reasons that no test produces and compares with the line of the report.
untested() {
	local id code
	while read -r id code; do
		grep -qhE "^[[:space:]]+(says|tells) $code |NT_REASON_${id}[,)]" "${@:2}" || echo "reason $code ($id) has no test"
	done < <(reasons "$1" | grep -vx 'OTHER other')
}

# reasons LIST: NAME code.
reasons() {
	sed -nE 's/^REASON\(([A-Z0-9_]+), "([a-z0-9]+)", .*/\1 \2/p' "$1"
}

readonly LIST=contract/reasons.def
readonly LINES=(tests/fake/reasons.bats tests/unit/report/reason-lines.c)

@test "every reason has a test that produces it and reads the line" {
	[ "$(reasons "$LIST" | wc -l)" -gt 60 ]
	none "$(untested "$LIST" "${LINES[@]}")"
}
