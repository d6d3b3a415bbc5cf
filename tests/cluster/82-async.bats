#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# Steps that srun does not wait for (srun --async, Slurm 26.05): the job's step manager starts them, from a slurmstepd of
# the job's first node. Without PMIx, which 26.05.5 refuses for them: communicators within a node are tuned.
bats_require_minimum_version 1.5.0
load ../lib/cluster

setup_file() {
	slurm_is_at_least 26.05 || return 0
	cluster_setup
	# pmix=default: where srun would refuse --async for that, it is not asked for.
	cluster_start 2 -c SlurmctldParameters=enable_stepmgr -c PrologFlags=contain -p "$(nt_plugstack_line)"
	mkdir -m 1777 "$NT_BASE/out"
	export OUT=$NT_BASE/out
}

setup() {
	slurm_is_at_least 26.05 || skip "srun --async comes with Slurm 26.05"
}

# batch LINE...: a batch job of two nodes with these lines, and a step manager; its number.
batch() {
	local script=$OUT/script
	printf '%s\n' '#!/bin/bash' "$@" >"$script"
	chmod 755 "$script"
	as_user sbatch --parsable --stepmgr -N2 --ntasks-per-node=4 -t 10 -D "$OUT" -o "$OUT/%j.out" "$script"
}

readonly STEP='-N1 -n4 --async --parsable'

# A job's end ends its steps, and squeue does not list those of a step manager: each task leaves a file when it is done.
# done_tasks N: in the job, until there are so many.
done_tasks() {
	echo 'while [ "$(find . -name "done.$SLURM_JOB_ID.*" | wc -l)" -lt '"$1"' ]; do sleep 1; done; sleep 2'
}

# fake CALLS [OPTION]...: the program of a step.
fake() {
	echo "bash -c '$NT_TESTS/nt-fake-nccl --arm TREE/SIMPLE=0.2 --noise none --sizes 4M --call-gap-us 100 --iters $*" \
		'&& touch done.$SLURM_JOB_ID.$SLURM_STEP_ID.$SLURM_PROCID'"'"
}

@test "the option of srun --async reaches the step, and its record the job" {
	local job
	job=$(batch "srun $STEP --nccl-tune=bandit,min_calls=8 $(fake 12000 --more 60000 --settled)" "$(done_tasks 4)")
	wait_record "$job"
	run -0 sacct_field "$job" admincomment
	jq -e '.nccl_tune["0"].mode == "bandit" and .nccl_tune["0"]["4r1n"]["AllReduce 4M"].arm == "TREE/SIMPLE"' <<<"$output"
}

@test "steps that wait for each other have a record each, and srun has gone long before" {
	local job
	# Each takes all of the job's processors: the second and third start when the one before has ended.
	job=$(batch "for i in 1 2 3; do srun -N2 --ntasks-per-node=4 --async --nccl-tune=observe $(fake 300); done" 'echo gone' "$(done_tasks 24)")
	wait_record "$job"
	run -0 sacct_field "$job" admincomment
	jq -e '.nccl_tune | [.["0"], .["1"], .["2"]] | all(.mode == "observe" and .["8r2n"]["AllReduce 4M"].calls == 300)' <<<"$output"
	grep -q gone "$OUT/$job.out"
}

@test "a job's own option holds for its steps, one of the step comes first, and no step has a launch profile" {
	local job
	job=$(batch '#SBATCH --nccl-tune=observe,launch=sockets-wide' "srun $STEP $(fake 300)" "$(done_tasks 4)" \
		"srun $STEP --nccl-tune=off $(fake 300)" "$(done_tasks 8)" "srun -N1 -n4 $(fake 300)")
	wait_record "$job"
	run -0 sacct_field "$job" admincomment
	jq -e '.nccl_tune | .["0"].mode == "observe" and (.["0"] | has("set") | not) and (has("1") | not)' <<<"$output"
	[ "$(grep -c 'launch profile sockets-wide is not set' "$OUT/$job.out")" = 1 ]
	# srun calls us as ever where it waits.
	jq -e '.nccl_tune["2"] | .launch == "sockets-wide" and (.set | contains("NCCL_SOCKET_NTHREADS=2"))' <<<"$output"
}
