#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# Records while slurmctld is away. Each job has a node of its own: Slurm itself takes a minute or more before it tells
# a slurmctld that came back of the end of a step, and the node is not free until then.
bats_require_minimum_version 1.5.0
load ../lib/cluster

setup_file() {
	cluster_setup
	! slurm_is_at_least 26.05 || skip "srun of Slurm 26.05 stays at a step's end as long as slurmctld is away"
	cluster_start 4
	export SPOOL=$NT_CLUSTER/run/spool
	install -m 755 "$BATS_TEST_DIRNAME/20-record-rank.sh" "$NT_CLUSTER/work/rank"
	cluster plugstack "$(nt_plugstack_line pmix=ask "spooldir=$SPOOL")"
}

teardown_file() {
	wait_for 20 no_helpers
	cluster_check_and_stop
}

has_no_helper() {
	! pgrep -f "nt-recordd record .*dir=$NT_CLUSTER/.*[.]$1[.]0$"
}

# start_step NODE OPTION: a job whose step has a record to write and ends when it is told to.
start_step() {
	cat >"$NT_CLUSTER/work/script" <<-END
	#!/bin/bash
	srun --nccl-tune=$2 bash -c '
		[ $2 = off ] || ./rank exploring; touch ready.\$SLURM_JOB_ID
		until [ -e go.\$SLURM_JOB_ID ]; do sleep 0.02; done
		echo "\$EPOCHREALTIME" >ended.\$SLURM_JOB_ID; exit 7'
	echo "\$? \$EPOCHREALTIME" >returned.\$SLURM_JOB_ID
	END
	job=$(as_user sbatch --parsable -n1 -w "$1" -o /dev/null --no-requeue script)
	wait_for 20 test -e "$NT_CLUSTER/work/ready.$job"
}

# Let the step end; how long srun took to return after its task is in $ms.
end_step() {
	local status returned ended
	touch "$NT_CLUSTER/work/go.$job"
	wait_for 60 test -s "$NT_CLUSTER/work/returned.$job"
	read -r status returned <"$NT_CLUSTER/work/returned.$job"
	read -r ended <"$NT_CLUSTER/work/ended.$job"
	[ "$status" = 7 ]
	ms=$(((${returned/./} - ${ended/./}) / 1000))
}

@test "slurmctld is down at the end: the step does not wait for it, and the record is spooled" {
	start_step n2 bandit
	run -0 cluster stop slurmctld
	end_step
	echo "# srun returned $ms ms after its task" >&3
	file=$SPOOL/nt.$job.0.u$(id -u "$NT_USER").json
	[ -s "$file" ]
	# Told by nt-recordd; on a machine that is busy elsewhere slurmstepd may have let the step go first.
	grep -qhE "nccl-tune: (job $job step 0: the record waits in $SPOOL: slurmctld has not answered yet|.*not waited for any longer)" "$NT_CLUSTER/log/n2.log"
	wait_for 20 has_no_helper "$job"
	run -0 jq -c '[.v, .cluster, .job, .step]' "$file"
	[ "$output" = "[1,\"nt\",$job,\"0\"]" ]
	[ "$(stat -c '%U %a' "$SPOOL" "$file")" = $'root 700\nroot 600' ]
	run -0 jq -r .record "$file"
	[ "$(jq -r '."1r1n"."AllReduce 256K".auto' <<<"$output")" = RING/SIMPLE ]
	run -0 cluster start slurmctld
}

@test "slurmctld comes back in time: the record is delivered and leaves the spool" {
	start_step n3 bandit
	run -0 cluster stop slurmctld
	end_step
	file=$SPOOL/nt.$job.0.u$(id -u "$NT_USER").json
	[ -s "$file" ]
	run -0 cluster start slurmctld
	wait_for 20 has_no_helper "$job"
	if [ -e "$file" ]; then
		[ -z "$(comment "$job")" ]
	else
		[ "$(comment "$job" | jq -r '.nccl_tune."0"."1r1n"."AllReduce 256K".auto')" = RING/SIMPLE ]
	fi
}

comment() {
	timeout 60 scontrol show job "$1" | sed -n 's/^ *AdminComment=//p'
}

