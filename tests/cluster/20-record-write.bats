#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# From what a step's ranks leave behind to the job's record in accounting. The tasks write rank records as the NCCL
# plugin does.
bats_require_minimum_version 1.5.0
load ../lib/cluster

setup_file() {
	cluster_setup
	cluster_start 4
	export SPOOL=$NT_CLUSTER/run/spool RANK=$NT_CLUSTER/work/rank
	install -m 755 "$BATS_TEST_DIRNAME/20-record-rank.sh" "$RANK"
}

teardown_file() {
	wait_for 20 no_helpers
	cluster_check_and_stop
}

setup() {
	site
}

site() {
	cluster plugstack "$(nt_plugstack_line pmix=ask "spooldir=$SPOOL" "$@")"
}

# submit OPTION... <SCRIPT: a batch job with the option; its id is in $job.
submit() {
	{ echo '#!/bin/bash'; cat; } >"$NT_CLUSTER/work/script"
	job=$(as_user sbatch --parsable -o "$NT_CLUSTER/work/output" --nccl-tune=bandit "$@" script)
}

comment() {
	wait_record "$1"
	sacct_field "$1" admincomment
}

# The step's record in a text on standard input.
step() {
	jq -c --arg step "$1" '.nccl_tune[$step]'
}

entry='{"auto":"RING/SIMPLE","arm":"TREE/SIMPLE","us":[280.1,173.2],"p":0.0001,"samples":24,"calls":10000,"spent_calls":135,"spent_ms":12.3,"saved_ms":456.7}'

@test "the record of a step is in the accounting of its job" {
	local text job
	run -0 as_user srun -N2 -n4 --nccl-tune=bandit "$RANK" committed bash -c 'echo "$SLURM_JOB_ID"'
	job=${lines[0]}
	text=$(comment "$job")
	[ "$text" = '{"nccl_tune":{"says":"saved 456.7 ms","v":1,"0":{"mode":"bandit","nccl":"2.28.9","ranks":4,"nodes":2,"heard":1,"spent_ms":12.3,"saved_ms":456.7,"4r2n":{"AllReduce 256K":'"$entry"'}}}}' ]
	[ -z "$(waiting "$job")" ]
}

# The files of a job's records that slurmctld does not have.
waiting() {
	find "$SPOOL" -maxdepth 1 -name "nt.$1.*.json" 2>/dev/null
}

@test "a step that never loads NCCL has no record and is not delayed" {
	local job
	run -0 as_user srun -N2 -n2 --nccl-tune=bandit bash -c 'echo "$SLURM_JOB_ID"'
	job=${lines[0]}
	[ -z "$(comment "$job")" ]
	run -0 as_user srun -N2 -n2 --nccl-tune=bandit bash -c "$in_task"'
		"$NT_TESTS/nt-record" claim "$shm"; echo "$SLURM_JOB_ID"'
	job=${lines[0]}
	[ -z "$(comment "$job")" ]
}

@test "steps of a job, one after the other and in the batch script itself" {
	submit -N2 -n2 <<-'END'
	SLURM_PROCID=0 ./rank kept
	srun ./rank
	srun --nccl-tune=off true
	RANK_WHY='nccl:1:n2:{22705}:22809' RANK_BYTES=1572864 srun ./rank counted
	END
	text=$(comment "$job")
	[ "$(jq -c '.nccl_tune | del(.says) | keys' <<<"$text")" = '["0","2","batch","v"]' ]
	[ "$(step batch <<<"$text" | jq -r '."2r2n"."AllReduce 256K".arm')" = AUTO ]
	[ "$(step 0 <<<"$text" | jq -c '."2r2n"."AllReduce 256K"')" = "$entry" ]
	[ "$(step 2 <<<"$text" | jq -c .why)" = '["2r2n 1 nccl:1:n2:(22705):22809"]' ]
}

# rows PYTHON ARGUMENT... <TEXT: what a program of Python's csv module makes of sacct's rows
rows() {
	python3 -c "import csv, json, sys; rows = list(csv.DictReader(sys.stdin, $1)); assert len(rows) == 1; row = rows[0]; $2"
}

# Princeton's jobstats reads `sacct -P` by a CSV reader with the delimiter |; others write and read CSV with commas, in
# one line for each job.
@test "the job's row is read by all readers of sacct, whatever the texts in the record" {
	local fields=jobid,admincomment,state parsable
	submit -N2 -n2 <<-'END'
	RANK_COMM='a|b' RANK_WHY='mode|observe' srun ./rank counted
	RANK_WHY='noload:tuner:/x|y.so:no\tsuch file' srun ./rank counted
	END
	text=$(comment "$job")
	[ "$(step 0 <<<"$text" | jq -c .why)" = '["2r2n 1 mode:observe"]' ]
	[[ $text != *[\|\\[:cntrl:]]* ]]
	[ "$(timeout 60 sacct -X -n -P -j "$job" -o $fields | tr -dc '|\n')" = '||' ]
	[ "$(timeout 60 sacct -X -n --parsable -j "$job" -o $fields | tr -dc '|\n')" = '|||' ]
	parsable=$(timeout 60 sacct -X -P -j "$job" -o $fields)
	[ "$(rows 'delimiter="|"' 'print(row["AdminComment"])' <<<"$parsable")" = "$text" ]
	[ "$(rows 'delimiter="|"' 'print(row["State"], None in row)' <<<"$parsable")" = 'COMPLETED False' ]
	rows 'delimiter="|"' 'csv.writer(sys.stdout).writerows([row.keys(), row.values()])' <<<"$parsable" >"$NT_BASE/rows.csv"
	[ "$(wc -l <"$NT_BASE/rows.csv")" = 2 ]
	[ "$(rows 'delimiter=","' 'print(row["AdminComment"])' <"$NT_BASE/rows.csv")" = "$text" ]
	[ "$(timeout 60 sacct -X --json -j "$job" | jq -r '.jobs[0].comment.administrator')" = "$text" ]
}

# Eight steps end at the same moment.
eight='for i in {1..8}; do srun -N1 -n1 --overlap ./rank committed bash -c '\'': >at.$SLURM_STEP_ID.$SLURM_JOB_ID; until [ -e go ]; do sleep 0.02; done'\'' & done
until [ "$(ls at.*."$SLURM_JOB_ID" 2>/dev/null | wc -l)" -ge 8 ]; do sleep 0.1; done
touch go
wait
rm go'

# The job's eight steps in accounting, or some of them in the spool to be brought there later.
count_steps() {
	kept=$(comment "$1" | jq '.nccl_tune | del(.says) | length - 1')
	spooled=$(waiting "$1" | wc -l)
	echo "# job $1: $kept of 8 in accounting, $spooled in the spool"
}

parallel_steps() {
	rm -f "$NT_CLUSTER/work/go"
	submit -N4 -n8 --export=ALL <<<"$eight"
	wait_sacct "$job"
	wait_for 20 no_helpers
	count_steps "$job"
}

# A record may wait in the spool where slurmctld takes a second to answer; none is written over another.
@test "eight steps at once: none is lost" {
	local _
	for _ in 1 2 3; do
		parallel_steps
		[ $((kept + spooled)) -ge 8 ]
		run -0 as_root "$NT_STAGE/bin/nccl-tune" backfill --spool "$NT_CLUSTER/run/spool" --quiet 0
		[[ $output != *'written again'* ]] || { echo "$output"; false; }
		[ "$(sacct_field "$job" admincomment | jq '.nccl_tune | del(.says) | length - 1')" = 8 ]
	done
}

@test "eight steps at once on nodes without a common lock: none is lost" {
	rm -rf "$NT_CLUSTER/run/nccl-tune/jobs"
	mkdir -p "$NT_CLUSTER/run/nccl-tune"
	touch "$NT_CLUSTER/run/nccl-tune/jobs"
	parallel_steps
	rm "$NT_CLUSTER/run/nccl-tune/jobs"
	# What one has written over another is brought again.
	as_root "$NT_STAGE/bin/nccl-tune" backfill --spool "$NT_CLUSTER/run/spool" --quiet 0
	[ "$(sacct_field "$job" admincomment | jq '.nccl_tune | del(.says) | length - 1')" = 8 ]
}

@test "another program's JSON keeps every byte, and other text is not changed" {
	local before='{ "jobstats" : {"x":[1, 2.50,"}{"]} , "é":"\"\\u00e9" }'
	submit -n1 <<<'until [ -e go ]; do sleep 0.1; done; srun ./rank'
	rm -f "$NT_CLUSTER/work/go"
	as_root scontrol update "jobid=$job" "admincomment=$before"
	touch "$NT_CLUSTER/work/go"
	text=$(comment "$job")
	[ "${text:0:$((${#before} - 2))}" = "${before:0:$((${#before} - 2))}" ]
	# jq before 1.7 prints 2.5: compared as a value.
	jq -e '.jobstats == {"x":[1,2.5,"}{"]}' <<<"$text"
	[ "$(step 0 <<<"$text" | jq -c '."1r1n"."AllReduce 256K"')" = "$entry" ]
	rm "$NT_CLUSTER/work/go"
	submit -n1 <<<'until [ -e go ]; do sleep 0.1; done; srun ./rank'
	as_root scontrol update "jobid=$job" "admincomment=JS1:H4sIAAAAAAAA"
	touch "$NT_CLUSTER/work/go"
	[ "$(comment "$job")" = JS1:H4sIAAAAAAAA ]
	grep -qh "nccl-tune: job $job step 0: the record waits in $SPOOL: its AdminComment contains another program's data" \
		"$NT_CLUSTER"/log/n*.log
	# backfill has given it up.
	[ -z "$(waiting "$job")" ]
}

early() {
	[ "$(comment_now "$1" | step 0 | jq -r '"\(.early) \(."1r1n"."AllReduce 256K".arm)"')" = "1 $2" ]
}

@test "a decision is recorded while the step runs, so that scancel does not lose it" {
	submit -n1 <<<'srun ./rank committed sleep 1200'
	wait_for 15 early "$job" TREE/SIMPLE
	run -0 as_user scancel "$job"
	wait_record "$job"
	run -0 sacct_field "$job" state,admincomment
	[[ $output = 'CANCELLED by '* ]]
	[ "$(step 0 <<<"${output#*|}" | jq -c '."1r1n"."AllReduce 256K", .early')" = "$entry"$'\nnull' ]
	wait_for 20 no_helpers
	[ -z "$(waiting "$job")" ]
}

@test "no decision makes no early record, and a later one replaces an earlier one" {
	rm -f "$NT_CLUSTER/work/go" "$NT_CLUSTER/work/again"
	submit -n1 <<-'END'
	RANK_PID=7 srun bash -c '
		./rank exploring
		until [ -e go ]; do sleep 0.1; done
		./rank
		until [ -e again ]; do sleep 0.1; done
		RANK_ARM=RING/LL ./rank
		sleep 1200'
	END
	wait_for 20 step_is_seen "$job"
	sleep 2.5
	[ -z "$(comment_now "$job")" ]
	touch "$NT_CLUSTER/work/go"
	wait_for 60 early "$job" TREE/SIMPLE
	touch "$NT_CLUSTER/work/again"
	wait_for 60 early "$job" RING/LL
	as_user scancel "$job"
}

@test "a record that could not be written before a job was cancelled is spooled" {
	submit -n1 <<<'srun ./rank exploring sleep 1200'
	wait_for 20 step_is_seen "$job"
	run -0 as_user scancel "$job"
	wait_sacct "$job"
	wait_for 20 no_helpers
	if [ -z "$(sacct_field "$job" admincomment)$(comment_now "$job")" ]; then
		run -0 jq -r '[.v, .cluster, .job, .step, .uid] | @tsv' "$(waiting "$job")"
		[ "$output" = "1	nt	$job	0	$(id -u "$NT_USER")" ]
		[ "$(stat -c '%U %a' "$SPOOL" "$(waiting "$job")")" = $'root 700\nroot 600' ]
	fi
	rm -f "$SPOOL/nt.$job".0.*
}

step_is_seen() {
	[ -n "$(step_records "$1")" ]
}

@test "a step in which neither half can be loaded has no record, because nothing shows that it ran NCCL" {
	local job
	NCCL_TUNER_PLUGIN=none NCCL_PROFILER_PLUGIN=none NCCL_ALGO=Ring \
		run -0 as_user srun -n2 --nccl-tune=bandit bash -c 'echo "$SLURM_JOB_ID"'
	job=${lines[0]}
	[ -z "$(comment "$job")" ]
	run -1 as_user "$NT_STAGE/bin/nccl-tune" report "$job"
	[[ $output = *NCCL_TUNER_PLUGIN* ]]
	NCCL_TUNER_PLUGIN=none run -0 as_user srun --nccl-tune=bandit "$RANK" committed bash -c 'echo "$SLURM_JOB_ID"'
	job=${lines[0]}
	run -0 comment "$job"
	[ "$(step 0 <<<"$output" | jq -c .why)" = '["tuner"]' ]
}

@test "a site can store records in files instead, or nowhere" {
	local job
	mkdir -m 755 "$NT_CLUSTER/run/records"
	site "record=file:$NT_CLUSTER/run/records"
	run -0 as_user srun --nccl-tune=bandit "$RANK" committed bash -c 'echo "$SLURM_JOB_ID"'
	job=${lines[0]}
	[ -z "$(comment "$job")" ]
	run -0 jq -r .record "$NT_CLUSTER/run/records/nt.$job.0.u$(id -u "$NT_USER").json"
	[ "$(jq -c '."1r1n"."AllReduce 256K"' <<<"$output")" = "$entry" ]
	site record=none
	run -0 as_user srun --nccl-tune=bandit "$RANK" committed bash -c 'echo "$SLURM_JOB_ID"'
	job=${lines[0]}
	[ -z "$(comment "$job")" ]
}

@test "each task of an array has its own record" {
	submit -n1 --array=1,2 <<<'RANK_BYTES=$((1024 * SLURM_ARRAY_TASK_ID)) srun ./rank'
	wait_for 60 array_is_accounted "$job"
	for task in 1 2; do
		[ "$(sacct_field "${job}_$task" admincomment | step 0 | jq -r '."1r1n" | keys[]')" = "AllReduce ${task}K" ]
	done
}

array_is_accounted() {
	[ "$(timeout 60 sacct -n -X -P -j "$1" -o admincomment | grep -c nccl_tune)" = 2 ]
}
