#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# nccl-tune-bench in jobs, on the simulated NCCL: which library it loads, and what becomes of a wrong result.
bats_require_minimum_version 1.5.0
load ../lib/cluster

setup_file() {
	cluster_start_tuned 2
	export SIMULATED=$NT_TESTS/simulated BENCH=$NT_STAGE/bin/nccl-tune-bench
}

setup() {
	out=$NT_BASE/out.$BATS_TEST_NUMBER
	mkdir -m 777 "$out" "$out/meet"
	export NCCL_TUNE_MEMORY=$out/memory
}

# bench POLICY [option]...: four ranks on two nodes.
bench() {
	as_user srun -N2 --ntasks-per-node=2 -t 20 --mpi=pmix --kill-on-bad-exit=1 --nccl-tune="$1" \
		"$BENCH" --rendezvous "$out/meet" --stall 200 "${@:2}"
}

@test "a step's library is recorded and remembered, and the next step loads it" {
	LD_LIBRARY_PATH=$SIMULATED run -0 --separate-stderr bench bandit,launch=default --sizes 64K --iters 2000 --check light
	[[ $stderr = *"NCCL 2.28.9 from $SIMULATED/libnccl.so.2 (from LD_LIBRARY_PATH)"* ]]
	[[ $output = *'"coll":"AllReduce","bytes":65536'*'"errors":0}'* ]]
	[ "$(cat "$out"/memory/*.jsonl | jq -r 'select(.profile) | .library')" = "$SIMULATED/libnccl.so.2" ]
	job=$(cat "$out"/memory/*.jsonl | jq -r 'select(.profile) | .job')
	run -0 --separate-stderr bench off --sizes 64K --iters 2
	[[ $stderr = *"NCCL 2.28.9 from $SIMULATED/libnccl.so.2 (named by job $job's record)"* ]]
	# What others get to see does not tell where a user's programs are.
	run -0 --separate-stderr as_user "$NT_STAGE/bin/nccl-tune" memory export -
	[[ $output = *'"profile":"default"'* ]]
	[[ $output != *library* ]]
}

@test "a wrong result of one rank is reported, and ends all with status 3 and without times" {
	NT_SIM_WRONG=2 run -3 --separate-stderr bench bandit --nccl "$SIMULATED/libnccl.so.2" --sizes 64K,1M --iters 200 --check light
	[[ $stderr = *'wrong result: AllReduce 64K: '*' elements of 16384 differ (rank 2)'* ]]
	[ -z "$output" ]
	[ -z "$(ls -A "$out/meet")" ]
}

@test "a result that is wrong only with one arm is detected when the plugin tries that arm" {
	NT_SIM_WRONG='1||TREE/LL' run -3 --separate-stderr bench bandit,min_calls=4 --nccl "$SIMULATED/libnccl.so.2" --sizes 64K \
		--iters 60000 --check light
	[[ $stderr = *'wrong result: AllReduce 64K: '*' differ (rank 1)'* ]]
	[ -z "$output" ]
}

@test "--check N prints times and errors, and also ends with 3" {
	NT_SIM_WRONG=0 run -3 --separate-stderr bench off --nccl "$SIMULATED/libnccl.so.2" --sizes 64K --iters 20 --check 10
	[[ $output = *'"checks":2,"errors":'* ]]
	[[ $output != *'"errors":0'* ]]
}

@test "all-to-alls and messages are timed and checked, also among a part of the ranks" {
	run -0 --separate-stderr bench off --nccl "$SIMULATED/libnccl.so.2" --coll alltoall,sendrecv,allreduce --sizes 64K,1M --iters 12 \
		--check light --split stride:2
	[ "$(grep -c '"coll":"AllToAll".*"errors":0' <<<"$output")" = 4 ]
	[ "$(grep -c '"coll":"SendRecv".*"errors":0' <<<"$output")" = 4 ]
	NT_SIM_WRONG=1 run -3 --separate-stderr bench off --nccl "$SIMULATED/libnccl.so.2" --coll alltoall --sizes 64K --iters 12 --check light
	[[ $stderr = *'wrong result: AllToAll 64K: '*' differ (rank 1)'* ]]
	run -2 "$BENCH" --coll send
	[[ $output = *'want allreduce, '*', alltoall, sendrecv)'* ]]
}

@test "a library that is not NCCL is reported in one line" {
	run -2 --separate-stderr "$BENCH" --nccl /nonexistent/libnccl.so.2
	[ "$stderr" = 'nccl-tune-bench: --nccl /nonexistent/libnccl.so.2: not a readable file' ]
	run -2 --separate-stderr "$BENCH" --nccl "$SIMULATED/libcudart.so.13"
	[ "$stderr" = "nccl-tune-bench: --nccl: $SIMULATED/libcudart.so.13: it has no ncclGetVersion" ]
}
