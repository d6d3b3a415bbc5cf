# shellcheck shell=bash
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# Is what tests have recorded as docs/schema says? A member that no schema knows is a mistake here.

# records_lines SCHEMA WHAT LINE...: fails, and says where, if a line is not as the schema says; no lines are fine.
records_lines() {
	local schema=$1 what=$2 top
	top=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	shift 2
	[ "$#" = 0 ] || printf '%s\n' "$@" | "$NT_STAGE/libexec/nccl-tune/tests/nt-record" check \
		"$top/docs/schema/$schema.schema.json" /dev/stdin >&2 || { echo "in $what" >&2; return 1; }
}

# records_part FILE: each line of a part of a long form. One that a test has cut or filled is not looked at.
records_part() {
	local text heads ranks steps rc=0
	text=$(zcat "$1" 2>/dev/null) && [ -n "$text" ] || return 0
	mapfile -t heads < <(jq -c 'select(.nccl_tune_long)' <<<"$text")
	mapfile -t ranks < <(jq -c '.rank | objects' <<<"$text")
	mapfile -t steps < <(jq -c '.step | objects' <<<"$text")
	[ "${#heads[@]}" = 1 ] || { echo "$1 has ${#heads[@]} first lines" >&2; return 1; }
	records_lines long "$1" "${heads[@]}" || rc=1
	records_lines rank "$1" "${ranks[@]}" || rc=1
	records_lines step "$1" "${steps[@]}" || rc=1
	return "$rc"
}

# records_below DIR: all parts of long forms.
records_below() {
	local file rc=0
	while IFS= read -r file; do
		records_part "$file" || rc=1
	done < <(find "$1" -name '*.jsonl.gz' -size +0 2>/dev/null)
	return "$rc"
}

# records_of_jobs: of this cluster's jobs, all runs, what accounting has of ours, another program's members left out.
records_of_jobs() {
	local jobs
	mapfile -t jobs < <(timeout 60 sacct -aXDnP -S now-1day -o admincomment | grep -F '"nccl_tune"' |
		jq -c 'objects | select(.nccl_tune) | {nccl_tune}')
	records_lines job "the accounting of $NT_CLUSTER" "${jobs[@]}"
}
