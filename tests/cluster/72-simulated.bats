#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# A program of NCCL's own interface under srun, on the simulated libraries, with the plugin.
bats_require_minimum_version 1.5.0
load ../lib/cluster

setup_file() {
	cluster_start_tuned 2
	export LD_LIBRARY_PATH=$NT_TESTS/simulated MEET=$NT_BASE/meet
	mkdir -m 1777 "$MEET"
}

teardown_file() {
	cluster_check_and_stop
}

bench() {
	run --separate-stderr as_user env LD_LIBRARY_PATH="$NT_TESTS/simulated" "$@" srun -N2 --ntasks-per-node=2 -t 20 --mpi=pmix \
		--nccl-tune=bandit "$NT_STAGE/bin/nccl-tune-bench" --rendezvous "$MEET" --sizes 64K,1M --iters 40 --check 10
}

@test "nccl-tune-bench runs on the simulated libraries, with right results and a record" {
	bench
	[ "$status" = 0 ] || { printf '%s\n' "$output" "$stderr" >&2; false; }
	[[ $output$stderr = *"simulated GPU"* && $stderr = *"simulated NCCL: times are made up"* ]]
	wait_record 1
	run -0 sacct_field 1 AdminComment
	jq -e '.nccl_tune["0"] | .nccl == "2.28.9" and .ranks == 4 and .nodes == 2' <<<"$output"
}

@test "its check detects a wrong result" {
	bench NT_SIM_WRONG='2|any|any'
	[ "$status" != 0 ]
	[[ $stderr = *wrong* ]]
}
