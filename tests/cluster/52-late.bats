#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# A rank that others wait for, from real jobs: in accounting for one node, in the report for several, and in the summary of
# several jobs.
bats_require_minimum_version 1.5.0
load ../lib/cluster

setup_file() {
	cluster_setup
	unset NCCL_TUNE_RECORD_DIR
	export FILE=$NT_BASE/nccl-tune.conf TUNE=$NT_STAGE/bin/nccl-tune
	cluster_start 2 -p "$(nt_plugstack_line "conf=$FILE")"
}

teardown_file() {
	wait_for 20 no_helpers
	cluster_check_and_stop
}

# job NODES TASKS-PER-NODE [option]...: AllGather, for which NCCL chooses rings
job() {
	observed_job "$1" "$2" : -- --coll allgather "${@:3}"
}

late() {
	sacct_field "$job" admincomment | jq -r '.nccl_tune["0"] | [.late, .late_rank, .late_node] | map(. // "-") | join(" ")'
}

@test "on one node accounting has it, and the report says it" {
	job 1 4 --slow-rank 3@300
	[ "$(late)" = "steady 3 n1" ]
	job_report
	[[ $output = *"Others wait for rank 3 on n1 in "*" % of the measured calls, 30"*" us each; waiting is "*"NCCL cannot help there."* ]]
}

@test "on two nodes the report says it, as text, JSON and metrics; the first node alone does not know" {
	job 2 2 --slow-rank 2@500
	[ "$(late)" = "- - -" ]
	job_report
	[[ $output = *"Others wait for rank 2 on n2 in "* ]]
	job_report --json
	jq -e '.jobs[0].steps[0] | .late == "steady" and .late_rank == 2 and .late_node == "n2" and .late_calls > 0.7 and
		(.communicators[0].members[0].lateness | .rank == 2 and .node == "n2" and .calls == 96 and (.ranks | length) == 4 and
		(.ranks[2].us | min) > (.ranks[0].us | max))' <<<"$output"
	job_report --prometheus
	[[ $output = *'nccl_tune_late_calls_ratio{'*'late="steady",late_node="n2",late_rank="2"} '* ]]
	run -0 as_user "$TUNE" report --follow "$job.0"
	[[ $(tr -s ' \n' ' ' <<<"$output") = *"Others wait for rank 2 on n2 in "* ]]
}

@test "without a cause nobody is named" {
	job 2 2
	job_report
	[[ $output != *"wait for"* ]]
}
