#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# The plugin under the thread sanitizer: all ranks of a node are threads of one process, so that it sees every access to
# the shared memory. NT_TSAN_BUILD is a build with --enable-sanitizers=thread.
#
# A race shows in few runs, and rather where processors are short:
#   NT_TSAN_TIMES=200 NT_TSAN_AT_ONCE=8 bats tests/tsan/threads.bats
# runs every program so often, and so many at once.
bats_require_minimum_version 1.5.0
load ../lib/policy

setup_file() {
	local name
	export NT_TSAN_BUILD=${NT_TSAN_BUILD:-$BATS_TEST_DIRNAME/../../build-tsan}
	export FAKE=$NT_TSAN_BUILD/tests/fake/nt-fake-nccl TRACES=$BATS_TEST_DIRNAME/../traces
	for name in $(compgen -e); do
		case $name in
		SLURM*|NCCL*|PMI*) unset "$name" ;;
		esac
	done
	export NCCL_TUNER_PLUGIN=$NT_TSAN_BUILD/libnccl-tune.so
	export NCCL_PROFILER_PLUGIN=$NCCL_TUNER_PLUGIN
	export TSAN_OPTIONS=halt_on_error=0:exitcode=66
}

# often FUNCTION [ARG]...: FUNCTION DIR [ARG]..., each time with a directory of its own; the last one's is in $dir.
often() {
	local times=${NT_TSAN_TIMES:-1} at_once=${NT_TSAN_AT_ONCE:-1} failed=0 run=0 function=$1 pid pids
	shift
	while [ "$run" -lt "$times" ] && [ "$failed" = 0 ]; do
		pids=()
		while [ "${#pids[@]}" -lt "$at_once" ] && [ "$run" -lt "$times" ]; do
			run=$((run + 1)) dir=$BATS_TEST_TMPDIR/run.$run
			rm -rf "$dir"
			mkdir -m 700 "$dir"
			"$function" "$dir" "$@" 3>&- &
			pids+=($!)
		done
		for pid in "${pids[@]}"; do
			wait "$pid" || failed=1
		done
	done
	return "$failed"
}

# clean DIR SECONDS COMMAND...: it ends with 0 and without a report; what it said is in DIR/out, and shown where not.
clean() {
	local dir=$1 limit_s=$(($2 * ${NT_TSAN_AT_ONCE:-1})) rc=0
	shift 2
	timeout "$limit_s" "$@" >"$dir/out" 2>"$dir/err" || rc=$?
	if [ "$rc" != 0 ] || grep -q ThreadSanitizer "$dir/out" "$dir/err"; then
		echo "ended with $rc: $*"
		cat "$dir/out" "$dir/err"
		return 1
	fi
}

# ranks_once DIR N [option]...: N ranks of one node in one process, in $mode (bandit). Without a race, and at least some calls on
# another arm: again, and longer, where a busy machine has come to none.
ranks_once() {
	local dir=$1 n=$2 iters
	shift 2
	for iters in '' 6000 24000 96000; do
		rm -rf "$dir/shm"
		mkdir -m 700 "$dir/shm"
		NCCL_TUNE_POLICY=$(task_policy "${mode:-bandit}" "$dir/shm") clean "$dir" 1000 "$FAKE" --ranks-in-process "$n" \
			--trace "$TRACES/h200-2x4-seq.csv,2x4" --auto-picks "$TRACES/h200-auto-picks.csv" \
			--sizes 256K --call-gap-us 20 --iters 1500 "$@" ${iters:+--iters $iters} || return 1
		jq -e '[.keys[].overridden] | add == 0' "$dir/out" >/dev/null || break
	done
	jq -e '.mismatches == 0 and .tuner >= 5 and ([.keys[].overridden] | add) > 0' "$dir/out" >/dev/null ||
		{ cat "$dir/out" "$dir/err"; return 1; }
}

ranks() {
	often ranks_once "$@"
}

@test "the sanitizer of this machine detects a race" {
	cat >"$BATS_TEST_TMPDIR/race.c" <<-'END'
		#include <pthread.h>
		static int n;
		static void *add(void *arg) { for (int i = 0; i < 1000; i++) n++; return arg; }
		int main(void)
		{
			pthread_t a, b;
			pthread_create(&a, NULL, add, NULL);
			pthread_create(&b, NULL, add, NULL);
			pthread_join(a, NULL);
			pthread_join(b, NULL);
			return 0;
		}
	END
	# shellcheck disable=SC2086 # words
	${CC:-cc} -g -fsanitize=thread -o "$BATS_TEST_TMPDIR/race" "$BATS_TEST_TMPDIR/race.c" -lpthread
	run -66 "$BATS_TEST_TMPDIR/race"
	[[ $output = *"data race"* ]]
}

unit_test() {
	# They hold the plugin's code themselves: variables that name a file would name another plugin.
	clean "$1" 1000 env -u NCCL_TUNER_PLUGIN -u NCCL_PROFILER_PLUGIN "$NT_TSAN_BUILD/tests/unit/$2"
}

@test "unit tests with threads" {
	local name
	for name in pmix-sync/shm tuner/mask tuner/process-life; do
		often unit_test "$name"
	done
}

@test "four ranks explore, agree and stay" {
	ranks 4 --iters 2500 --more 60000
	jq -e '(.mask == 0 or .mask == 1024) and .keys[0].arm == "TREE/SIMPLE"' "$dir/out"
}

@test "communicators are created and destroyed, each rank uses them in a different order" {
	ranks 4 --comms world,tp:2,dp:2,roll:3 --churn 100 --interleave
}

@test "one thread for all ranks; decisions on other threads; ranks that run ahead" {
	ranks 4 --one-thread --comms world,tp:2
	ranks 4 --sync never --simulate-on 1@3 --fail 5
}

@test "captured graphs, late kernel times, aborted communicators" {
	ranks 3 --capture 700x2
	ranks 3 --late-kernelch profiler --churn 400
	ranks 3 --iters 4000 --abort-every 1000
}

@test "NCCL 2.32: kernel times from three threads of a communicator, symmetric kernels, RAS" {
	ranks 4 --nccl 2.32.6 --profiler-threads 3 --symmetric 3
	ranks 4 --nccl 2.32.6 --profiler-threads 3 --comms world,tp:2 --churn 300 --ras 1@200
}

@test "remembered arms, confirmed and as a policy" {
	local mode
	local -x NCCL_TUNE_WARM='v=1 nccl=22809 fabric=socket fingerprint=0000000000000001 4r1n.AllReduce.262144=TREE/SIMPLE'
	local -x NCCL_NET=Socket
	for mode in bandit policy; do
		ranks 4 --iters 2500 --comms world,tp:2 --capture 1500x2
		jq -es '[.[].warm.used] | add > 0' <(rank_records "$dir"/shm)
	done
}

chained() {
	local dir=$1 plugin=$NT_TSAN_BUILD/tests/chain/nt-chain-new.so
	mkdir -m 700 "$dir/shm"
	NT_CHAIN_LOG=$dir/log NT_CHAIN_MASK=0xb43 NT_CHAIN_MASK2=0x42@300 NCCL_TUNE_CHAINED_TUNER=$plugin \
		NCCL_TUNE_CHAINED_PROFILER=$plugin NCCL_TUNE_POLICY=$(task_policy bandit "$dir/shm") \
		clean "$dir" 1000 "$FAKE" --ranks-in-process 4 --sizes 256K --call-gap-us 20 --iters 600 \
		--comms world+tp:2 --churn 20x5 || return 1
	[ "$(wc -l <"$dir/log")" -gt 10000 ]
}

@test "a profiler and a tuner behind ours that change their event masks" {
	often chained
}
