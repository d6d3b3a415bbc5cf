# shellcheck shell=bash disable=SC2154
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# CUDA MPS, where there are more ranks than GPUs: several ranks share one. NCCL refuses a GPU that is used twice within a
# host only, and each pretended node is a host. GPU settings stay as they are.
# Part of lab/gpu/run.sh; reads $work, $dry.

mps_started=''

# mps_up: false, and nothing left, where it cannot be had.
mps_up() {
	[ -z "$mps_started$dry" ] || return 0
	command -v nvidia-cuda-mps-control >/dev/null || { say "no CUDA MPS: no nvidia-cuda-mps-control"; return 1; }
	mkdir -p "$work/mps/pipe" "$work/mps/log"
	export CUDA_MPS_PIPE_DIRECTORY=$work/mps/pipe CUDA_MPS_LOG_DIRECTORY=$work/mps/log
	mps_started=1
	if ! timeout 30 nvidia-cuda-mps-control -d >"$work/mps/start" 2>&1; then
		say "no CUDA MPS: $(head -n 1 "$work/mps/start")"
		mps_down
		return 1
	fi
	say "CUDA MPS: started"
}

mps_down() {
	[ -n "$mps_started" ] || return 0
	echo quit | timeout 30 nvidia-cuda-mps-control >/dev/null 2>&1 || say "CUDA MPS did not end"
	tail -n 100 "$work"/mps/log/*.log >>"$work/slurm.log" 2>/dev/null
	unset CUDA_MPS_PIPE_DIRECTORY CUDA_MPS_LOG_DIRECTORY
	mps_started=''
}
