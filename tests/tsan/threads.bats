#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# The plugin under the thread sanitizer: all ranks of a node are threads of one process, so that it sees every access to
# the board. NT_TSAN_BUILD is a build with --enable-sanitizers=thread.
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
	export NCCL_TUNER_PLUGIN=$NT_TSAN_BUILD/.libs/libnccl-tune.so
	export NCCL_PROFILER_PLUGIN=$NCCL_TUNER_PLUGIN
	export TSAN_OPTIONS=halt_on_error=0:exitcode=66
}

# ranks N [option]...: N ranks of one node in one process. Without a race, and at least some calls on another arm.
ranks() {
	local dir=$BATS_TEST_TMPDIR/board.$RANDOM n=$1
	shift
	mkdir -m 700 "$dir"
	NCCL_TUNE_POLICY=$(task_policy bandit "$dir") run -0 --separate-stderr timeout 60 "$FAKE" --ranks-in-process "$n" \
		--trace "$TRACES/h200-2x4-seq.csv,2x4" --auto-picks "$TRACES/h200-auto-picks.csv" \
		--sizes 256K --call-gap-us 20 --iters 1500 "$@"
	# shellcheck disable=SC2154 # set by run --separate-stderr
	[[ $stderr != *ThreadSanitizer* ]] || { echo "$stderr"; return 1; }
	jq -e '.mismatches == 0 and .tuner == 5 and ([.keys[].overridden] | add) > 0' <<<"$output" >/dev/null ||
		{ echo "$output"; return 1; }
}

@test "the sanitizer of this machine sees a race" {
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
	"${CC:-cc}" -g -fsanitize=thread -o "$BATS_TEST_TMPDIR/race" "$BATS_TEST_TMPDIR/race.c" -lpthread
	run -66 "$BATS_TEST_TMPDIR/race"
	[[ $output = *"data race"* ]]
}

@test "unit tests with threads of their own" {
	local name
	for name in board mask process-life; do
		run -0 timeout 60 "$NT_TSAN_BUILD/tests/unit/$name"
		[[ $output != *ThreadSanitizer* ]]
	done
}

@test "four ranks explore, agree and stay" {
	ranks 4 --iters 2500
	jq -e '.mask == 0 and .keys[0].arm == "TREE/SIMPLE"' <<<"$output"
}

@test "communicators come and go, each rank uses them in an order of its own" {
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

@test "a profiler and a tuner behind ours, which change their mind about events" {
	local plugin=$NT_TSAN_BUILD/tests/chain/.libs/nt-chain-new.so dir=$BATS_TEST_TMPDIR/chain
	mkdir -m 700 "$dir"
	NT_CHAIN_LOG=$dir/log NT_CHAIN_MASK=0xb43 NT_CHAIN_MASK2=0x42@300 NCCL_TUNE_CHAINED_TUNER=$plugin \
		NCCL_TUNE_CHAINED_PROFILER=$plugin NCCL_TUNE_POLICY=$(task_policy bandit "$dir") \
		run -0 --separate-stderr timeout 100 "$FAKE" --ranks-in-process 4 --sizes 256K --call-gap-us 20 --iters 600 \
		--comms world+tp:2 --churn 20x5
	[[ $stderr != *ThreadSanitizer* ]] || { echo "$stderr"; return 1; }
	[ "$(wc -l <"$dir/log")" -gt 10000 ]
}
