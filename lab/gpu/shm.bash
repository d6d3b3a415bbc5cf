# shellcheck shell=bash
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# A small /dev/shm, as containers have it: two ranks of one node under torchrun (shm), with a file system of each size over
# /dev/shm in the task's mount namespace (shm-task.sh), without the plugin and with it. Several jobs at the same time: what
# counts is how they end. Part of lab/gpu/run.sh; shm_summary.py reads what these runs leave.

readonly SHM_STEPS=60 SHM_LIMIT_S=90 SHM_WAVE_S=25

# shm_command SIZE DIR: sets command_line.
shm_command() {
	local torchrun=torchrun
	command -v torchrun >/dev/null || torchrun='python3 -m torch.distributed.run'
	command_line=(unshare -m "$here/shm-task.sh" "$1" "$2/room")
	if [ -n "$dry" ]; then
		command_line+=("$stage/libexec/nccl-tune/tests/nt-fake-nccl" --procs-per-task 2 --sizes 64K,1M --iters 1000)
	else
		shm_port=$((shm_port + 7))
		# shellcheck disable=SC2206 # words
		command_line+=($torchrun --nnodes 1 --nproc-per-node 2 --master-addr 127.0.0.1 --master-port "$shm_port"
			"$here/frameworks/train.py" "$2/result.json" "$SHM_STEPS" ddp)
	fi
}
shm_port=24000

# shm SECONDS
shm() {
	local end=$((SECONDS + $1)) size mode dir running=0 k
	allocate 1 1 || { say "shm: no allocation"; return 0; }
	for ((k = 1; k <= shm_runs; k++)); do
		for size in "${shm_sizes[@]}"; do
			for mode in "${shm_modes[@]}"; do
				dir=$raw/shm.$size.$mode.$k
				[ ! -e "$dir/status" ] || continue
				fits "$SHM_WAVE_S" "$end" "shm $size $mode $k" || continue
				if [ "$running" -ge "$shm_at_once" ]; then
					wait -n
					running=$((running - 1))
				fi
				mkdir -p "$dir"
				shm_command "$size" "$dir"
				NCCL_DEBUG=WARN SLURM_OVERLAP=1 step "$dir" "$SHM_LIMIT_S" 1 1 "$mode" "${command_line[@]}" &
				running=$((running + 1))
			done
		done
	done
	wait
	release
	write_results
	say "shm: at $SECONDS s"
}
