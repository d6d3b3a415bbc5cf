#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# Logs between nodes over the PMIx that a step of Slurm really has.
bats_require_minimum_version 1.5.0
load ../lib/cluster

setup_file() {
	cluster_setup
	cluster_start 4 -n
	need_pmix
}

teardown_file() {
	cluster_stop
}

@test "every node reads every other node's log, whole and in order" {
	for _ in 1 2 3; do
		run -0 as_user srun -N4 -n8 --ntasks-per-node=2 --mpi=pmix "$NT_TESTS/nt-log-peer" 20
		[ "$(grep -c '"complete":true' <<<"$output")" = 4 ]
	done
}

@test "one task per node and uneven nodes do as well" {
	run -0 as_user srun -N3 -n3 --ntasks-per-node=1 --mpi=pmix "$NT_TESTS/nt-log-peer" 5
	[ "$(grep -c '"complete":true' <<<"$output")" = 3 ]
	run -0 as_user srun -N2 -n5 --mpi=pmix "$NT_TESTS/nt-log-peer" 5
	[ "$(grep -c '"complete":true' <<<"$output")" = 2 ]
}

@test "a node that never speaks keeps nobody waiting, not even at the end" {
	run -0 as_user srun -N4 -n8 --ntasks-per-node=2 --mpi=pmix "$NT_TESTS/nt-log-peer" 20 2
	[ "$(grep -c '"complete":true' <<<"$output")" = 3 ]
}

@test "without PMIx the reason says what to type" {
	run ! as_user srun -N2 -n2 --mpi=none "$NT_TESTS/nt-log-peer" 1
	[[ $output = *'start the step with --mpi=pmix'* ]]
}
