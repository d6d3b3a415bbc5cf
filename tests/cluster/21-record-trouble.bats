#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# Records when things go wrong: garbage among them, processes killed. The step keeps its exit status, and what
# can be told is told.
bats_require_minimum_version 1.5.0
load ../lib/cluster

setup_file() {
	cluster_setup
	# What a task does when it is told to end takes a busy machine some time.
	cluster_start 2 -c KillWait=60
	export SPOOL=$NT_CLUSTER/run/spool RANK=$NT_CLUSTER/work/rank
	install -m 755 "$BATS_TEST_DIRNAME/20-record-rank.sh" "$RANK"
}

teardown_file() {
	wait_for 20 no_helpers
	cluster_stop
}

setup() {
	! mountpoint -q "$SPOOL" || umount "$SPOOL"
	cluster plugstack "$(nt_plugstack_line pmix=ask "spooldir=$SPOOL")"
	rm -rf "$SPOOL" "$NT_CLUSTER"/work/{go,ended,returned,output}
}

submit() {
	{ echo '#!/bin/bash'; cat; } >"$NT_CLUSTER/work/script"
	job=$(as_user sbatch --parsable -o "$NT_CLUSTER/work/output" --nccl-tune=bandit "$@" script)
}

record() {
	wait_record "$1"
	sacct_field "$1" admincomment | jq -c '.nccl_tune["0"]'
}

has_record() {
	comment_now "$1" | grep -q nccl_tune
}

entry='{"auto":"RING/SIMPLE","arm":"TREE/SIMPLE","us":[280.1,173.2],"p":0.0001,"samples":24,"calls":10000,"spent_calls":135,"spent_ms":12.3,"saved_ms":456.7}'
# The good record is in $good.
beside=$in_task'good=$("$NT_TESTS/nt-record" list "$shm")
'

# has_entry SHAPE: the record in $output has the entry of the good rank records.
has_entry() {
	[ "$(jq -c ".\"$1\".\"AllReduce 256K\"" <<<"$output")" = "$entry" ] || {
		echo "job $job has the record: $output"
		ls -l "$SPOOL"
		cat "$SPOOL"/*
		return 1
	}
}

# with_garbage SCRIPT: a step with a good record and what SCRIPT puts beside it; ends with 7. Its record is in $output,
# with the good one's entry in it.
with_garbage() {
	with_others "$1"
	has_entry 1r1n
}

with_others() {
	run -7 --separate-stderr as_user srun --nccl-tune=bandit "$RANK" committed bash -c "$beside$1"'
		echo "$SLURM_JOB_ID"; exit 7'
	job=${lines[-1]}
	run -0 record "$job"
}

@test "invalid records are counted and left out" {
	with_garbage 'head -c 5000 /dev/urandom | put_record 1 1; echo | put_record 2 2; echo "{}" | put_record 3 3
		echo "[[[[[[[[[[[[[[[[[[[[" | put_record 4 4
		sed "s/\"job\":[0-9]*/\"job\":999999/" <<<"$good" | put_record 5 5
		sed "s/\"us\":\[280.1/\"us\":[\"280.1\"/" <<<"$good" | put_record 6 6
		sed "s/committed/decided/" <<<"$good" | put_record 7 7'
	[[ $(jq -c .why <<<"$output") = '["unusable:7:1.1: it is not JSON of at most '*'"]' ]]
}

@test "huge and very many records" {
	with_garbage 'for i in {1..300}; do echo "{" | put_record 2 $((1000 + i)); done
		printf "{%0300000d}" 0 | put_record 3 3'
	[[ $(jq -r '.why[0]' <<<"$output") = "unusable:301:2.1001: "* ]]
	[ "$(jq -r 'keys | join(" ")' <<<"$output")" = '1r1n heard mode nccl nodes ranks saved_ms spent_ms why' ]
}

# Bytes without sense in all that is behind the agreement, while the step runs, from processes that do not rest.
@test "a process that scribbles over the node's memory: no step fails, and no helper stays" {
	run -7 --separate-stderr as_user srun --nccl-tune=bandit "$RANK" committed bash -c "$beside"'
		echo "$SLURM_JOB_ID"; "$NT_TESTS/nt-record" scribble "$shm" 3; exit 7'
	job=${lines[-1]}
	wait_for 60 no_helpers
	run -7 --separate-stderr as_user srun --nccl-tune=bandit bash -c "$beside"'
		"$NT_TESTS/nt-record" scribble "$shm" 60 & sleep 2; kill -STOP $!; exit 7'
	wait_for 60 no_helpers
}

@test "more processes than have room are counted, and the others' records count" {
	with_garbage '"$NT_TESTS/nt-record" fill "$shm"; for i in 7 8 9; do echo "$good" | put_record 1 $i && exit 99; done'
	[[ $(jq -c .why <<<"$output") = '["unusable:3:no room for its record in the node'*'"]' ]]
}

# What a process writes once nt-recordd has read the last time, and as long as it likes.
@test "a descriptor of the memory that is kept after the step changes nothing" {
	local kept work=$NT_CLUSTER/work
	rm -f "$work"/{here,held}
	as_user srun --nccl-tune=bandit bash -c './rank committed; echo "$SLURM_JOB_ID" >here; until [ -e held ]; do sleep 0.05; done' 3>&- &
	kept=$!
	wait_for 60 test -s "$work/here"
	job=$(<"$work/here")
	exec {shm}<>"$(step_shm "$job")"
	touch "$work/held"
	wait "$kept"
	wait_for 60 no_helpers
	"$NT_TESTS/nt-record" put "/proc/self/fd/$shm" 5 5 <<<'{'
	exec {shm}<&-
	run -0 record "$job"
	has_entry 1r1n
	run -1 step_shm "$job"
}

@test "a rank with impossible claims has a record of bounded size" {
	with_others 'for i in {1..200}; do sed "s/00f3/$i/; s/\"ranks\":1/\"ranks\":$((i + 1))/; s/456.7/1e14/" \
		<<<"$good" | put_record 9 $((1000 + i)); done'
	[ "${#output}" -le 3072 ]
	[ "$(jq .more <<<"$output")" -gt 100 ]
}

@test "a killed rank: the step's exit status is unchanged, and the others' records count" {
	run -0 --separate-stderr as_user srun -n2 --nccl-tune=bandit bash -c '"$0" committed; echo "$SLURM_JOB_ID"' "$RANK"
	run -137 --separate-stderr as_user srun -n2 --nccl-tune=bandit bash -c '
		"$0" committed; echo "$SLURM_JOB_ID"; [ "$SLURM_PROCID" = 0 ] || kill -KILL $$' "$RANK"
	job=${lines[0]}
	run -0 record "$job"
	has_entry 2r1n
}

helper_of() {
	pgrep -f "nt-recordd record .*dir=$NT_CLUSTER/.*[.]$1[.]0$"
}

@test "nt-recordd is killed: the step goes on and ends at once" {
	local pid
	submit -n1 <<<'srun ./rank exploring bash -c "until [ -e go ]; do sleep 0.05; done; exit 7"; echo "status $?" >returned'
	wait_for 20 helper_of "$job"
	pid=$(helper_of "$job")
	kill -KILL "$pid"
	touch "$NT_CLUSTER/work/go"
	wait_for 20 test -s "$NT_CLUSTER/work/returned"
	[ "$(cat "$NT_CLUSTER/work/returned")" = 'status 7' ]
	wait_for 60 grep -qh "\[$job.0\].*nccl-tune: nt-recordd ended early; the step's record may be lost" "$NT_CLUSTER"/log/n*.log
}

@test "slurmstepd is killed: nt-recordd delivers the record and ends" {
	local pid
	submit -n1 <<<'srun ./rank exploring sleep 1200'
	wait_for 20 helper_of "$job"
	wait_for 20 step_is_seen "$job"
	pid=$(stepds "$job.0")
	[ -n "$pid" ]
	kill -KILL "$pid"
	wait_for 20 has_no_helper "$job"
	has_record "$job" || compgen -G "$SPOOL/nt.$job.0.*"
	as_user scancel "$job"
}

step_is_seen() {
	[ -n "$(step_records "$1")" ]
}

has_no_helper() {
	! helper_of "$1"
}

@test "a spool that cannot be used loses the record and nothing else" {
	mkdir -m 777 "$SPOOL"
	chmod 777 "$SPOOL"
	submit -n1 <<<'until [ -e go ]; do sleep 0.1; done; srun ./rank; echo "$?" >returned'
	as_root scontrol update "jobid=$job" admincomment=text
	touch "$NT_CLUSTER/work/go"
	wait_for 20 test -s "$NT_CLUSTER/work/returned"
	[ "$(cat "$NT_CLUSTER/work/returned")" = 0 ]
	wait_for 60 grep -qh "nccl-tune: job $job step 0: the record is lost: .*; $SPOOL must belong to" "$NT_CLUSTER"/log/n*.log
	[ -z "$(ls "$SPOOL")" ]
}

# What the spool cannot take, whatever the reason. Afterwards nothing is mounted there.
make_spool() {
	mkdir "$SPOOL"
	case $1 in
	full) mount -t tmpfs -o mode=0700,size=4k spool "$SPOOL" && head -c 1M /dev/zero >"$SPOOL/fill" 2>/dev/null || : ;;
	inodes) mount -t tmpfs -o mode=0700,nr_inodes=1 spool "$SPOOL" ;;
	read-only) mount --bind "$SPOOL" "$SPOOL" && mount -o remount,bind,ro "$SPOOL" ;;
	owner) chown "$NT_USER" "$SPOOL" ;;
	file) rmdir "$SPOOL" && : >"$SPOOL" ;;
	parent) rmdir "$SPOOL" && ln -s missing/spool "$SPOOL" ;;
	esac
}

@test "what the spool cannot store is delivered directly: no space, no inode, read-only, another owner, a file, missing" {
	local kind
	for kind in full inodes read-only owner file parent; do
		make_spool "$kind"
		# A slurmctld that is too busy to answer in nt-recordd's time loses such a record: again.
		for _ in {1..10}; do
			: | tee "$NT_CLUSTER"/log/n[1-9].log >/dev/null
			run -0 --separate-stderr as_user srun --nccl-tune=bandit "$RANK" committed bash -c 'echo "$SLURM_JOB_ID"'
			job=$output
			wait_for 60 no_helpers
			! is_delivered || break
		done
		is_delivered || { echo "$kind: $(comment_now "$job")"; return 1; }
		! mountpoint -q "$SPOOL" || umount "$SPOOL"
		rm -rf "$SPOOL"
	done
}

is_delivered() {
	[ "$(comment_now "$job" | jq -c '.nccl_tune["0"]["1r1n"]["AllReduce 256K"]')" = "$entry" ] &&
		! grep -h 'the record is lost' "$NT_CLUSTER"/log/n*.log
}

@test "a step's record replaces its earlier one in a spool that is full by then" {
	mkdir "$SPOOL"
	mount -t tmpfs -o mode=0700,size=64k spool "$SPOOL"
	submit -n1 <<<'RANK_PID=7 srun bash -c "./rank committed; until [ -e go ]; do sleep 0.05; done; RANK_ARM=RING/LL ./rank committed"'
	wait_for 60 has_record "$job"
	head -c 1M /dev/zero >"$SPOOL/fill" 2>/dev/null || :
	touch "$NT_CLUSTER/work/go"
	wait_sacct "$job"
	wait_for 60 no_helpers
	[[ $(comment_now "$job") = *RING/LL* ]]
	run -1 compgen -G "$SPOOL/nt.$job.*" "$SPOOL/sent/nt.$job.0.*"
	umount "$SPOOL"
}

# ---- However a job ends

# settle NAME...: these have ended, and backfill has run as a site's timer runs it.
settle() {
	local name
	for name; do wait_sacct "${jobs[$name]}"; done
	wait_for 60 no_helpers
	as_root "$NT_STAGE/bin/nccl-tune" backfill --spool "$SPOOL" --quiet 0 >>"$NT_BASE/backfill.log"
}

# start NAME [OPTION]... <SCRIPT: its id is in jobs[NAME]. The script makes the file at.JOB when it is so far.
start() {
	submit -n1 -J "$1" "${@:2}"
	jobs[$1]=$job
	wait_for 60 test -e "$NT_CLUSTER/work/at.$job"
}

user_report() {
	as_user "$NT_STAGE/bin/nccl-tune" report "${jobs[$1]}"
}

here='touch at.$SLURM_JOB_ID'

@test "scancel before NCCL starts, while exploring, right after the first commit, in the steady state" {
	local -A jobs
	start steady <<<"RANK_PID=7 srun bash -c 'trap \"RANK_ARM=RING/LL ./rank; exit\" TERM
		./rank committed; $here; while :; do sleep 0.1; done'"
	start before <<<"srun bash -c '$here; sleep 1200'"
	start exploring <<<"srun ./rank exploring bash -c '$here; sleep 1200'"
	wait_for 60 has_record "${jobs[steady]}"
	start first <<<"srun ./rank committed bash -c '$here; sleep 1200'"
	as_user scancel "${jobs[first]}" "${jobs[steady]}" "${jobs[before]}" "${jobs[exploring]}"
	settle first steady before exploring
	run -1 user_report before
	[[ $output = *'has no record'* ]]
	run -0 user_report exploring
	run -0 user_report first
	[[ $output = *TREE/SIMPLE* ]]
	# What the tasks left when they were told to end.
	run -0 user_report steady
	[[ $output = *RING/LL* && $output != *TREE/SIMPLE* ]]
}

signal_slurmctld() {
	local pid
	read -r pid _ <"$NT_CLUSTER/run/slurmctld.pid"
	kill "-$1" "$pid"
}

@test "scancel while the last record is being delivered" {
	local -A jobs
	start last <<<"srun ./rank exploring bash -c '$here; until [ -e go ]; do sleep 0.05; done'; sleep 1200"
	signal_slurmctld STOP
	touch "$NT_CLUSTER/work/go"
	wait_for 60 compgen -G "$SPOOL/nt.$job.0.*"
	as_user scancel "$job" 3>&- & scancel=$!
	sleep 0.5
	signal_slurmctld CONT
	wait "$scancel"
	settle last
	run -0 user_report last
	[[ $output = *256K* ]]
}

# This is what the kernel does; the state OUT_OF_MEMORY takes cgroups of Slurm's own.
@test "all tasks are killed at once, as when memory runs out" {
	run -137 --separate-stderr as_user srun -n2 --nccl-tune=bandit bash -c '
		"$0" committed; echo "$SLURM_JOB_ID"; : >"ready.$SLURM_PROCID"
		until [ -e ready.0 ] && [ -e ready.1 ]; do sleep 0.02; done; kill -KILL $$' "$RANK"
	rm -f "$NT_CLUSTER"/work/ready.*
	job=${lines[0]}
	run -0 record "$job"
	has_entry 2r1n
	jq -e '.early == null and .heard == 1' <<<"$output"
}

@test "the node is lost: the record is what slurmctld has received before" {
	local -A jobs
	local pid tasks
	start lost -w n2 --no-requeue <<<"srun ./rank committed bash -c '$here; sleep 1200'"
	wait_for 60 has_record "$job"
	cluster kill n2
	tasks=$(for pid in $(stepds "$job.0") $(stepds "$job.batch"); do pgrep -P "$pid"; done)
	# One of them may end with another.
	for pid in $(stepds "$job.0") $(stepds "$job.batch") $(helper_of "$job"); do kill -KILL "$pid" || :; done
	for pid in $tasks; do kill -KILL -- "-$(ps -o pgid= "$pid" | tr -d ' ')" || :; done
	as_root scontrol update nodename=n2 state=down reason=lost
	settle lost
	run -0 user_report lost
	[[ $output = *TREE/SIMPLE* ]]
	[ "$(sacct_field "$job" state)" = NODE_FAIL ]
	cluster start n2
	# It may have come back by itself.
	as_root scontrol update nodename=n2 state=resume || :
	wait_for 60 nodes_ready
}

@test "a requeued job: both runs have their record, without steps of the other" {
	local -A jobs
	local -x NCCL_TUNE_RECORD_DIR=$NT_CLUSTER/work/records
	start again --requeue <<<"srun bash -c '[ \${SLURM_RESTART_COUNT:-0} = 0 ] || export RANK_ARM=RING/LL; ./rank committed'
		[ \${SLURM_RESTART_COUNT:-0} = 1 ] || srun ./rank committed bash -c '$here; sleep 1200'"
	wait_for 60 has_step "$job" 1
	as_root scontrol requeue "$job"
	wait_for 60 is_pending "$job"
	# In the second in which a node was told of the first run's end it refuses what runs next.
	sleep 2
	as_root scontrol update jobid="$job" starttime=now
	wait_for 60 is_run_again
	run -0 as_user timeout 60 "$NT_STAGE/bin/nccl-tune" report --follow "$job"
	[[ $output = *"Job $job: completed."* && $output = *Ring/LL* && $output != *Tree/Simple* ]] || { echo "$output"; false; }
	settle again
	run -0 user_report again
	[ "$(grep -c ^Job <<<"$output")" = 2 ]
	[[ $output = "Job $job"*RING/LL*"Job $job (run 1)"*TREE/SIMPLE* ]]
	# The long form of neither is lost, and each run is shown by its own.
	[ "$(cd "$NCCL_TUNE_RECORD_DIR/nt.$job" && printf '%s\n' *.gz | sed 's/n[12]/n/' | LC_ALL=C sort | paste -sd ' ')" = \
		'0.n.jsonl.gz 0.n.r1.jsonl.gz 1.n.jsonl.gz' ]
	[[ ${output%%(run 1)*} = *', run 2'* && ${output##*(run 1)} != *', run 2'* ]]
	[[ ${output%%(run 1)*} != *TREE/SIMPLE* && ${output##*(run 1)} != *RING/LL* ]]
}

# The second run has a record in the text that has the first one's.
is_run_again() {
	comment_now "$job" | jq -e '.nccl_tune["0"].run == 1'
}

# has_step JOB STEP: slurmctld has a record of it
has_step() {
	comment_now "$1" | jq -e --arg step "$2" '.nccl_tune[$step]'
}

is_pending() {
	[ "$(squeue -h -j "$1" -o '%T %r')" = 'PENDING BeginTime' ]
}
