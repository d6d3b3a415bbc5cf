#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# A rank that hangs or is killed, a time limit and scancel: which rank the others wait for. Long computing is none of these.
bats_require_minimum_version 1.5.0
load ../lib/cluster

setup_file() {
	cluster_start_tuned 2
	unset NCCL_TUNE_RECORD_DIR
	export TUNE=$NT_STAGE/bin/nccl-tune
}

teardown_file() {
	wait_for 20 no_helpers
	cluster_check_and_stop
}

# submit SETTINGS SRUN-OPTION... -- OPTION...: a batch job with one step of four ranks on two nodes; its id is in $job.
submit() {
	local settings=$1 options=()
	shift
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	{
		echo '#!/bin/bash'
		printf '%q ' exec srun --mpi=pmix --kill-on-bad-exit=0 "$NT_TESTS/nt-fake-nccl" --noise none --sizes 64M \
			--call-gap-us 1000 --peer-timeout 600 "$@"
	} >"$NT_CLUSTER/work/script"
	job=$(as_user sbatch --parsable -N2 --ntasks-per-node=2 -t 60 "${options[@]}" -o "$NT_CLUSTER/work/output" \
		--nccl-tune="$settings" script)
}

report() {
	as_user "$TUNE" report "$@" "$job" 2>&1
}

# What the record says of the step, by the code of its reason.
says() {
	local json
	json=$(report --json) || { echo "$json" >&2; return 1; }
	jq -r --arg why "$1" '.jobs[].steps[].untuned[]? | select(.why == $why) | .says' <<<"$json"
}

has_said() {
	[ -n "$(says "$1")" ]
}

job_runs() {
	[ "$(timeout 60 squeue -h -j "$1" -o %T)" = RUNNING ]
}

job_is_gone() {
	! timeout 60 squeue -h -j "$1" -o %T | grep -qE "RUNNING|PENDING|CONFIGURING"
}

# first_node_says START: in the short form, which its ranks alone are in.
first_node_says() {
	sacct_field "$job" admincomment | jq -e --arg start "$1" '.nccl_tune["0"].why | any(startswith($start))'
}

# ended JOB: its end and the record are in accounting, and its helpers are gone.
ended() {
	wait_record "$1" && wait_for 60 no_helpers
}

behind='^Rank 3 on n2( \(no longer seen\))? had not begun AllReduce 64M, call 200, which all 3 others had waited in for [0-9]+ s\.$'

@test "a rank that hangs is named while the step runs, and after scancel" {
	submit observe,stall=3 -- --iters 100000 --stuck 3@200
	wait_for 90 has_said behind
	[[ $(says behind) =~ $behind ]]
	run -0 report
	[[ $(tr -s ' \n' ' ' <<<"$output") =~ "Stalled, a communicator of 4 ranks on 2 nodes: Rank 3 on n2 had not begun AllReduce" ]]
	run -0 report --json
	# Its own call 200 was not begun: what the record says of each rank.
	jq -e '[.jobs[].steps[].communicators[].members[].calls[] | [.rank, .begun]] == [[0, 200], [1, 200], [2, 200], [3, 199]]' <<<"$output"
	as_user scancel "$job"
	ended "$job"
	[[ $(says behind) =~ $behind ]]
	# The short form of the first node, whose own ranks all wait.
	wait_for 30 first_node_says '4r2n 1 lastcalls:2 of 4 ranks:200:AllReduce 64M, call 200:' || { sacct_field "$job" admincomment; false; }
}

@test "the time limit: a rank that hangs is named" {
	submit observe,stall=0 -- --iters 100000 --stuck 3@200
	wait_for 60 job_runs "$job"
	sleep 8
	# As slurmctld ends it, without waiting a minute for that.
	run ! has_said behind
	scontrol update "jobid=$job" timelimit=1
	ended "$job"
	[[ $(says behind) =~ $behind ]]
}

@test "a rank that is killed is named" {
	submit observe,stall=3 -- --iters 100000 --kill 3@200
	wait_for 90 has_said behind
	as_user scancel "$job"
	ended "$job"
	[[ $(says behind) =~ "no longer seen" && $(says behind) =~ $behind ]]
}

@test "scancel while calls are made: where the program was, and nobody is named" {
	# Again, and later, where a busy machine had not come to its calls.
	local seconds
	for seconds in 5 20 60 180; do
		submit observe,stall=3 -- --iters 1000000
		wait_for 60 job_runs "$job"
		sleep "$seconds"
		as_user scancel "$job"
		ended "$job"
		! has_said lastcalls || break
	done
	run -0 says lastcalls
	[[ $output =~ ^"When last seen, all 4 ranks had begun "[0-9to\ ]+" calls; the newest was AllReduce 64M, call "[0-9]+", "[0-9]+\.[0-9]" s earlier."$ ]]
	[ -z "$(says behind)" ]
}

@test "a program that computes for longer than stall between its calls is not said to have stalled" {
	local json
	submit observe,stall=1 -- --iters 4 --call-gap-us 4000000
	wait_for 60 job_runs "$job"
	while ! job_is_gone "$job"; do
		# There may be no record yet.
		if json=$(report --json); then
			jq -e 'all(.jobs[].steps[]?.untuned[]?; .why != "behind")' <<<"$json"
		fi
		sleep 1
	done
	ended "$job"
	[ -z "$(says behind)" ]
	[ -z "$(says lastcalls)" ]
}
