#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# nccl-tune memory on what steps have left, and a site's memory made of it.
bats_require_minimum_version 1.5.0
load ../lib/cluster

setup_file() {
	cluster_start_tuned 2
	export MADE=$NT_BASE/made MEMORY=$NT_BASE/made/memory SITE=$NT_BASE/made/site.jsonl
	mkdir -m 777 "$MADE"
	"$NT_TESTS/nt-launch-trace" --best wide --topology 2x1 --picks "$MADE/picks.csv" >"$MADE/wide.csv"
	chmod a+r "$MADE"/*.csv
}

# step PROFILE: a job of one step; its number is in $job.
step() {
	job=$(NCCL_TUNE_MEMORY=$MEMORY as_user sbatch --parsable --wait -N2 --ntasks-per-node=1 -t 30 -o "$MADE/log" --wrap \
		"srun --mpi=pmix --nccl-tune=bandit,launch=$1 $NT_TESTS/nt-fake-nccl --sizes 16Mx4,64K --iters 600 \
		--call-gap-us 100 --trace $MADE/wide.csv,2x1 --auto-picks $MADE/picks.csv --launch-else none --more 60000 --settled" |
		tail -n 1)
	echo "$job" >>"$MADE/jobs"
}

memory() {
	as_user "$NT_STAGE/bin/nccl-tune" memory "$@" --memory "$MEMORY"
}

@test "memory shows two steps' entries: place, age, and the profile of a new job there" {
	run -0 memory
	[[ $output = *'nothing is remembered'* ]]
	step default
	step sockets-wide
	run -0 memory show
	[ "${lines[0]}" = "$MEMORY: 2 entries in 2 files, 2 hosts" ]
	[[ $output =~ [0-9a-f]{16}': 2 x 1, network socket, NCCL ' ]]
	[[ $output =~ 'default '+1' '+job' ' ]]
	[[ $output =~ 'sockets-wide '+1' '+'job (asked for)' ]]
	[[ $output = *'A new job: launch profile default'* ]]
	[[ $output = *"not sockets-wide: nothing was measured on such nodes"* ]]
}

@test "export and import; forgetting" {
	run -0 memory export "$MADE/out.jsonl"
	[[ $output = *'2 entries in '* ]]
	run -0 --separate-stderr memory export - -p sockets-wide
	[ "$(jq -r 'select(.profile) | .profile' <<<"$output")" = sockets-wide ]
	run -0 memory forget --profile sockets-wide
	[ "$output" = '1 entry forgotten' ]
	run -0 memory
	[[ $output != *sockets-wide* ]]
	run -0 memory import "$MADE/out.jsonl"
	run -0 memory
	[[ $output = *'sockets-wide '*'job (asked for)'* ]]
	run -0 memory forget --all
	[ "$output" = '2 entries forgotten' ]
	run -0 memory import "$MADE/out.jsonl"
	[[ $output = '2 entries added to '* ]]
}

@test "invalid arguments are refused" {
	run -2 memory remember
	[[ $output = *"unknown subcommand 'remember' (want show, export, import or forget)"* ]]
	run -1 memory import /nonexistent
	printf 'nonsense\n' >"$MADE/nonsense"
	run -1 memory import "$MADE/nonsense"
	[[ $output = *'has no entries'* ]]
	{ cat "$MADE/out.jsonl"; echo nonsense; } >"$MADE/part"
	run -1 memory import "$MADE/part"
	[[ $output = *"1 line of $MADE/part is no entry and was ignored"* ]]
	run -2 memory forget
	run -2 memory forget --all --profile default
	run -2 memory export
	run -2 memory show --all
	[[ $output = *'--all is not for show'* ]]
	run -2 memory forget -F 12
	run -1 as_user "$NT_STAGE/bin/nccl-tune" memory --memory memory
	[[ $output = *'want an absolute path'* ]]
}

# with_site MODE OWNER: what memory says where the installed memory of the site is so.
with_site() {
	unshare -m bash -c 'mkdir -p "$1/etc/nccl-tune" && mount -t tmpfs none "$1/etc/nccl-tune" &&
		install -m "$4" -o "$5" "$2" "$1/etc/nccl-tune/memory.jsonl" && shift 2 && exec "$0" memory show --memory "$1"' \
		"$NT_STAGE/bin/nccl-tune" "$NT_STAGE" "$SITE" "$MEMORY" "$@"
}

@test "a site's memory is what was exported; one that others could have written is ignored" {
	run -0 memory export "$SITE"
	[[ $output = '2 entries in '* ]]
	run -0 with_site 644 root
	run -1 with_site 666 root
	[[ $output = *"memory.jsonl is writable by others than root"* ]]
	run -1 with_site 644 "$NT_USER"
	[[ $output = *"memory.jsonl is writable by others than root"* ]]
}
