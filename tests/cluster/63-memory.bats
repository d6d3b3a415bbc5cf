#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# Whatever users do to the memory of their steps: nothing of root's feels it, and their own ranks live on.
# (21-record-trouble has what they write for nt-recordd.)
bats_require_minimum_version 1.5.0
load ../lib/cluster

setup_file() {
	cluster_setup
	unset NCCL_TUNE_RECORD_DIR # the variables of a task are looked at
	cluster_start 1 -n
	export RUNDIR=$NT_CLUSTER/run/nccl-tune
}

setup() {
	out=$BATS_TEST_TMPDIR/out
	err=$BATS_TEST_TMPDIR/err
	cluster plugstack "$(nt_plugstack_line pmix=ask "spooldir=$NT_CLUSTER/run/spool")"
}

teardown() {
	[ -z "${mute:-}" ] || kill -KILL "$mute" || :
}

# Mounted by root, as fusermount does for any user who may write there.
be_mute() {
	coproc MUTE { exec "$NT_TESTS/nt-mute" "$@" 3>&-; }
	mute=$MUTE_PID
	read -r -t 600 -u "${MUTE[0]}" || skip "no FUSE here"
}

has_ended() {
	! kill -0 "$1"
}

no_recordd() {
	! pgrep -f "nt-recordd .*$NT_CLUSTER/"
}

# Processes of nt-recordd with the user's rights, which wait for a file system.
stuck() {
	pgrep -u "$NT_USER" -f "nt-recordd record .*dir=$NT_CLUSTER/"
}

@test "only one process waits for a record directory that does not respond" {
	local step hung=$NT_CLUSTER/work/hung
	install -d -o "$NT_USER" -m 700 "$hung"
	install -m 755 "$BATS_TEST_DIRNAME/20-record-rank.sh" "$NT_CLUSTER/work/rank"
	be_mute --take "$hung"
	NCCL_TUNE_RECORD_DIR=$hung as_user srun -w n1 -t 20 --nccl-tune=observe ./rank committed >"$out" 2>&1 3>&- &
	step=$!
	wait_for 40 has_ended "$step"
	wait "$step"
	wait_for 40 no_root_recordd
	[ "$(stuck | wc -l)" = 1 ]
	kill -KILL "$mute"
	mute=
	wait_for 20 no_recordd
}

no_root_recordd() {
	! pgrep -u root -f "nt-recordd record .*dir=$NT_CLUSTER/"
}

# Two ranks of a node, slow enough to be met: their exit status, and what became of their only key.
ranks() {
	as_user srun -w n1 -n2 -t 20 --nccl-tune="bandit,join_timeout=${join:-60}" "$@" "$NT_TESTS/nt-fake-nccl" \
		--arm RING/SIMPLE=0.4 --noise none --sizes 256K --iters "${iters:-8000}" --more 60000 --settled \
		--call-gap-us 100 >"$out" 2>"$err"
}

tuned() {
	jq -e '.mismatches == 0 and .keys[0].arm == "RING/SIMPLE" and .keys[0].overridden > 0' "$out" || { cat "$out" "$err"; return 1; }
}

@test "a process of the user's cannot cut the memory short" {
	local job
	# The step goes on until it was tried.
	rm -f "$NT_CLUSTER/work/tried"
	iters=30000 ranks bash -c '"$@" && until [ -e tried ]; do sleep 0.1; done' - 3>&- &
	job=$!
	wait_for 60 is_there
	sleep 1
	run -0 as_user "$NT_TESTS/nt-maim"
	touch "$NT_CLUSTER/work/tried"
	[[ $output =~ ^([0-9]+)' found, 0 cut'$ ]]
	[ "${BASH_REMATCH[1]}" -gt 0 ]
	wait "$job" || { cat "$err"; false; }
	tuned
	run ! grep -q -i 'bus error' "$err"
}

is_there() {
	[ -n "$(step_shms '*')" ]
}

@test "a process that was started without the task's descriptors has the memory" {
	ranks bash -c '(eval "exec ${NCCL_TUNE_POLICY##*/}>&-"; "$@"; rc=$?
		! compgen -G "/dev/shm/nccl-tune.$SLURMD_NODENAME.$SLURM_JOB_ID.*" || rc=98; exit $rc)' closing || { cat "$err"; false; }
	tuned
}

# As enroot does: such a task has none to show.
without_descriptors() {
	rm -f "$NT_CLUSTER/work/closed"
	ranks bash -c 'eval "exec ${NCCL_TUNE_POLICY##*/}>&-"; "$@"; rc=$?
		compgen -G "/dev/shm/nccl-tune.$SLURMD_NODENAME.$SLURM_JOB_ID.*" >&2 || rc=98
		[ "$SLURM_PROCID" != 0 ] || echo "$SLURM_JOB_ID" >closed; exit $rc' closing || { cat "$err"; false; }
	tuned
}

@test "where a launcher closes the task's descriptors the node's ranks use a file of the user's, which goes" {
	without_descriptors
	wait_for 6 has_record "$(<"$NT_CLUSTER/work/closed")"
	wait_for 20 no_file_left "$(<"$NT_CLUSTER/work/closed")"
}

@test "that file goes on a node without nt-recordd, too" {
	cluster plugstack "$(nt_plugstack_line pmix=ask record=none)"
	without_descriptors
	wait_for 20 no_file_left "$(<"$NT_CLUSTER/work/closed")"
}

# The step was not held for it, so slurmctld may have been told too late.
has_record() {
	comment_now "$1" | grep -q 2r1n || grep -q 2r1n "$NT_CLUSTER/run/spool/nt.$1.0."*
}

no_file_left() {
	! compgen -G "/dev/shm/nccl-tune.n1.$1.*"
}

untouched() {
	jq -e '.mismatches == 0 and ([.keys[].overridden] | add) == 0' "$out" || { cat "$out" "$err"; return 1; }
}

@test "ranks of a node, one of which has no memory, stay with NCCL's choice" {
	join=2 iters=20000 ranks bash -c '[ "$SLURM_PROCID" = 0 ] || NCCL_TUNE_POLICY=${NCCL_TUNE_POLICY%,shm=*}; exec "$@"' differ ||
		{ cat "$err"; false; }
	untouched
}

@test "memory is gone with its step, and a step in a step has its own" {
	run -0 as_user srun -w n1 --nccl-tune=bandit bash -c 'readlink "${NCCL_TUNE_POLICY##*,shm=}"'
	[[ $output = '/memfd:nccl-tune-shm.'*'.n1.'* ]]
	wait_for 20 is_gone
	run -0 as_user salloc -Q -w n1 srun --nccl-tune=bandit bash -c 'echo "${NCCL_TUNE_POLICY##*,shm=}"
		srun --overlap --nccl-tune=bandit bash -c "readlink \${NCCL_TUNE_POLICY##*,shm=}"'
	[[ ${lines[0]} = /proc/* && ${lines[1]} = '/memfd:nccl-tune-shm.'*'.1 '* ]]
	wait_for 20 is_gone
}

is_gone() {
	! is_there
}

@test "in mode observe there is the memory, too, with records in it" {
	run -0 --separate-stderr as_user srun -w n1 -n2 --nccl-tune=observe bash -c '
		"$@" >&2; [ "$SLURM_PROCID" != 0 ] || { sleep 1; "$NT_TESTS/nt-record" list "${NCCL_TUNE_POLICY##*,shm=}"; }' - \
		"$NT_TESTS/nt-fake-nccl" --sizes 256K --iters 200 --call-gap-us 100
	[ "$(jq -r .mode <<<"$output" | paste -sd ' ')" = 'observe observe' ]
}

# Slurm 22.05 takes no base path in /tmp, and hides what is there from the job.
in_a_namespace() {
	local NT_BASE NT_CLUSTER
	NT_BASE=$(mktemp -d /var/tmp/nt-test.XXXXXX)
	chmod 755 "$NT_BASE"
	export NT_BASE NT_CLUSTER=$NT_BASE/cluster SLURM_CONF=$NT_BASE/cluster/etc/slurm.conf
	namespace_cluster && steps_in_a_namespace
	local rc=$?
	cluster_stop && return "$rc"
}

namespace_cluster() {
	cluster_up "$NT_CLUSTER" 1 -n -c PrologFlags=Contain -p "$(nt_plugstack_line pmix=ask)" || return 1
	mkdir "$NT_BASE/private"
	printf 'AutoBasePath=true\nBasePath=%s\n' "$NT_BASE/private" >"$NT_CLUSTER/etc/job_container.conf"
	cluster stop n1 && cluster stop slurmctld || return 1
	echo JobContainerType=job_container/tmpfs >>"$SLURM_CONF"
	cluster start slurmctld && cluster start n1 && cluster_wait
}

steps_in_a_namespace() {
	ranks
	tuned && as_user srun -w n1 --nccl-tune=bandit readlink /proc/self/ns/mnt >"$out" &&
		! grep -qF "$(readlink /proc/self/ns/mnt)" "$out"
}

@test "a job with its own mount namespace is tuned" {
	[ -n "$(compgen -G '/usr/lib*/*/slurm*/job_container_tmpfs.so' || compgen -G '/usr/lib*/slurm*/job_container_tmpfs.so')" ] ||
		skip "this Slurm has no job_container/tmpfs"
	in_a_namespace || { cat "$out"; false; }
}
