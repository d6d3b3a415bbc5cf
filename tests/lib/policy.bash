# shellcheck shell=bash
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# For tests of the plugin without Slurm.

# task_policy MODE DIR [setting=value]...: NCCL_TUNE_POLICY of a task, as Slurm gives it, with a file in DIR as the node's
# memory; every setting must be there, in the order of contract/setting.h, else the plugin stays idle.
task_policy() {
	local mode=$1 dir=$2 given default text
	local -A value=([calibrate]=off)
	for given in "${@:3}"; do
		value[${given%%=*}]=${given#*=}
	done
	text=mode=$mode
	for default in $(. "${BASH_SOURCE[0]%/*}/../../etc/bash-completion/nccl-tune"; echo "$_nccl_tune_settings"); do
		default=${default%%,*}
		text+=,${default%%=*}=${value[${default%%=*}]:-${default#*=}}
	done
	echo "$text,node=n1,fingerprint=0000000000000001,id=1.0,flags=0,shm=$dir/shm"
}

# alone_environment: for tests without Slurm, the programs under test and nothing of the caller's job.
alone_environment() {
	local name
	for name in $(compgen -e); do
		case $name in
		SLURM*|NCCL*|NT_FAKE*|NT_CHAIN*) unset "$name" ;;
		esac
	done
	export NT_STAGE=${NT_STAGE:-$BATS_TEST_DIRNAME/../../build/stage}
	export TESTS=$NT_STAGE/libexec/nccl-tune/tests SHOW=$NT_STAGE/bin/nccl-tune
	export FAKE=$TESTS/nt-fake-nccl RECORD=$TESTS/nt-record SCHEMA=$BATS_TEST_DIRNAME/../../docs/schema
	NCCL_TUNER_PLUGIN=$(find "$NT_STAGE" -name libnccl-tune.so | head -n 1)
	export NCCL_TUNER_PLUGIN NCCL_PROFILER_PLUGIN=$NCCL_TUNER_PLUGIN
}

# four_ranks 'SETTING=VALUE...' [option]...: of the simulated NCCL, one node in one process, in $dir; none may differ.
# In $mode, bandit where it is not set. Again, and longer, where it was over before the ranks had found each other, which takes
# as long as the machine is busy.
four_ranks() {
	local iters
	for iters in '' 10000 40000 160000; do
		dir=$(mktemp -d "$BATS_TEST_TMPDIR/shm.XXXXXX")
		# shellcheck disable=SC2086 # several words
		NCCL_TUNE_POLICY=$(task_policy "${mode:-bandit}" "$dir" $1) run -0 --separate-stderr timeout 1000 "$FAKE" \
			--ranks-in-process 4 --noise lognormal:0.03 --call-gap-us 20 --settled --iters 2500 "${@:2}" ${iters:+--iters $iters}
		jq -e '.mismatches == 0' <<<"$output"
		! still_joining "$dir" || continue
		break
	done
}

# rank_records DIR...: the rank records in the nodes' memories there, one a line.
rank_records() {
	local dir
	for dir; do
		"${RECORD:-$NT_STAGE/libexec/nccl-tune/tests/nt-record}" list "$dir"
	done
}

# still_joining DIR...: the ranks there had not found each other when they ended.
still_joining() {
	rank_records "$@" | jq -es 'any(.[].comms[]?; .state == "joining" and .why == "")' >/dev/null
}
