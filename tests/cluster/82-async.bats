#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# Steps that srun does not wait for (srun --async, Slurm 26.05): the job's step manager starts them, from a slurmstepd of
# the job's first node.
# shellcheck disable=SC2016 # expressions for the shell of the job
bats_require_minimum_version 1.5.0
load ../lib/cluster

setup_file() {
	cluster_setup
	slurm_is_at_least 26.05 || skip "srun --async comes with Slurm 26.05"
	cluster_start 2 -c SlurmctldParameters=enable_stepmgr -c PrologFlags=contain -p "$(nt_plugstack_line)"
	need_pmix
	mkdir -m 1777 "$NT_BASE/out"
	export OUT=$NT_BASE/out
}

# batch LINE...: a batch job of two nodes with these lines, and a step manager; its number.
batch() {
	local script=$OUT/script
	printf '%s\n' '#!/bin/bash' 'cd "$OUT"' "$@" >"$script"
	chmod 755 "$script"
	as_user env OUT="$OUT" sbatch --parsable --stepmgr -N2 --ntasks-per-node=2 -t 10 -o "$OUT/%j.out" "$script"
}

readonly STEP='--mpi=pmix --async --parsable'
# In the job: until none of its steps runs or waits.
readonly WAIT='while squeue -h -s -j $SLURM_JOB_ID -o %i | grep -qE "\.[0-9]+$"; do sleep 1; done'

fake() {
	echo "'$NT_TESTS/nt-fake-nccl' --arm RING/SIMPLE=0.3 --noise none --sizes 256K --call-gap-us 100 --iters $1"
}

@test "the option of srun --async reaches the step, and its record the job" {
	local job
	job=$(batch "srun $STEP --nccl-tune=bandit,min_calls=8 $(fake 12000)" "$WAIT")
	wait_record "$job"
	run -0 sacct_field "$job" admincomment
	jq -e '.nccl_tune["0"].mode == "bandit" and .nccl_tune["0"]["4r2n"]["AllReduce 256K"].arm == "RING/SIMPLE"' <<<"$output"
}

@test "steps that wait for each other have a record each, and srun has gone long before" {
	local job
	# Each takes the whole job: the second and third start when the one before has ended.
	job=$(batch "for i in 1 2 3; do srun $STEP --nccl-tune=observe $(fake 300); done" 'echo gone' "$WAIT")
	wait_record "$job"
	run -0 sacct_field "$job" admincomment
	jq -e '.nccl_tune | [.["0"], .["1"], .["2"]] | all(.mode == "observe" and .["4r2n"]["AllReduce 256K"].calls == 300)' <<<"$output"
	grep -q gone "$OUT/$job.out"
}

@test "a job's own option holds for its steps, one of the step comes first, and no step has a launch profile" {
	local job
	job=$(batch '#SBATCH --nccl-tune=observe,launch=sockets-wide' "srun $STEP $(fake 300)" "$WAIT" \
		"srun $STEP --nccl-tune=off $(fake 300)" "$WAIT" "srun --mpi=pmix $(fake 300)")
	wait_record "$job"
	run -0 sacct_field "$job" admincomment
	jq -e '.nccl_tune | .["0"].mode == "observe" and (.["0"] | has("set") | not) and (has("1") | not)' <<<"$output"
	# srun calls us as ever where it waits.
	jq -e '.nccl_tune["2"] | .launch == "sockets-wide" and (.set | contains("NCCL_SOCKET_NTHREADS=2"))' <<<"$output"
}
