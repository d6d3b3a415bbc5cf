#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# Calibrations in a step's own tasks, on the simulated NCCL: every layout of an allocation has one, with its own number of
# ranks, and afterwards all tasks of the step have the same variables, or none has any.
bats_require_minimum_version 1.5.0
load ../lib/cluster

setup_file() {
	cluster_setup
	cluster_start 2 -n -G 4 -c SelectTypeParameters=CR_CPU_Memory -c DefMemPerCPU=100 -p "$(nt_plugstack_line)"
	need_pmix
	export LD_LIBRARY_PATH=$NT_TESTS/simulated
}

setup() {
	out=$BATS_TEST_TMPDIR/out err=$BATS_TEST_TMPDIR/err
}

# What tasks print: their number and launch profile, and the first one of each node what was measured.
show='echo "$SLURM_PROCID ${NCCL_TUNE_LAUNCH-none} ${NCCL_SOCKET_NTHREADS-none} ${SLURM_NCCL_TUNE_CALIBRATE-none}"
	[ "$SLURM_PROCID" != 0 ] || "$NT_TESTS/nt-record" list "${NCCL_TUNE_POLICY##*,shm=}" 2 | head -n 1 >&2'

# ask PROCS [SECONDS]: the environment of an srun whose tasks calibrate
ask() {
	export SLURM_NCCL_TUNE_CALIBRATE="v=1;seconds=${2:-100};procs=$1;token=0123456789abcdef0123456789abcdef;address=127.0.0.1;calls=AllReduce:16777216:10;profile=wide NCCL_SOCKET_NTHREADS=2 NCCL_NSOCKS_PERTHREAD=4 NCCL_MIN_NCHANNELS=8"
}

# step TASKS RANKS OPTION...: runs $show; all tasks have the same profile, and that many ranks were measured
step() {
	as_user srun -t 20 --nccl-tune=observe,launch=auto "${@:3}" sh -c "$show" >"$out" 2>"$err" || { cat "$out" "$err"; return 1; }
	same "$1" && ranks "$2"
}

same() {
	[ "$(wc -l <"$out")" = "$1" ] && [ "$(cut -d' ' -f1 "$out" | sort -u | wc -l)" = "$1" ] &&
		[ "$(cut -d' ' -f2- "$out" | sort -u | wc -l)" = 1 ] &&
		head -n 1 "$out" | grep -qE ' (default none|wide NCCL_SOCKET_NTHREADS=2 .*8 2) none$' || { cat "$out" "$err"; return 1; }
}

ranks() {
	grep -o '{"v":1.*' "$err" | jq -e --argjson ranks "$1" '.ranks == $ranks and .laps >= 2 and .why == ""' >/dev/null ||
		{ cat "$err"; return 1; }
}

@test "each layout: one task a node with four ranks, tasks by number, by memory, by GPUs, exclusive" {
	ask 4
	NT_SIM_GPUS=4 step 2 8 -N2 --ntasks-per-node=1 -c4 --gres=gpu:4
	ask 1
	step 4 4 -N2 -n4
	step 4 4 -N2 -n4 --mem-per-cpu=50
	step 2 2 -N2 -n2 --mem=300
	step 2 2 -N2 -n2 --exclusive
	step 3 3 -N2 -n3
	NT_SIM_GPUS=1 step 4 4 -N2 --ntasks-per-node=2 --gpus-per-task=1
	NT_SIM_GPUS=2 step 4 4 -N2 --ntasks-per-node=2 --gres=gpu:2 --gpu-bind=single:1
	NT_SIM_GPUS=1 step 4 4 --gpus=4 --ntasks-per-gpu=1
	ask 0
	NT_SIM_GPUS=2 step 2 4 -N2 -n2 --gpus-per-task=2
}

@test "a step of a batch script; the script itself, and a step without the request, have none" {
	ask 1
	as_user sbatch -Q -W -N2 -n2 -o "$NT_CLUSTER/work/batch.out" -e "$NT_CLUSTER/work/batch.err" <<-END
		#!/bin/sh
		echo "script \${SLURM_NCCL_TUNE_CALIBRATE-none} \${NCCL_TUNE_LAUNCH-none}" >&2
		export SLURM_NCCL_TUNE_CALIBRATE='$SLURM_NCCL_TUNE_CALIBRATE'
		srun --nccl-tune=observe,launch=auto sh -c '$show'
		SLURM_NCCL_TUNE_CALIBRATE= srun --nccl-tune=observe,launch=auto,calibrate=off sh -c 'echo "without \${NCCL_TUNE_LAUNCH-none}"' >&2
	END
	cp "$NT_CLUSTER/work/batch.out" "$out"
	cp "$NT_CLUSTER/work/batch.err" "$err"
	same 2
	ranks 2
	grep -qx 'script none none' "$err"
	[ "$(grep -cx 'without default' "$err")" = 2 ]
}

@test "an MPI program starts afterwards" {
	command -v mpicc >/dev/null || skip "no mpicc (./dev setup installs it)"
	cat >"$NT_BASE/mpi.c" <<-'END'
		#include <mpi.h>
		#include <stdio.h>
		#include <stdlib.h>

		int main(int argc, char **argv)
		{
			int ranks, sum = 0, one = 1;

			MPI_Init(&argc, &argv);
			MPI_Comm_size(MPI_COMM_WORLD, &ranks);
			MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
			printf("%d of %d %s\n", sum, ranks, getenv("NCCL_TUNE_LAUNCH") ? "calibrated" : "not");
			return MPI_Finalize();
		}
	END
	mpicc -o "$NT_BASE/mpi" "$NT_BASE/mpi.c"
	chmod 755 "$NT_BASE/mpi"
	ask 1
	run -0 --separate-stderr as_user env OMPI_MCA_pml=ob1 OMPI_MCA_btl=tcp,self OMPI_MCA_btl_tcp_if_include=lo \
		srun -N2 -n2 --mpi=pmix --nccl-tune=observe,launch=auto "$NT_BASE/mpi"
	[ "$(grep -cx '2 of 2 calibrated' <<<"$output")" = 2 ]
}

# fails PID: waits for this process of the test's own shell
fails() {
	local rc=0
	wait "$1" || rc=$?
	[ "$rc" != 0 ]
}

# ours COMMAND: processes of it in this cluster's tasks; other tests calibrate, too
ours() {
	local pid
	for pid in $(pgrep -f "^$1"); do
		! belongs_to "/proc/$pid" "$NT_CLUSTER" || echo "$pid"
	done
}

calibrating() {
	[ -n "$(ours "[^ ]*/nccl-tune-bench --channel")" ]
}

# interrupt_twice NAME: until its srun has taken two interrupts for one after the other
interrupt_twice() {
	while pkill -INT -f "^srun .*--job-name=$1 "; do sleep 0.3; done
}

@test "a step that is cancelled, interrupted or over its time while it calibrates ends as without a calibration, and nothing is left" {
	local name
	ask 1 300
	for end in cancel interrupt limit; do
		name=$end.$$
		# The benchmark does not come to an end by itself.
		NT_SIM_HANG=1 as_user srun -t 20 -N2 -n2 --job-name="$name" --nccl-tune=observe,launch=auto sh -c 'sleep 1000 && echo ran' \
			>"$out" 2>"$err" &
		srun=$!
		wait_for 60 calibrating
		case $end in
		cancel) as_user scancel --name="$name" ;;
		interrupt) interrupt_twice "$name" ;;
		limit) as_root scontrol update jobname="$name" timelimit=1 ;;
		esac
		# An srun that has not heard from all nodes in time says so and returns 0.
		fails "$srun" || grep -q 'Timed out waiting for job step' "$err" || { cat "$out" "$err"; false; }
		[ ! -s "$out" ] || { cat "$out" "$err"; false; }
		wait_for 30 eval '! calibrating'
		wait_for 30 eval '[ -z "$(squeue -h)" ]'
	done
}

# second_task: the process of task 1, whose driver runs; a driver's children are its copies at first
second_task() {
	local pid parent
	for pid in $(ours "[^ ]*/nt-calibrate"); do
		parent=$(awk '{ print $4 }' "/proc/$pid/stat" 2>/dev/null) || continue
		tr '\0' '\n' <"/proc/$pid/environ" 2>/dev/null | grep -qx SLURM_PROCID=1 &&
			! grep -q nt-calibrate "/proc/$parent/cmdline" && echo "$parent"
	done | grep -m 1 .
}

@test "a task that is killed while it calibrates: the others run without a profile" {
	ask 1 200
	as_user srun -N2 -n2 -t 20 --mpi=none --nccl-tune=observe,launch=auto sh -c "$show" >"$out" 2>"$err" &
	srun=$!
	wait_for 60 calibrating
	wait_for 60 second_task
	kill -KILL "$(second_task)"
	fails "$srun"
	grep -qx '0 default none none' "$out" || { cat "$out" "$err"; return 1; }
	grep -q 'nccl-tune: calibration without a result: task 1 has ended' "$err"
}
