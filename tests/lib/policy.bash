# shellcheck shell=bash
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0

# task_policy MODE DIR [setting=value]...: NCCL_TUNE_POLICY of a task, as Slurm gives it; every setting must be there
# (contract/policy.h), else the plugin stays idle.
task_policy() {
	local mode=$1 dir=$2 name setting text
	local order=(min_gain alpha screen_blocks confirm_blocks channels chunks min_calls budget max_calls max_extra recheck
		join_timeout agree_timeout graphs rule)
	local -A value=([min_gain]=3 [alpha]=0.01 [screen_blocks]=8 [confirm_blocks]=24 [channels]=off [chunks]=off
		[min_calls]=24 [budget]=0 [max_calls]=1000 [max_extra]=60000 [recheck]=60 [join_timeout]=60
		[agree_timeout]=120 [graphs]=may [rule]=nccl-tune)
	for setting in "${@:3}"; do
		value[${setting%%=*}]=${setting#*=}
	done
	text=mode=$mode
	for name in "${order[@]}"; do
		text+=,$name=${value[$name]}
	done
	echo "$text,dir=$dir,node=n1,fingerprint=1,id=1.0,flags=0"
}
