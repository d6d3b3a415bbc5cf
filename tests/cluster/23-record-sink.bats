#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# Where records go: many at once, of heterogeneous steps, beside programs that want the same field, and what becomes of
# those that cannot be delivered.
bats_require_minimum_version 1.5.0
load ../lib/cluster

setup_file() {
	cluster_setup
	export JOBSTATS=$NT_BASE/jobstats
	make_jobstats
	cluster_start 2 -c "EpilogSlurmctld=$JOBSTATS"
	export SPOOL=$NT_CLUSTER/run/spool RANK=$NT_CLUSTER/work/rank
	UID_OF_USER=$(id -u "$NT_USER")
	export UID_OF_USER
	install -m 755 "$BATS_TEST_DIRNAME/20-record-rank.sh" "$RANK"
}

# What such a program does in slurmctld's epilog of a job: sacctmgr writes once accounting has the job's end. Only where
# $JOBSTATS.on is there.
make_jobstats() {
	cat >"$JOBSTATS" <<-END
	#!/bin/bash
	[ -e "$JOBSTATS.on" ] || exit 0
	export SLURM_CONF=$NT_CLUSTER/etc/slurm.conf
	for i in {1..600}; do
		timeout 60 sacct -nPX -j "\$SLURM_JOB_ID" -o end | grep -q ^2 && break
		sleep 0.1
	done
	timeout 60 sacctmgr -i modify job where "jobid=\$SLURM_JOB_ID" set "admincomment=JS1:H4sIAAAAAAAA/+Y="
	END
	chmod 755 "$JOBSTATS"
}

teardown_file() {
	wait_for 20 no_helpers
	cluster_stop
}

setup() {
	site
	rm -rf "$SPOOL" "$NT_CLUSTER/work/go" "$JOBSTATS.on"
}

site() {
	cluster plugstack "$(nt_plugstack_line pmix=ask "spooldir=$SPOOL" "$@")"
}

submit() {
	{ echo '#!/bin/bash'; cat; } >"$NT_CLUSTER/work/script"
	job=$(as_user sbatch --parsable -o "$NT_CLUSTER/work/output" --nccl-tune=bandit "$@" script)
}

backfill() {
	as_root "$NT_STAGE/bin/nccl-tune" backfill --spool "$SPOOL" "$@"
}

report() {
	as_root "$NT_STAGE/bin/nccl-tune" report "$@"
}

# in_part [PART]: the files of a part of the spool
in_part() {
	find "$SPOOL/${1:-}" -maxdepth 1 -name '*.json' -printf '%f\n' 2>/dev/null | sort
}

# steps JOB: the steps in accounting or, before the end, in slurmctld's text
steps() {
	sacct_field "$1" admincomment | jq -c '.nccl_tune | keys - ["says", "v", "more"]'
}

# count NAME: how often slurmctld served that request since `sdiag -r`
count() {
	timeout 60 sdiag | awk -v name="$1" '$1 == name { sub(".*count:", ""); sum += $1 } END { print sum + 0 }'
}

# spool JOB STEP UID: a record that waits, as a writer that died has left it
spool() {
	local file=$SPOOL/nt.$1.$2.u$3.json
	[ -d "$SPOOL" ] || mkdir -m 700 "$SPOOL"
	jq -cn --argjson job "$1" --arg step "$2" --argjson uid "$3" --arg record \
		'{"mode":"bandit","1r1n":{"AllReduce 1M":{"auto":"RING/LL","arm":"TREE/LL","us":[20.5,10.25]}}}' \
		'{v: 1, cluster: "nt", $job, $step, $uid, $record}' >"$file"
	chmod 600 "$file"
}

# ended_job TEXT: a job that has ended, with TEXT in its AdminComment
ended_job() {
	job=$(as_user sbatch --parsable -o /dev/null -n1 --wrap 'sleep 1200')
	as_root scontrol update "jobid=$job" "admincomment=$1"
	wait_for 60 is_running "$job"
	as_user scancel "$job"
	wait_sacct "$job"
}

is_running() {
	[ "$(timeout 60 squeue -h -j "$1" -o %T)" = RUNNING ]
}

@test "forty steps, twenty at once: the rate of updates is limited, and no record is lost" {
	local began=$SECONDS updates reads bound whole
	timeout 60 sdiag -r
	submit -N2 <<<'seq 40 | xargs -P 20 -I{} srun -N1 -n1 --overlap --mem=0 ./rank committed sleep 0.5'
	wait_sacct "$job"
	wait_for 60 no_helpers
	updates=$(count REQUEST_UPDATE_JOB) reads=$(count REQUEST_JOB_INFO_SINGLE)
	# Six at once, one every five seconds, one at the batch script's end; each may have to be written again.
	bound=$((6 + (SECONDS - began) / 5 + 2))
	echo "# $updates updates and $reads reads for 40 steps in $((SECONDS - began)) s" >&3
	[ "$updates" -le "$bound" ]
	[ "$reads" -le $((3 * bound)) ]
	# Those that had no room are counted; what did not get there waits.
	whole=$(sacct_field "$job" admincomment | jq '.nccl_tune | (.more // 0) + (keys - ["says", "v", "more"] | length)')
	[ $((whole + $(in_part | wc -l))) -ge 40 ]
	[ "$(find "$SPOOL" -name '*.json' -printf '%f\n' | sort -u | wc -l)" = 40 ]
}

@test "steps that do not load NCCL cost slurmctld nothing, whatever plugins their users have" {
	timeout 60 sdiag -r
	NCCL_TUNER_PLUGIN=none NCCL_PROFILER_PLUGIN=none run -0 as_user srun -n2 --nccl-tune=bandit true
	run -0 as_user srun -n2 --nccl-tune=bandit true
	wait_for 60 no_helpers
	[ "$(count REQUEST_UPDATE_JOB)" = 0 ]
	[ "$(count REQUEST_JOB_INFO_SINGLE)" = 0 ]
	[ -z "$(in_part)$(in_part sent)" ]
}

@test "the file of a writer that died is delivered with the job's next record" {
	submit -n1 <<<'until [ -e go ]; do sleep 0.1; done; srun ./rank'
	spool "$job" 77 "$UID_OF_USER"
	touch "$NT_CLUSTER/work/go"
	wait_record "$job"
	[ "$(steps "$job")" = '["0","77"]' ]
	[ -z "$(in_part)" ]
}

@test "each component of a heterogeneous step has its own key" {
	submit -N2 --ntasks-per-node=4 <<<'srun -N1 -n1 ./rank : -N1 -n2 ./rank'
	wait_record "$job"
	[ "$(steps "$job")" = '["0+0","0+1"]' ]
	run -0 report --json "$job.0"
	jq -e '[.. | objects | select(.coll == "AllReduce" and .state)] | length == 2' <<<"$output"
	run -0 report --json "$job.0+1"
	jq -e '[.. | objects | select(.coll == "AllReduce" and .state)] | length == 1' <<<"$output"
}

# The record of a job that has ended, and what another program then makes of the text.
replaced_after_us() {
	run -0 as_user srun --nccl-tune=bandit "$RANK" committed bash -c 'echo "$SLURM_JOB_ID"'
	job=${lines[0]}
	wait_for 60 no_helpers
	wait_record "$job"
	[ "$(steps "$job")" = '["0"]' ]
	mariadb --no-defaults -S "$NT_CLUSTER/run/mysql.sock" slurm_acct \
		-e "update nt_job_table set admin_comment = '$1' where id_job = $job"
	[ "$(sacct_field "$job" admincomment)" = "$1" ]
}

@test "another program's JSON has replaced ours: the record is restored beside it" {
	replaced_after_us '{ "jobstats" : [1.50] }'
	run -0 backfill
	[ "${lines[0]}" = "job $job, step 0: written again, another program had overwritten it" ]
	run -0 sacct_field "$job" admincomment
	[[ $output = '{ "jobstats" : [1.50],"nccl_tune":{'*'"v":1,"0":'*'} }' ]]
	# It is looked at until nobody writes any more.
	[ -n "$(in_part sent)" ]
	run -0 backfill --quiet 0
	[ -z "$(in_part sent)" ]
}

@test "another program's text has replaced ours: it stays, and the loss of ours is reported" {
	replaced_after_us 'JS1:H4sIAAAAAAAA'
	run -1 --separate-stderr backfill
	[[ $stderr = *"job $job, step 0: given up: its AdminComment contains another program's data"* ]]
	[ "$(sacct_field "$job" admincomment)" = 'JS1:H4sIAAAAAAAA' ]
	[ -z "$(in_part sent)" ]
}

@test "records that cannot be delivered are reported once, and delay no others" {
	local foreign
	ended_job 'JS1:text'
	foreign=$job
	for step in {1..200}; do spool "$foreign" "$step" 5001; done
	ended_job '{}'
	spool "$job" 0 5002
	# What slurmctld was given of the step before that does not come after it.
	[ -d "$SPOOL/sent" ] || mkdir -m 700 "$SPOOL/sent"
	sed 's/10.25/15.75/' "$SPOOL/nt.$job.0.u5002.json" >"$SPOOL/sent/nt.$job.0.u5002.json"
	chmod 600 "$SPOOL/sent/nt.$job.0.u5002.json"
	run -0 backfill --time 0
	[ "$output" = '0 written, 0 there already, 0 left for later, 0 failed, 202 left for the next run' ]
	run -1 --separate-stderr backfill --quiet 0
	[ "${lines[-1]}" = '1 written, 0 there already, 0 left for later, 0 failed, 200 given up' ]
	[ "$(grep -c "job $foreign, step .*: given up: " <<<"$stderr")" = 200 ]
	run -0 backfill
	[[ $(sacct_field "$job" admincomment) = *'"0":'*'[20.5,10.25]'* ]]
	[ "$output" = '0 written, 0 there already, 0 left for later, 0 failed' ]
}

as_another() {
	timeout 60 setpriv --reuid 12345 --regid 12345 --clear-groups "$@"
}

user_report() {
	as_user "$NT_STAGE/bin/nccl-tune" report "$@"
}

# A job that has ended before slurmdbd heard of its start may stay root's in accounting.
is_users() {
	[ "$(sacct_field "$1" user)" = "$NT_USER" ]
}

# Before 23.02 sacctmgr writes all in lower case.
holds_jobstats() {
	[[ $(sacct_field "$1" admincomment) = [Jj][Ss]1:* ]]
}

has_text() {
	[ "$(sacct_field "$1" "$2")" = "$3" ]
}

# waiting_job: a job whose step goes on when $NT_CLUSTER/work/go is there
waiting_job() {
	rm -f "$NT_CLUSTER/work/go"
	submit -n1 "$@" <<<'until [ -e go ]; do sleep 0.1; done; srun ./rank'
}

@test "a site's program writes JS1: at each job's end: its bytes stay, and the user can read the report" {
	local directory=$NT_CLUSTER/run/beside
	site "record=admincomment,file:$directory"
	touch "$JOBSTATS.on"
	waiting_job
	wait_for 60 is_users "$job"
	touch "$NT_CLUSTER/work/go"
	wait_sacct "$job"
	wait_for 60 no_helpers
	wait_for 60 holds_jobstats "$job"
	rm "$JOBSTATS.on"
	before=$(sacct_field "$job" admincomment)
	run -1 user_report "$job"
	[[ $output = *"another program's text"* ]]
	run -0 backfill
	[ "${lines[0]}" = "job $job, step 0: written again, another program had overwritten it into $directory" ]
	has_text "$job" admincomment "$before"
	run -0 --separate-stderr user_report "$job"
	[[ $output = *TREE/SIMPLE* && -z $stderr ]]
	# Among others, too.
	run -0 --separate-stderr user_report "$job-$((job + 1))"
	[[ $output = *TREE/SIMPLE* ]]
	# It is there, and is not written again.
	run -0 backfill
	[ "$output" = '0 written, 0 there already, 0 left for later, 0 failed' ]
}

@test "the site's directory gets what AdminComment refuses" {
	local directory=$NT_CLUSTER/run/filed file
	site "record=admincomment,file:$directory"
	waiting_job
	as_root scontrol update "jobid=$job" admincomment=JS1:abc
	touch "$NT_CLUSTER/work/go"
	wait_sacct "$job"
	wait_for 60 no_helpers
	# The text is not changed; the file is its user's to read, and nobody else's.
	has_text "$job" admincomment JS1:abc
	# What slurmctld was too slow for is brought by backfill.
	[ -z "$(in_part)" ] || run -0 backfill
	[ -z "$(in_part)$(in_part sent)" ]
	file=$directory/nt.$job.0.u$UID_OF_USER.json
	[ "$(stat -c %U "$file")" = root ]
	run -0 as_user cat "$file"
	run -1 as_another cat "$file"
	run -0 --separate-stderr user_report "$job"
	[[ $output = *TREE/SIMPLE* ]]
	[ -z "$stderr" ]
	run -1 as_another "$NT_STAGE/bin/nccl-tune" report "$job"
	[ "$output" = "nccl-tune report: job $job: a record is in $directory, which you cannot read: ask an administrator" ]
}

@test "text of a user cannot pass for another job's record" {
	local foreign=$'x\n999\x1f999\x1f2026-01-02T03:04:05\x1fann\x1f{"nccl_tune":{"v":1,"0":{"mode":"bandit"}}}'
	run -0 as_user srun --job-name="$foreign" bash -c 'echo "$SLURM_JOB_ID"'
	job=${lines[0]}
	wait_sacct "$job"
	run -1 user_report "$job"
	run -1 user_report 999
	[[ $output != *bandit* ]]
}
