#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# nccl-tune report: from slurmctld while the job runs, from accounting after, always as the plain user.
# The administrator writes the records here; that steps write them is tested with the plugin.
bats_require_minimum_version 1.5.0
load ../lib/cluster

setup_file() {
	cluster_setup
	[ -x "$NT_STAGE/bin/nccl-tune" ]
	cluster_start 2 -c MinJobAge=3600 -c SchedulerParameters=bf_interval=1
}

setup() {
	cluster start slurmdbd >/dev/null
	cluster start slurmctld >/dev/null
	cluster_wait
}

report() {
	as_user "$NT_STAGE/bin/nccl-tune" report "$@"
}

# is_listed JOB: accounting tells of it when it is asked for a time
is_listed() {
	as_user sacct -n -X -P -S now-1days -E now+1minutes -o jobid | grep -qx "$1"
}

# has_step JOB STEP: accounting has it, ended
has_step() {
	sacct -n -P -j "$1.$2" -o state | grep -q COMPLETED
}

# record STEP ARM: a job record of one step and one collective.
record() {
	printf '{"nccl_tune":{"v":1,"%s":{"mode":"bandit","nccl":"2.28.9","ranks":8,"nodes":2,"8r2n":' "$1"
	printf '{"AllReduce 256K":{"auto":"RING/SIMPLE","arm":"%s","us":[280.1,173.2],' "$2"
	printf '"p":0.0001,"samples":24,"calls":10000,"spent_calls":135,"spent_ms":12.3,"saved_ms":456.7}}}}}'
}

submit() {
	as_user sbatch --parsable -o /dev/null "$@"
}

is_running() {
	[ "$(timeout 60 squeue -h -j "$1" -o %T | sort -u)" = RUNNING ]
}

# A job that runs until it is cancelled, with TEXT in its AdminComment; its id is in $job.
start_job() {
	job=$(submit -n1 --wrap 'sleep 1200')
	wait_for 20 is_running "$job"
	as_root scontrol update "jobid=$job" "admincomment=$1"
}

end_job() {
	as_user scancel "$job"
	wait_sacct "$job"
}

is_forgotten() {
	! timeout 60 scontrol show job "$1"
}

@test "a running job's record comes from slurmctld: accounting has none yet" {
	start_job "$(record 0 TREE/SIMPLE)"
	run -0 sacct_field "$job" admincomment
	[ -z "$output" ]
	sleep 1.1	# Slurm counts whole seconds
	run -0 --separate-stderr report "$job"
	[ -z "$stderr" ]
	[ "${lines[0]}" = "Job $job" ]
	[ "${lines[1]}" = "saved 456.7 ms" ]
	[[ $output = *$'\nAllReduce 256K on the 8 ranks across 2 nodes: Tree/Simple takes 173 us to the\n'* ]]
	[[ $output = *'Net time saved: 444.4 ms (saved 456.7 ms, spent 12.3 ms)'*' % of '*' s.'* ]]
	[ "$(wc -L <<<"$output")" -le 80 ]
	run -0 --separate-stderr report --full "$job"
	[[ $(tr -s ' \n' ' ' <<<"$output") = *"TREE/SIMPLE instead of NCCL's RING/SIMPLE: 38.2 % faster to the next call (p 0.0001, 24 samples)."* ]]
	end_job
}

@test "a step that runs has not ended; metrics of the job have its cluster and user" {
	local open='"auto":"RING/SIMPLE","arm":"AUTO","calls":100,"round":"screen","round_arms":5,"round_calls":100,"round_done":55,"why":"open"'
	start_job '{"nccl_tune":{"v":1,"0":{"mode":"bandit","ranks":8,"nodes":2,"early":1,"as_of":1700000000,"8r2n":{"AllReduce 256K":{'"$open"'}}}}}'
	run -0 --separate-stderr report "$job"
	[[ $(tr -s ' \n' ' ' <<<"$output") = *'AllReduce 256K: as of '[0-9][0-9]:*', still exploring, 45 more calls.'*'Step 0 runs: figures as of '* ]] ||
		[[ $(tr -s ' \n' ' ' <<<"$output") = *'Step 0 runs: figures as of '*'AllReduce 256K: as of '*', still exploring, 45 more calls.'* ]]
	[[ $output != *'ended'* ]]
	end_job
	run -0 report "$job"
	[[ $output = *'figures as of '*'the step ended'* ]]
	run -0 report "$job" --prometheus
	# Accounting may name another user at first.
	[[ $output = *",slurm_job_id=\"$job\",cluster=\"nt\",user=\""[a-z]*'"'* ]] || { echo "$output"; false; }
	run -0 report "$job" --json
	jq -e '.jobs[0] | .cluster == "nt" and (.steps[0].running | not)' <<<"$output"
}

@test "an ended job's record comes from accounting, with or without slurmctld" {
	start_job "$(record 3 RING/LL)"
	end_job
	run -0 --separate-stderr report "$job.3"
	[ -z "$stderr" ]
	[[ $output = *RING/LL* ]]
	cluster stop slurmctld >/dev/null
	# It is not even asked: Slurm's library would try for 18 s.
	run -0 as_user strace -f -qq -e trace=connect -o connects "$NT_STAGE/bin/nccl-tune" report "$job"
	[[ $output = *RING/LL* ]]
	grep -q "htons($(($(<"$NT_CLUSTER/run/port") + 1)))" "$NT_CLUSTER/work/connects"
	run -1 grep "htons($(<"$NT_CLUSTER/run/port"))" "$NT_CLUSTER/work/connects"
	run -1 report "$job.4"
	[[ $output = *"job $job has no record of step 4"* ]]
}

@test "without slurmdbd, slurmctld's text is used" {
	start_job "$(record 0 RING/LL128)"
	cluster stop slurmdbd >/dev/null
	run -0 report "$job"
	[[ $output = *RING/LL128* ]]
	as_user scancel "$job"
	run -0 report "$job"
	[[ $output = *RING/LL128* ]]
	cluster start slurmdbd >/dev/null
	wait_sacct "$job"
}

@test "with neither daemon it reports that and ends" {
	cluster stop slurmctld >/dev/null
	cluster stop slurmdbd >/dev/null
	run -1 report 1
	[[ $output = *sacct:*slurmctld:* ]]
}

@test "a job that slurmctld has forgotten" {
	start_job "$(record 0 NVLS/SIMPLE)"
	end_job
	sed -i 's/^MinJobAge=.*/MinJobAge=2/' "$SLURM_CONF"
	as_root scontrol reconfigure
	wait_for 100 is_forgotten "$job"
	sed -i 's/^MinJobAge=.*/MinJobAge=3600/' "$SLURM_CONF"
	as_root scontrol reconfigure
	cluster_wait
	run -0 report --json "$job"
	run -0 jq -r '.jobs[] | .job as $job | .steps[] | .step as $step | .communicators[].keys[] |
		[$job, $step, .auto, .arm, .bytes, .gain_percent, .state] | @tsv' <<<"$output"
	[ "$output" = "$job	0	RING/SIMPLE	NVLS/SIMPLE	262144	38.2	committed" ]
}

@test "an array is shown task by task, also when some have ended" {
	job=$(submit --array=1-3 --wrap 'sleep 1200')
	wait_for 20 is_running "$job"
	as_root scontrol update "jobid=${job}_1" "admincomment=$(record 0 RING/LL)"
	as_root scontrol update "jobid=${job}_3" "admincomment=$(record 0 TREE/LL)"
	as_user scancel "${job}_1"
	wait_sacct "${job}_1"
	run -0 --separate-stderr report "$job"
	[ -z "$stderr" ]
	[[ $(tr -s ' ' <<<"$output") = *$'\n'"${job}_1 wrap 1 00:"*' - - 444.4 ms'$'\n'"${job}_3 wrap 1 00:"*$'\n2 jobs 00:'*' 888.8 ms'* ]]
	[ "$(wc -L <<<"$output")" -le 80 ]
	run -0 report --full "$job"
	[ "$(grep ^Job <<<"$output")" = "Job ${job}_1"$'\n'"Job ${job}_3" ]
	run -0 report "${job}_3"
	[[ $output = *TREE/LL* && $output != *RING/LL* ]]
	run -1 report "${job}_2"
	[[ $output = *"job ${job}_2 has no record"*'It has not ended'* ]]
	as_user scancel "$job"
	wait_sacct "${job}_3"
	run -0 report --full "$job"
	[ "$(grep -c ^Job <<<"$output")" = 2 ]
}

@test "a heterogeneous job is shown component by component" {
	job=$(submit -n1 : -n1 --wrap 'sleep 1200')
	wait_for 20 is_running "$job"
	as_root scontrol update "jobid=$((job + 1))" "admincomment=$(record 0 TREE/LL)"
	run -0 report "$job"
	[ "${lines[0]}" = "Job $job+1" ]
	run -0 report "$job+1"
	run -1 report "$job+0"
	as_user scancel "$job"
	wait_sacct "$job+1"
	run -0 report "$job+1"
	[ "${lines[0]}" = "Job $job+1" ]
}

@test "several jobs, a range, a user's jobs, and output for programs" {
	local both
	job=$(submit --array=1-2 --wrap 'sleep 1200')
	wait_for 20 is_running "$job"
	as_root scontrol update "jobid=${job}_1" "admincomment=$(record 0 RING/LL)"
	as_root scontrol update "jobid=${job}_2" "admincomment=$(record 0 TREE/LL)"
	as_user scancel "$job"
	wait_sacct "${job}_1"
	wait_sacct "${job}_2"
	both="Job ${job}_1"$'\n'"Job ${job}_2"
	run -0 report --full "${job}_1,${job}_2.0"
	[ "$(grep ^Job <<<"$output")" = "$both" ]
	run -0 report "${job}_1,${job}_2"
	[ "$(awk '/^[0-9]/ { print $1 }' <<<"$output")" = "${job}_1"$'\n'"${job}_2"$'\n2' ]
	run -0 report --full "${job}_1-2"
	[ "$(grep ^Job <<<"$output")" = "$both" ]
	run -0 report --full "$job-$((job + 5))"
	[ "$(grep "^Job ${job}_" <<<"$output")" = "$both" ]
	run -0 report --since now-1hour --json
	jq -e --arg a "${job}_1" --arg b "${job}_2" '[.jobs[].job] | index($a) and index($b)' <<<"$output"
	run -0 report --user "$NT_USER" --since now-1hour --partition "$(sacct_field "${job}_2" partition)" --json
	jq -e --arg b "${job}_2" '[.jobs[].job] | index($b)' <<<"$output"
	run -0 report "${job}_2" --prometheus
	[[ $output != *nccl_tune_call_seconds* ]]
	[[ $output = *"nccl_tune_saved_seconds{"*"slurm_job_id=\"${job}_2\",cluster=\""*"slurm_step_id=\"0\","*"} 0.4567"* ]]
	run -1 --separate-stderr report --user nobody --since now-1hour
	[[ $stderr = *'no such job in accounting'* ]]
	run -2 report "$job-x"
}

@test "without a job it is the one that this runs in, or the newest with a record" {
	local with
	start_job "$(record 0 RING/LL)"
	with=$job
	job=$(submit -n1 --wrap true)
	wait_sacct "$job"
	wait_for 30 is_listed "$with"
	run -0 --separate-stderr report
	[ -z "$stderr" ]
	[ "${lines[0]}" = "Job $with, your newest with a record" ] || { echo "$output"; false; }
	run -0 report --json
	[ "$(jq -r '.jobs[].job' <<<"$output")" = "$with" ]
	SLURM_JOB_ID=$with run -0 report
	[ "${lines[0]}" = "Job $with, which this runs in" ]
	SLURM_JOB_ID=$job run -1 report
	[[ $output = *"job $job has no record"* ]]
	job=$with
	end_job
	run -0 report
	[ "${lines[0]}" = "Job $with, your newest with a record" ]
	run -1 as_root "$NT_STAGE/bin/nccl-tune" report
	[[ $output = *'of your 0 jobs of the last 30 days has a record'* ]]
}

@test "two jobs are shown side by side" {
	local a b
	start_job "$(record 0 RING/LL)"
	end_job
	a=$job
	job=$(submit -n1 -J second --wrap 'srun -n1 true; srun -n1 true; sleep 1200')
	b=$job
	wait_for 60 has_step "$b" 1
	as_root scontrol update "jobid=$b" "admincomment=$(record 2 TREE/LL | sed 's/"2":\(.*\)}}$/"0":\1,"1":\1}}/')"
	end_job
	run -0 --separate-stderr report "$a" "$b"
	[ -z "$stderr" ]
	[ "$(wc -L <<<"$output")" -le 80 ]
	[[ $output = *"A: job $a"$'\n'"B: job $b"*'both: step 0, launch profile none'* ]] || { echo "$output"; false; }
	[[ $output = *'A: Ring/LL; B: Tree/LL'*'A: no such step; B: step 1, '*'A: not called; B: Tree/LL'* ]] || { echo "$output"; false; }
	run -1 report "$a" 999999
	[[ $output = *'no job 999999'* && $output != *'A: job '* ]]
}

@test "no such job" {
	run -1 report 999999
	[[ $output = *'no job 999999: slurmctld and accounting have no such job'* ]]
	run -2 report 12.x
	# Beside one that is there, which is shown.
	start_job "$(record 0 TREE/LL)"
	run -1 --separate-stderr report "$job" 999999
	[[ $output = *TREE/LL* && $stderr = *'no job 999999: '* ]]
	end_job
}

@test "another program's text is not shown" {
	start_job 'JS1:H4sIAAAAAAAA'
	run -1 report "$job"
	[[ $output = *"job $job has no record"*"another program's text"* ]]
	end_job
	run -1 report "$job"
	[[ $output = *"another program's text"* ]]
}

@test "a damaged record is never shown as complete" {
	local text
	text=$(record 0 RING/LL)
	start_job "${text:0:150}"
	run -1 --separate-stderr report "$job"
	[[ $output = *'this is what could be read'*'Damaged: ends in the middle, after 150 bytes'* ]]
	[[ $stderr = *"job $job: the record is damaged" ]]
	as_root scontrol update "jobid=$job" "admincomment=$(record 0 RING/LL | sed 's/"samples":24/"samples":"x"/')"
	run -1 report "$job"
	[[ $(tr -s ' \n' ' ' <<<"$output") = *'Damaged: step 0: 8r2n, AllReduce 256K: samples is "x" (want a whole number from 0)'* ]]
	end_job
}

# Rank time that jobs of partition gpu have saved, as sacct's own texts say it.
saved_in_gpu() {
	as_root sacct -a -n -P -X -S now-2days -r gpu -o admincomment | grep '^{.*}}}$' |
		jq -s '[.[] | .nccl_tune | .[] | objects | to_entries[] | select(.key | test("^[0-9]+r[0-9]+n$")) |
			(.key | sub("r.*"; "") | tonumber) as $ranks | .value[] | .saved_ms * $ranks] | add / 1000'
}

@test "summary: 200 jobs of accounting, with the jobs that each user may see" {
	"$BATS_TEST_DIRNAME/../fake/made-up-jobs.sh" 200 "$(date +%s)" 1 |
		mariadb --no-defaults -S "$NT_CLUSTER/run/mysql.sock" slurm_acct
	run -0 --separate-stderr as_root "$NT_STAGE/bin/nccl-tune" summary --since now-2days --json
	[ -z "$stderr" ]
	jq -e '.jobs.other_text >= 10 and .jobs.no_record >= 40 and .jobs.damaged >= 10 and
		.jobs.gained + .jobs.unpaid + .jobs.nothing_to_gain >= 140 and .users >= 4' <<<"$output"
	jq -e --argjson saved "$(saved_in_gpu)" '[.by.partition[] | select(.name == "gpu")] |
		length == 1 and .[0].saved_rank_s > 1 and (.[0].saved_rank_s - .[0].launch_saved_rank_s - $saved | fabs) < 0.01' <<<"$output"
	jq -e '([.by.partition[] | .keys] | add) == .keys and ([.by.user[] | .calls] | add) == .calls' <<<"$output"
	run -0 as_root "$NT_STAGE/bin/nccl-tune" summary --user daemon,bin --partition big --since now-2days --json
	jq -e '.users <= 2 and (.by.partition | length) == 1 and ([.jobs[]] | add) > 2' <<<"$output"
	# The user's own jobs: those of this file. Of others' no word, unless it is asked for and Slurm shows them.
	run -0 as_user "$NT_STAGE/bin/nccl-tune" summary --since now-2days --json
	jq -e '.users <= 1 and ([.by.partition[].name] - ["all"]) == []' <<<"$output"
	run -0 as_user "$NT_STAGE/bin/nccl-tune" summary --since now-2days --allusers --account lab1
	[[ $output = *' has nothing to gain'* || $output = *'have nothing to gain'* ]]
	[ "$(awk 'length > 80' <<<"$output")" = '' ]
	run -2 as_user "$NT_STAGE/bin/nccl-tune" summary --since 1month
	cluster stop slurmdbd >/dev/null
	run -1 as_root "$NT_STAGE/bin/nccl-tune" summary --since now-1hour
	[[ $output = 'nccl-tune summary: sacct: '* ]]
}
