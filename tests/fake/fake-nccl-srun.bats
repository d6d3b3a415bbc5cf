#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# The simulated NCCL as srun starts it: its ranks find each other across nodes, and end together.
# shellcheck disable=SC2016 # expressions for the shell of the task
bats_require_minimum_version 1.5.0
load ../lib/cluster

setup_file() {
	cluster_setup
	cluster_start 4 -n
	export FAKE=$NT_TESTS/nt-fake-nccl PLUGIN=$NT_TESTS/nt-fake-plugin.so WIRE=$NT_BASE/wire
	mkdir -m 1777 "$WIRE"
}

# ranks LAYOUT PLUGIN-MODE [option]...
ranks() {
	local nodes=${1%x*} tasks=${1#*x} mode=$2
	shift 2
	as_user env NCCL_TUNER_PLUGIN="$PLUGIN" NCCL_PROFILER_PLUGIN="$PLUGIN" NT_FAKE_EVENTS=0xb43 \
		NT_FAKE_PLUGIN="$mode" \
		srun -N"$nodes" --ntasks-per-node="$tasks" -t 20 "$FAKE" --wire "$WIRE" --call-gap-us 20 "$@"
}

no_wire_left() {
	[ -d "$WIRE" ]
	[ -z "$(ls -A "$WIRE")" ]
}

@test "2x4 and 4x2, and nodes by their names" {
	run -0 ranks 2x4 arm:RING/SIMPLE --iters 50 --expect-arm AllReduce:1M=RING/SIMPLE
	[[ $output = *'"ranks":8,"calls":200,"mismatches":0'* ]]
	run -0 ranks 4x2 idle --iters 50 --comms world+node
	[[ $output = *'"comm":"node"'* ]]
	no_wire_left
}

@test "a node with several ranks in each process" {
	run -0 ranks 2x2 idle --ranks-in-process 3 --iters 10
	[[ $output = *'"ranks":12,'* ]]
	no_wire_left
}

@test "ranks that choose differently stop the step" {
	run -70 ranks 4x2 odd:3:50:RING/LL --iters 50
	[ "$(grep -c 'MISMATCH comm .*rank 3 RING/LL' <<<"$output")" = 8 ]
	no_wire_left
}

@test "a rank that dies ends the step, and nothing is left" {
	run ! ranks 2x4 idle --iters 50 --kill 5@40 --peer-timeout 10
	[[ $output = *"waited 10 s in a collective for rank(s) 5 "* ]]
	no_wire_left
}

@test "a step that is ended while its ranks still wait for each other leaves no file" {
	run ! as_user env NCCL_TUNER_PLUGIN=none NCCL_PROFILER_PLUGIN=none srun -N2 --ntasks-per-node=2 -t 20 \
		sh -c '[ "$SLURM_PROCID" = 3 ] && { sleep 1; exit 9; }; exec "$0" "$@"' "$FAKE" --wire "$WIRE"
	no_wire_left
}

@test "two steps at once are independent" {
	ranks 2x2 arm:RING/LL --iters 30 --expect-arm AllReduce:64K=RING/LL &
	run -0 ranks 2x2 arm:TREE/LL --iters 30 --expect-arm AllReduce:64K=TREE/LL
	wait $!
	no_wire_left
}
