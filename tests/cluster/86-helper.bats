#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# nt-recordd and the cgroups of steps, where Slurm uses them (version 1 here); what a user can make the helper
# do; what a user can write into slurmd's log.
bats_require_minimum_version 1.5.0
load ../lib/cluster

groups_can_be_made() {
	local controller probe
	for controller in freezer memory; do
		probe=/sys/fs/cgroup/$controller/nt-test.$$
		mkdir "$probe" 2>/dev/null && rmdir "$probe" || return 1
	done
}

setup_file() {
	cluster_setup
	groups_can_be_made || skip "no cgroups of version 1 can be made here"
	# Clusters of one machine share the groups of a node's name: the jobs' numbers must differ.
	cluster_start 1 -g ConstrainRAMSpace=yes -c ProctrackType=proctrack/cgroup -c TaskPlugin=task/cgroup \
		-c "FirstJobId=$((100000 + $$ % 1000000 * 10))"
	install -m 755 "$BATS_TEST_DIRNAME/20-record-rank.sh" "$NT_CLUSTER/work/rank"
	install -m 755 "$BATS_TEST_DIRNAME/../fake/touch-task.sh" "$NT_CLUSTER/work/touch"
	cluster plugstack "$(nt_plugstack_line pmix=ask)"
}

teardown_file() {
	wait_for 20 no_helpers
	cluster_stop
	rmdir /sys/fs/cgroup/*/slurm_n1/uid_* /sys/fs/cgroup/*/slurm_n1 2>/dev/null || :
}

groups_of() {
	compgen -G "/sys/fs/cgroup/*/slurm_n1/uid_*/job_$1"
}

no_groups_of() {
	! groups_of "$1"
}

job_is_gone() {
	[ -z "$(stepds)" ]
}

# tuned_jobs: of several kinds, one after the other; fails if one leaves a cgroup
tuned_jobs() {
	local tasks job
	# Ended before the helper has done anything; with a record; of many processes; by a signal.
	run -0 as_user srun --nccl-tune=observe bash -c 'echo $SLURM_JOB_ID' || return 1
	tasks=$output
	run -0 as_user srun --nccl-tune=bandit ./rank committed bash -c 'echo $SLURM_JOB_ID' || return 1
	tasks+=" $output"
	run -0 as_user srun -n4 --nccl-tune=bandit ./rank committed bash -c '[ $SLURM_PROCID != 0 ] || echo $SLURM_JOB_ID' || return 1
	tasks+=" $output"
	run -137 as_user srun -Q --nccl-tune=bandit ./rank committed bash -c 'echo $SLURM_JOB_ID; kill -9 $$' || return 1
	tasks+=" ${lines[0]}"
	run -0 as_user sbatch --parsable --wait -o /dev/null --nccl-tune=bandit --wrap './rank committed; srun ./rank committed' || return 1
	tasks+=" $output"
	wait_for 20 job_is_gone || return 1
	for job in $tasks; do
		no_groups_of "$job" || { echo "job $job:"; groups_of "$job"; return 1; }
	done
}

# slurmstepd waits 0.6 s at most for the helper to leave: on a busy machine one may come late, but not each time.
@test "no cgroup of a tuned job is left behind" {
	local _
	for _ in {1..10}; do
		! tuned_jobs || return 0
	done
	false
}

@test "the helper is outside of the job's groups while the step runs" {
	local groups
	as_user srun --nccl-tune=observe bash -c 'echo $SLURM_JOB_ID >here; while [ -e here ]; do sleep 0.1; done' &
	wait_for 20 test -s "$NT_CLUSTER/work/here"
	wait_for 20 pgrep -f "nt-recordd record .*dir=$NT_CLUSTER/"
	groups=$(cat "/proc/$(pgrep -o -f "nt-recordd record .*dir=$NT_CLUSTER/")/cgroup")
	rm "$NT_CLUSTER/work/here"
	wait $!
	run -1 grep /uid_ <<<"$groups"
	grep -q freezer <<<"$groups"
}

# While the long form and the early record are under way, too.
@test "users see only a step's name on the helper's command line" {
	local step line
	as_user srun --nccl-tune=bandit bash -c './rank committed; : >here; while [ -e here ]; do sleep 0.1; done' 3>&- &
	step=$!
	wait_for 20 test -e "$NT_CLUSTER/work/here"
	wait_for 20 pgrep -f "nt-recordd record .*dir=$NT_CLUSTER/"
	line=$(tr '\0' ' ' <"/proc/$(pgrep -o -f "nt-recordd record .*dir=$NT_CLUSTER/")/cmdline")
	rm "$NT_CLUSTER/work/here"
	wait "$step"
	[[ ${line#*/nt-recordd } = "record rundir=$NT_CLUSTER/run/nccl-tune step=n1."*".0 " && $line = *' record rundir='* ]]
	[ "$(wc -w <<<"$line")" = 4 ]
}

# 160 records of 250 KiB each, written again all the time for 5 s: readings rest a hundred times as long as they take of a processor,
# up to a minute. However slow the machine: all but the last of those who read for the short form, and of those who write the
# long one, were followed by such a rest. What was seen of each is what it took, or less.
@test "the process that reads for the user is charged to the step, and pauses" {
	run -0 as_user srun --nccl-tune=observe ./touch 5 160 1000 0.1
	echo "$output"
	grep -qE '^reader .*:freezer:.*/step_0' <<<"$output"
	grep -qE '^reader .*:memory:.*/step_0' <<<"$output"
	awk '$1 == "used" { used[n++] = $2 * 100 < 60000 ? $2 * 100 : 60000 } $1 == "all" { all = $2 }
		END {
			for (i = 0; i < n; i++) {
				rest += used[i]
				if (used[i] > most) { second = most; most = used[i] } else if (used[i] > second) second = used[i]
			}
			exit !(n > 0 && rest - most - second <= 2 * all)
		}' <<<"$output"
}

@test "a record that was read in the step's groups is complete" {
	run -0 as_user srun -n2 --nccl-tune=bandit ./rank committed bash -c '[ $SLURM_PROCID != 0 ] || echo $SLURM_JOB_ID'
	job=$output
	wait_record "$job"
	[ "$(sacct_field "$job" admincomment | jq -c '.nccl_tune["0"]["2r1n"]["AllReduce 256K"].calls')" = 10000 ]
}

@test "a step that has used up its memory has a record" {
	run -0 as_user srun --mem=100M --nccl-tune=bandit ./rank committed bash -c '
		head -c 95M /dev/zero | tail -c 94M | (sleep 1; wc -c) >/dev/null; echo $SLURM_JOB_ID'
	job=${lines[-1]}
	wait_record "$job"
	sacct_field "$job" admincomment | jq -e '.nccl_tune["0"]["1r1n"]'
}

# Slurm hands the last one on to slurmstepd as it is.
@test "no user can write a line of their own into slurmd's log" {
	local forged=$'x\n[2026-01-01T00:00:00.000] error: FORGED\033[2J\302\233\342\200\256'
	run -0 as_user srun true
	run as_user env _SLURM_SPANK_OPTION_nccl_tune_nccl_tune="$forged" srun true
	run as_user env SLURM_NCCL_TUNE="$forged" srun true
	grep -a 'nccl-tune: .*x?.*FORGED?\[2J???' <<<"$output" # Slurm's own line is as it is
	run as_user env SLURM_NCCL_TUNE_TICKET="$forged" srun --nccl-tune=observe true
	run as_user env NCCL_TUNER_PLUGIN="$forged" NCCL_ALGO="$forged" srun --nccl-tune=observe true
	run -0 as_user srun --nccl-tune=observe bash -c "$in_task"'echo "{" | put_record 1 1; echo "{\"$0" | put_record 1 2' "$forged"
	wait_for 20 job_is_gone
	run -0 grep -a 'nccl_tune\|nccl-tune' "$NT_CLUSTER/log/n1.log"
	grep -qa 'x?.*FORGED' <<<"$output"
	run -1 grep -aP '^\[2026-01-01T|\x1b|\xc2\x9b|\xe2\x80\xae' "$NT_CLUSTER/log/n1.log"
}
