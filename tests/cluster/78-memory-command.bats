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

@test "export and import, as lines and as NVIDIA's; forgetting" {
	local fingerprint
	run -0 memory export "$MADE/out.jsonl"
	[[ $output = *'2 entries in '* ]]
	fingerprint=$(jq -r 'select(.profile == "sockets-wide") | .fingerprint' <(grep -v '^#' "$MADE/out.jsonl"))
	run -0 --separate-stderr memory export - -p sockets-wide
	[ "$(jq -r 'select(.profile) | .profile' <<<"$output")" = sockets-wide ]
	run -0 --separate-stderr memory export - --csv --profile sockets-wide
	[[ $output =~ allreduce,[0-9]+,[0-9]+,(ring|tree),(ll|simple),-1,2,2,-1,-1 ]]
	run -0 memory export "$MADE/arms.csv" --csv --profile sockets-wide
	run -0 memory forget --profile sockets-wide
	[ "$output" = '1 entry forgotten' ]
	run -0 memory
	[[ $output != *sockets-wide* ]]
	run -0 memory import "$MADE/out.jsonl"
	run -0 memory
	[[ $output = *'sockets-wide '*'job (asked for)'* ]]
	run -0 memory import "$MADE/arms.csv" --csv -p sockets-many -F "$fingerprint" -N 2 --ntasks-per-node 1
	run -0 memory
	[[ $output =~ 'sockets-many '+1' '+import ]]
	run -0 memory forget --all
	[ "$output" = '3 entries forgotten' ]
	run -0 memory import "$MADE/out.jsonl"
	[[ $output = '2 entries added to '* ]]
}

# rules ACTION: another memory, of a place
rules() {
	as_user "$NT_STAGE/bin/nccl-tune" memory "$1" "$MADE/rules.csv" --csv -F 00f3a0b1c2d3e4f5 -N 2 --ntasks-per-node 8 --memory "$MADE/other"
}

@test "rules as NVIDIA and AMD publish them come in and go out as ranges" {
	cat >"$MADE/rules.csv" <<-'END'
	# Single-node
	allreduce,0,65536,tree,simple,2,1,8,-1,1	# registered buffers only
	allreduce,65537,1048576,ring,simple,4,2,16
	allreduce,1048577,4294967295,ring,ll128,-1,-1,-1,4,-1
	END
	run -0 rules import
	[[ $output = *'1 entry added to '* ]]
	[[ $output = *"2 rules of $MADE/rules.csv have conditions of numPipeOps or regBuff, the first in line 2"* ]]
	: >"$MADE/rules.csv" && chmod 666 "$MADE/rules.csv"
	run -0 rules export
	run -0 grep -v '^#' "$MADE/rules.csv"
	[ "$output" = 'allreduce,0,98303,tree,simple,2,1,8,-1,-1
allreduce,98304,1572863,ring,simple,4,2,16,-1,-1
allreduce,1572864,4294967295,ring,ll128,-1,2,16,-1,-1' ]
	echo allreduce,0,98303,tree,fast,-1,2,16 >>"$MADE/rules.csv"
	run -1 rules import
	[[ $output = *"$MADE/rules.csv: line $(wc -l <"$MADE/rules.csv"): protocol is 'fast' (want ll, ll128 or simple)"* ]]
}

@test "invalid arguments are refused" {
	run -2 memory remember
	[[ $output = *"unknown subcommand 'remember' (want show, export, import or forget)"* ]]
	run -2 memory forget
	run -2 memory forget --all --profile default
	run -2 memory export
	run -2 memory show --csv
	[[ $output = *'--csv is not for show'* ]]
	run -2 memory forget -F 12
	run -1 memory import "$MADE/arms.csv" --csv
	[[ $output = *'no place (want --fingerprint'* ]]
	run -1 memory import /nonexistent
	printf 'nonsense\n' >"$MADE/nonsense"
	run -1 memory import "$MADE/nonsense"
	[[ $output = *'it has no entries: line 1 is not one'* ]]
	{ cat "$MADE/out.jsonl"; echo nonsense; } >"$MADE/part"
	run -1 memory import "$MADE/part"
	[[ $output = *"line $(wc -l <"$MADE/part") is not an entry and was ignored"* ]]
	echo more >>"$MADE/part"
	run -1 memory import "$MADE/part"
	[[ $output = *"2 lines are not entries and were ignored, the first is line $(($(wc -l <"$MADE/part") - 1))"* ]]
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
