#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# NCCL and the CUDA runtime as simulated libraries: right results, times that differ by launch variables, and faults on
# request.
bats_require_minimum_version 1.5.0
load ../lib/policy

readonly WIDE=NCCL_MIN_NCHANNELS=8+NCCL_SOCKET_NTHREADS=2+NCCL_NSOCKS_PERTHREAD=4

setup_file() {
	alone_environment
	export NCCL_TUNER_PLUGIN=none NCCL_PROFILER_PLUGIN=none
}

# sums RANKS CALLS BYTES: on two nodes, as tasks of a step; the worst of their exit statuses.
sums() {
	local rank pid rc=0 worst=0 pids=()
	for ((rank = 0; rank < $1; rank++)); do
		SLURM_PROCID=$rank SLURM_NTASKS=$1 SLURMD_NODENAME=n$((2 * rank / $1)) \
			timeout -k 2 "${SUMS_S:-300}" "$TESTS/nt-sim-sums" "$BATS_TEST_TMPDIR" "${@:2}" 3>&- &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do
		rc=0
		wait "$pid" || rc=$?
		[ "$rc" -le "$worst" ] || worst=$rc
	done
	return "$worst"
}

# under SET sums...: with these launch variables in the environment.
under() {
	local -a set
	IFS=+ read -ra set <<<"$1"
	(for one in "${set[@]}"; do export "${one?}"; done; "${@:2}")
}

gpu_us() {
	jq -e '.["33554432"].gpu_us' <<<"$1"
}

@test "every collective has the right result on four ranks and in a split, and the output says that it is simulated" {
	run -0 --separate-stderr sums 4 3 1048576
	jq -e '.nccl == 22809 and .ranks == 4 and .wrong == 0' <<<"$output"
	# shellcheck disable=SC2154 # set by run
	[ "$stderr" = "simulated NCCL: times are made up" ]
}

@test "large calls are faster with the launch variables of the made-up times" {
	local before
	run -0 --separate-stderr sums 2 5 33554432
	before=$(gpu_us "$output")
	run -0 --separate-stderr under "$WIDE" sums 2 5 33554432
	jq -en --argjson before "$before" --argjson wide "$(gpu_us "$output")" '$wide < 0.7 * $before'
}

@test "NT_SIM_WRONG: wrong elements on that task, only where the set of launch variables is in force" {
	NT_SIM_WRONG="1|$WIDE" run -0 --separate-stderr sums 2 2 32768
	NT_SIM_WRONG="1|$WIDE" run -3 --separate-stderr under "$WIDE" sums 2 2 32768
	[[ $stderr = *"rank 1: "*"elements are wrong"* && $stderr != *"rank 0: "* ]]
	NT_SIM_WRONG="|any|NVLS/SIMPLE" run -0 --separate-stderr sums 2 2 32768
	NT_SIM_WRONG="one" run -1 --separate-stderr sums 1 2 32768
	[[ $stderr = *"NT_SIM_WRONG=one (want TASK"* ]]
}

@test "NT_SIM_FAIL: an init that fails; NT_SIM_HANG: a call that never ends" {
	NT_SIM_FAIL=0 run -1 --separate-stderr sums 1 2 32768
	[[ $stderr = *"asked to fail"* ]]
	NT_SIM_HANG=1@2 SUMS_S=3 run -124 --separate-stderr sums 2 2 32768
}

@test "an all-to-all is told to a profiler as the sends and receives that it is made of" {
	NCCL_PROFILER_PLUGIN=$(find "$NT_STAGE" -name nt-fake-plugin.so | head -n 1) NT_FAKE_EVENTS=0x404 \
		NT_FAKE_COUNTS=$BATS_TEST_TMPDIR/counts run -0 --separate-stderr sums 4 1 32768
	# Two of four ranks, and one of two: a P2p and a P2pApi event each.
	[ "$(grep -c ' 0x4 16/16 .*0x400 16/16' "$BATS_TEST_TMPDIR/counts")" = 4 ]
	[ "$(grep -c ' 0x4 4/4 .*0x400 4/4' "$BATS_TEST_TMPDIR/counts")" = 2 ]
}
