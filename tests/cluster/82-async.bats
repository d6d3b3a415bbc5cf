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
	local script=$BATS_TEST_TMPDIR/script
	printf '%s\n' '#!/bin/bash' 'cd "$OUT"' "$@" >"$script"
	chmod 755 "$script"
	as_user env OUT="$OUT" sbatch --parsable --stepmgr -N2 --ntasks-per-node=2 -t 10 -o "$OUT/%j.out" "$script"
}

# ended JOB: wait until it is over.
ended() {
	wait_until 120 "job $1 is over" bash -c "squeue -h -j $1 -o %T 2>/dev/null | grep -q . && exit 1; exit 0"
}

readonly STEP='--mpi=pmix --async --parsable'

fake() {
	echo "'$NT_TESTS/nt-fake-nccl' --arm RING/SIMPLE=0.3 --noise none --sizes 256K --call-gap-us 100 --iters $1"
}

@test "the option of srun --async reaches the step, and its record the job" {
	local job
	job=$(batch "srun $STEP --nccl-tune=bandit,min_calls=8 $(fake 12000)" 'while [ -n "$(squeue -h -s -j $SLURM_JOB_ID -o %i | grep -x "$SLURM_JOB_ID.0")" ]; do sleep 1; done')
	wait_record "$job"
	run -0 sacct_field "$job" admincomment
	jq -e '.nccl_tune["0"].mode == "bandit" and .nccl_tune["0"]["4r2n"]["AllReduce 256K"].arm == "RING/SIMPLE"' <<<"$output"
}
