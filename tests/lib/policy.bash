# shellcheck shell=bash
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# For tests of the plugin without Slurm.

# task_policy MODE DIR [setting=value]...: NCCL_TUNE_POLICY of a task, as Slurm gives it; every setting must be there
# (contract/policy.h), else the plugin stays idle.
task_policy() {
	local mode=$1 dir=$2 name setting text
	local order=(min_gain alpha screen_blocks confirm_blocks channels chunks min_calls min_share budget max_calls max_extra recheck
		join_timeout agree_timeout graphs reward launch calibrate algorithms protocols ll128 stall topology)
	local -A value=([min_gain]=3 [alpha]=0.01 [screen_blocks]=8 [confirm_blocks]=24 [channels]=off [chunks]=off
		[min_calls]=24 [min_share]=1 [budget]=0 [max_calls]=1000 [max_extra]=60000 [recheck]=60 [join_timeout]=60
		[agree_timeout]=120 [graphs]=may [reward]=call [launch]=off [calibrate]=0 [algorithms]=all [protocols]=all [ll128]=auto [stall]=60 [topology]=off)
	for setting in "${@:3}"; do
		value[${setting%%=*}]=${setting#*=}
	done
	text=mode=$mode
	for name in "${order[@]}"; do
		text+=,$name=${value[$name]}
	done
	echo "$text,dir=$dir,node=n1,fingerprint=0000000000000001,id=1.0,flags=0"
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
	export FAKE=$TESTS/nt-fake-nccl
	NCCL_TUNER_PLUGIN=$(find "$NT_STAGE" -name libnccl-tune.so | head -n 1)
	export NCCL_TUNER_PLUGIN NCCL_PROFILER_PLUGIN=$NCCL_TUNER_PLUGIN
}

# four_ranks 'SETTING=VALUE...' [option]...: of the simulated NCCL, one node in one process, in $dir; none may differ.
# In $mode, bandit where it is not set.
four_ranks() {
	dir=$BATS_TEST_TMPDIR/shm.$RANDOM
	mkdir -m 700 "$dir"
	# shellcheck disable=SC2086 # several words
	NCCL_TUNE_POLICY=$(task_policy "${mode:-bandit}" "$dir" $1) run -0 --separate-stderr timeout 300 "$FAKE" \
		--ranks-in-process 4 --noise lognormal:0.03 --call-gap-us 20 --iters 2500 "${@:2}"
	# shellcheck disable=SC2154 # set by run
	jq -e '.mismatches == 0' <<<"$output"
}
