#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# The mini cluster itself: if one of these fails, distrust the other cluster tests.
# shellcheck disable=SC2016 # expressions for the shell of the task
bats_require_minimum_version 1.5.0
load ../lib/cluster

setup_file() {
	cluster_setup
	cluster_start 4
}

@test "all daemons run and all nodes are idle" {
	run -0 cluster status
	[ "$(grep -c ': runs as ' <<<"$output")" = 8 ]
	[ "$(grep -cE '^n[1-4] +idle' <<<"$output")" = 4 ]
}

@test "runs a job of the unprivileged user on all nodes" {
	run -0 as_user srun -N4 --ntasks-per-node=2 bash -c 'echo "$(id -un) $SLURMD_NODENAME"'
	[ "${#lines[@]}" = 8 ]
	for node in n1 n2 n3 n4; do
		[ "$(grep -cx "$NT_USER $node" <<<"$output")" = 2 ]
	done
}

@test "PMIx carries data between the nodes" {
	need_pmix
	[ -x "$NT_TESTS/pmix-exchange" ]
	# Slurm's ring of nodes hangs now and then (docs/hosts.md).
	SLURM_PMIX_FENCE=tree run -0 as_user srun -N4 --ntasks-per-node=2 --mpi=pmix "$NT_TESTS/pmix-exchange"
	[ "$(grep -c '^rank [0-7] of 8 has all values$' <<<"$output")" = 8 ]
}

@test "the job's end and its AdminComment reach sacct" {
	local job
	job=$(as_user sbatch --parsable -o /dev/null --wrap 'srun sleep 1200')
	wait_for 10 job_is_running "$job"
	run -0 as_root scontrol update "jobid=$job" 'admincomment={"a":"b c"}'
	run -0 as_user scancel "$job"
	wait_sacct "$job"
	run -0 sacct_field "$job" state,admincomment
	[[ $output = 'CANCELLED by '*'|{"a":"b c"}' ]]
}

job_is_running() {
	[ "$(timeout 60 squeue -h -j "$1" -o %T)" = RUNNING ]
}

@test "the user cannot write AdminComment" {
	local job
	job=$(as_user sbatch --parsable -o /dev/null --wrap 'sleep 1200')
	wait_for 10 job_is_running "$job"
	run ! as_user scontrol update "jobid=$job" admincomment=forged
	run -0 as_user scancel "$job"
}

@test "a daemon is stopped, killed and started again by name" {
	for daemon in n2 slurmctld; do
		run -0 cluster stop "$daemon"
		run -1 cluster status
		[[ $output = *"$daemon: does not run"* ]]
		run -0 cluster start "$daemon"
		run -0 cluster kill "$daemon"
		run -1 cluster status
		run -0 cluster start "$daemon"
	done
	cluster_wait
	run -0 as_user srun -N4 -n4 -t 20 true
}

@test "plugstack.conf can be replaced under a running cluster" {
	run -0 cluster plugstack 'required /nonexistent/plugin.so'	# of an optional one Slurm says nothing since 25.11
	run ! as_user srun -n1 true
	[[ $output = *'/nonexistent/plugin.so'* ]]
	run -0 cluster plugstack
	run -0 as_user srun -n1 true
	[ -z "$output" ]
}

@test "two more clusters start at the same time and are independent" {
	local first=$NT_BASE/first second=$NT_BASE/second one
	cluster_up "$first" 2 -n &
	one=$!
	cluster_up "$second" 3 -n
	wait "$one"
	run -0 cluster exec -d "$first" sinfo -h -o %D
	[ "$output" = 2 ]
	run -0 cluster exec -d "$second" sinfo -h -o %D
	[ "$output" = 3 ]
	cluster_down "$first"
	run -0 cluster exec -d "$second" timeout 300 srun -N3 hostname
	cluster_down "$second"
}

@test "down ends tasks that ignore signals or left their session, and leaves nothing" {
	local other=$NT_BASE/other client
	touch "$NT_BASE/before"
	cluster_up "$other" 2 -n
	NT_CLUSTER=$other as_user srun -N2 bash -c '
		setsid sleep 1200 & trap "" TERM INT HUP; echo >"started.$SLURMD_NODENAME"
		while :; do sleep 300; done' 3>&- >/dev/null 2>&1 &
	client=$!
	wait_for 10 test -e "$other/work/started.n1" -a -e "$other/work/started.n2"
	run ! no_leftovers "$other"
	run -0 cluster down -d "$other"
	wait "$client" || :
	no_leftovers "$other"
	# Without those of jobs of the same user on clusters beside it.
	run -0 find /tmp /dev/shm -maxdepth 1 -user "$NT_USER" -newer "$NT_BASE/before" ! -name 'nt-fake-nccl.*' ! -name 'ompi.*'
	[ -z "$output" ]
}

@test "up refuses invalid requests, and cleans up after a failure" {
	run -1 cluster up 9
	[[ $output = *'how many nodes? (1 to 8)'* ]]
	mkdir -p "$BATS_TEST_TMPDIR/full/of-things"
	run -1 cluster up 1 -d "$BATS_TEST_TMPDIR/full"
	[[ $output = *'is not empty'* ]]
	run -1 cluster up 1 -n -d "$NT_BASE/bad" -c SelectType=select/nonsense
	[[ $output = *'select/nonsense'* ]]
	no_leftovers "$NT_BASE/bad"
}
