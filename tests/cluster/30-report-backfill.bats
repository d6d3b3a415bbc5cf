#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# nccl-tune backfill: what waits in the spool goes into the accounting of jobs that have ended.
# The spooled files are written here; that steps write them is tested with the plugin.
bats_require_minimum_version 1.5.0
load ../lib/cluster

setup_file() {
	cluster_setup
	[ -x "$NT_STAGE/bin/nccl-tune" ]
	cluster_start 2 -c SchedulerParameters=bf_interval=1
	NAME=$(timeout 60 scontrol show config | sed -n 's/^ClusterName *= *//p')
	export NAME
}

setup() {
	SPOOL=$BATS_TEST_TMPDIR/spool
	mkdir -m 700 "$SPOOL"
	cluster start slurmdbd >/dev/null
}

backfill() {
	as_root "$NT_STAGE/bin/nccl-tune" backfill --spool "$SPOOL" --quiet 0 "$@"
}

report() {
	as_user "$NT_STAGE/bin/nccl-tune" report "$@"
}

step_record() {
	printf '{"mode":"bandit","ranks":8,"8r2n":{"AllReduce 1M":{"auto":"RING/LL","arm":"%s","us":[20.5,10.25]}}}' "$1"
}

# spool JOB STEP ARM: one file as the plugin leaves it.
spool() {
	jq -cn --arg cluster "$NAME" --argjson job "$1" --arg step "$2" --arg record "$(step_record "$3")" \
		'{v: 1, $cluster, $job, $step, $record}' >"$SPOOL/$1.$2"
	chmod 600 "$SPOOL/$1.$2"
}

spooled() {
	find "$SPOOL" -maxdepth 1 -type f ! -name '.*' -printf '%f\n' | sort | tr '\n' ' '
}

# ended_job [TEXT]: a job that has ended, with TEXT in its AdminComment; its id is in $job.
ended_job() {
	job=$(as_user sbatch --parsable -o /dev/null -n1 --wrap 'sleep 1200')
	wait_for 20 is_running "$job"
	[ -z "${1:-}" ] || as_root scontrol update "jobid=$job" "admincomment=$1"
	as_user scancel "$job"
	wait_sacct "$job"
}

is_running() {
	[ "$(timeout 60 squeue -h -j "$1" -o %T | sort -u)" = RUNNING ]
}

@test "two steps of an ended job, once" {
	ended_job
	spool "$job" 0 TREE/LL
	spool "$job" batch RING/SIMPLE
	run -0 backfill
	[ "${lines[0]}" = "job $job, step 0: written" ]
	[ "${lines[1]}" = "job $job, step batch: written" ]
	[ "${lines[2]}" = '2 written, 0 there already, 0 left for later, 0 failed' ]
	[ -z "$(spooled)" ]
	output=$(sacct_field "$job" admincomment | sed 's/"says":"[^"]*",//')
	[ "$output" = '{"nccl_tune":{"v":1,"0":'"$(step_record TREE/LL)"',"batch":'"$(step_record RING/SIMPLE)"'}}' ]
	run -0 report "$job.0"
	[[ $output = *TREE/LL* && $output != *RING/SIMPLE* ]]
	run -0 backfill
	[ "$output" = '0 written, 0 there already, 0 left for later, 0 failed' ]
	spool "$job" 0 TREE/LL
	run -0 backfill
	[ "${lines[0]}" = "job $job, step 0: accounting has it" ]
	[ -z "$(spooled)" ]
}

@test "another program's members and other steps' records stay unchanged" {
	ended_job '{"x": [1.50, "a\/'\''b"], "nccl_tune":{"v":1,"1":{"mode":"observe"}}}'
	spool "$job" 0 TREE/LL
	run -0 backfill
	run -0 sacct_field "$job" admincomment
	[ "$output" = '{"x": [1.50, "a\/'\''b"], "nccl_tune":{"says":"only measured","v":1,"1":{"mode":"observe"},"0":'"$(step_record TREE/LL)"'}}' ]
}

@test "another program's text is never changed" {
	ended_job 'JS1:H4sIAAAAAAAA'
	spool "$job" 0 TREE/LL
	run -1 --separate-stderr backfill
	[[ $stderr = *"job $job, step 0: given up: its AdminComment contains another program's data" ]]
	[ "$output" = '0 written, 0 there already, 0 left for later, 0 failed, 1 given up' ]
	[ -z "$(spooled)" ]
	run -0 sacct_field "$job" admincomment
	[ "$output" = 'JS1:H4sIAAAAAAAA' ]
}

@test "tasks of an array and components of a heterogeneous job are told apart" {
	local het task
	job=$(as_user sbatch --parsable -o /dev/null --array=1-2 --wrap 'sleep 1200')
	het=$(as_user sbatch --parsable -o /dev/null -n1 : -n1 --wrap 'sleep 1200')
	wait_for 20 is_running "$job,$het"
	as_user scancel "$job" "$het"
	wait_sacct "${job}_1"
	wait_sacct "${job}_2"
	wait_sacct "$het+1"
	# The array's own number is that of one of its tasks, the heterogeneous job's that of component 0.
	task=$(timeout 60 sacct -nPX -j "$job" -o jobid,jobidraw | sed -n "s/|$job\$//p")
	spool "$job" 0 TREE/LL
	spool "$het" 0 RING/SIMPLE
	run -0 backfill
	[ "${lines[2]}" = '2 written, 0 there already, 0 left for later, 0 failed' ]
	run -0 report "$job"
	[ "$(grep ^Job <<<"$output")" = "Job $task" ]
	run -0 report "$het"
	[ "$(grep ^Job <<<"$output")" = "Job $het+0" ]
}

@test "a running job is left for later" {
	job=$(as_user sbatch --parsable -o /dev/null -n1 --wrap 'sleep 1200')
	wait_for 20 is_running "$job"
	wait_for 20 is_known "$job"
	spool "$job" 0 TREE/LL
	run -0 backfill
	[ "${lines[0]}" = "job $job, step 0: deferred, the job has not ended" ]
	[ "$(spooled)" = "$job.0 " ]
	as_user scancel "$job"
	wait_sacct "$job"
	run -0 backfill
	[ "${lines[0]}" = "job $job, step 0: written" ]
}

is_known() {
	[ -n "$(timeout 60 sacct -nPX -j "$1" -o jobid)" ]
}

@test "a damaged file and an unknown job do not stop the rest" {
	ended_job
	spool "$job" 0 TREE/LL
	printf '{"v":1' >"$SPOOL/1.0"
	chmod 600 "$SPOOL/1.0"
	spool 999999 0 TREE/LL
	run -1 --separate-stderr backfill
	[ "${lines[0]}" = "job $job, step 0: written" ]
	[ "${lines[1]}" = '1 written, 0 there already, 0 left for later, 1 failed, 1 given up' ]
	[[ $stderr = *'1.0: given up: ends in the middle, after 6 bytes'* ]]
	[[ $stderr = *'job 999999, step 0: accounting of cluster '*' has no such job'* ]]
	[ "$(spooled)" = '999999.0 ' ]
}

@test "without slurmdbd nothing is lost" {
	ended_job
	spool "$job" 0 TREE/LL
	cluster stop slurmdbd >/dev/null
	run -1 backfill
	[[ $output = *"job $job, step 0: sacct:"* ]]
	[ "$(spooled)" = "$job.0 " ]
	cluster start slurmdbd >/dev/null
	run -0 backfill
	[ -z "$(spooled)" ]
}

@test "only root can run it, one at a time" {
	run -1 as_user "$NT_STAGE/bin/nccl-tune" backfill --spool "$SPOOL"
	[[ $output = *'only root may'* ]]
	run -1 flock "$SPOOL" timeout 300 "$NT_STAGE/bin/nccl-tune" backfill --spool "$SPOOL"
	[[ $output = *'another backfill is running'* ]]
	run -1 backfill --spool "$SPOOL/none"
	[[ $output = *'No such file or directory'* ]]
}
