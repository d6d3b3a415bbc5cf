#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# A job of several steps with launch=auto, from a memory that knows nothing: which profile it ends on, and what the next
# job begins with. Times are the simulated NCCL's, by the launch variables in its environment.
# shellcheck disable=SC2016,SC2030,SC2031,SC2154 # expressions for the shell of the job; what bats sets
bats_require_minimum_version 1.5.0
load ../lib/cluster

setup_file() {
	cluster_setup
	export MADE=$NT_BASE/made
	mkdir -m 755 "$MADE"
	cat >"$MADE/profiles.conf" <<-'END'
		[threads]
		fabric = socket
		NCCL_SOCKET_NTHREADS = 4
		[wide]
		fabric = socket
		NCCL_MIN_NCHANNELS = 8
		NCCL_SOCKET_NTHREADS = 2
		NCCL_NSOCKS_PERTHREAD = 4
	END
	local best
	for best in wide none; do
		"$NT_TESTS/nt-launch-trace" --best "$best" --topology 2x2 --picks "$MADE/picks.csv" \
			--profile threads=NCCL_SOCKET_NTHREADS=4 >"$MADE/$best.csv" || return 1
	done
	chmod a+r "$MADE"/*
	cluster_start 2 -n -p "$(nt_plugstack_line "profiles=$MADE/profiles.conf")"
	need_pmix
}

teardown_file() {
	cluster_stop
}

setup() {
	rm -rf "$NT_CLUSTER/work/.local"
}

# Rounds take as long as they say, far longer than what a busy machine adds to them.
# job TRACE STEPS: a line a step: "NUMBER WHAT-SRUN-SAYS|LAST-US-OF-THE-LARGE-CALLS"
job() {
	cat >"$NT_CLUSTER/work/job" <<-END
		#!/bin/bash
		for ((step = 0; step < $2; step++)); do
			srun -v --mpi=pmix --nccl-tune=bandit,channels=on,launch=auto "$NT_TESTS/nt-fake-nccl" \\
				--sizes 64K,64Mx2 --iters 150 --realtime 1 --trace "$MADE/$1.csv" \\
				--auto-picks "$MADE/picks.csv" >out 2>err || { cat out err; exit 1; }
			# A busy machine may hold the step for less than its memory takes.
			for ((try = 0; try < 100; try++)); do
				grep -qs "\"job\":\$SLURM_JOB_ID,\"step\":\$step," ~/.local/state/nccl-tune/memory/* && break
				sleep 0.1
			done
			echo "\$step \$(sed -n 's/.*nccl-tune: launch profile //p' err)|\$(jq '.keys[] | select(.bytes > 65536) | .last_us' out)"
		done
	END
	as_user sbatch -Q -W -N2 --ntasks-per-node=2 -t 4 -o "$NT_CLUSTER/work/log" job
	cat "$NT_CLUSTER/work/log"
}

# us LINE: what the large calls took
us() {
	echo "${lines[$1]##*|}"
}

@test "a job of four steps finds the profile that is best for it, and the next one tells why it waits for proof" {
	run -0 job wide 4
	[[ ${lines[0]} = '0 default (the nodes'* ]]
	[[ ${lines[1]} = '1 threads (a candidate: '* || ${lines[1]} = '1 wide (a candidate: '* ]]
	[[ ${lines[3]} = "3 wide ("*" on 2 x 2: this job's mix "*' x'* || ${lines[3]} = "3 wide (the program's own steps were faster: "* ]] ||
		{ echo "$output"; false; }
	jq -en "$(us 3) < 0.6 * $(us 0)"
	# One job is no proof to the first step of another, which may be its only one.
	run -0 job wide 1
	[[ ${lines[0]} = '0 default ('* ]]
}

@test "where no profile is better a job ends with NCCL's own settings" {
	run -0 job none 4
	[[ ${lines[0]} = '0 default (the nodes'* ]]
	[[ ${lines[3]} = '3 default (no profile is better than the default)'* ]] || { echo "$output"; false; }
}
