#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# nccl-tune calibrate: an administrator measures a partition with several numbers of ranks, exports that as the site's memory,
# and everybody's first step uses it. On the simulated NCCL.
bats_require_minimum_version 1.5.0
load ../lib/cluster

setup_file() {
	cluster_setup
	export MADE=$NT_BASE/made
	mkdir -m 777 "$MADE"
	cat >"$MADE/profiles.conf" <<-'END'
		[threads]
		fabric = socket
		NCCL_SOCKET_NTHREADS = 4
		NCCL_NSOCKS_PERTHREAD = 4
		[small]
		fabric = socket
		NCCL_BUFFSIZE = 1M
	END
	cluster_start 2 -p "$(nt_plugstack_line "profiles=$MADE/profiles.conf" "site_memory=$MADE/site.jsonl")"
	need_pmix
	export LD_LIBRARY_PATH=$NT_TESTS/simulated NT_SIM_GPUS=4
	# Again where a busy machine has measured something else.
	for _ in 1 2 3; do
		rm -rf "$NT_CLUSTER/work/.local"
		as_user salloc -Q -N2 -n2 --ntasks-per-node=1 -t 60 "$NT_STAGE/bin/nccl-tune" calibrate \
			--profile-file "$MADE/profiles.conf" --ranks-per-node 1,2 --sizes 64K,16M,64M --time 200s \
			>"$MADE/out" 2>"$MADE/err" || { cat "$MADE/out" "$MADE/err" >&2; as_user "$NT_STAGE/bin/nccl-tune" report 1 >&2; return 1; }
		! finds threads || break
	done
}

# finds PROFILE: calibrate says that a step on one rank a node, whose calls are unknown, gets it
finds() {
	sed -n '/^2 nodes of 1 rank,/,/^$/p' "$MADE/out" |
		grep -q "^launch profile $1 (calibrated .*, for a program whose calls are unknown\$"
}

@test "each number of ranks has a table and a choice" {
	grep -E '^2 nodes of 1 rank, socket, NCCL 2\.' "$MADE/out"
	grep -E '^2 nodes of 2 ranks, socket, NCCL 2\.' "$MADE/out"
	[ "$(grep -c '^AllReduce ' "$MADE/out")" = 6 ]
	[ "$(grep -c '^launch profile .*, for a program whose calls are unknown$' "$MADE/out")" = 2 ]
	[ "$(grep -c " default, us  small  threads$" "$MADE/out")" = 2 ]
	finds threads || { cat "$MADE/out"; return 1; }
}

@test "exported, it serves another user's first step, whose calls are unknown" {
	as_user "$NT_STAGE/bin/nccl-tune" memory export - >"$MADE/site.jsonl"
	rm -rf "$NT_CLUSTER/work/.local"
	chown root "$MADE/site.jsonl"
	chmod 644 "$MADE/site.jsonl"
	chmod 755 "$MADE"
	SLURM_NCCL_TUNE=bandit,launch=auto run -0 --separate-stderr as_user srun -v -N2 -n2 --ntasks-per-node=1 --mpi=pmix \
		sh -c 'echo "$NCCL_TUNE_LAUNCH"'
	[ "$(grep -c '^threads NCCL_' <<<"$output")" = 2 ] || { echo "$output" "$stderr"; return 1; }
}

@test "mistakes are told" {
	run -1 --separate-stderr as_user "$NT_STAGE/bin/nccl-tune" calibrate
	[[ "$stderr" == *"not in a Slurm job"* ]]
	run -1 --separate-stderr as_user salloc -Q -N1 -n1 -t 60 "$NT_STAGE/bin/nccl-tune" calibrate --ranks-per-node 1
	[[ "$stderr" == *"one rank: two or more are needed"* ]]
	run -1 --separate-stderr as_user salloc -Q -N2 -n2 -t 60 "$NT_STAGE/bin/nccl-tune" calibrate --ranks-per-node 1,x
	[[ "$stderr" == *"bad list of ranks '1,x'"* ]]
	run -1 --separate-stderr as_user salloc -Q -N2 -n2 -t 60 "$NT_STAGE/bin/nccl-tune" calibrate --profiles nosuch
	[[ "$stderr" == *"nosuch"* ]]
	run -2 --separate-stderr as_user "$NT_STAGE/bin/nccl-tune" calibrate --time 0
	[[ "$stderr" == *"--time"* ]]
}
