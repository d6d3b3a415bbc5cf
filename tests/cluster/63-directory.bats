#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# Whatever users do to the directory and the shared memory of their steps: no other step and nothing of root's feels it, and
# their own ranks live on.
bats_require_minimum_version 1.5.0
load ../lib/cluster

# n2 may not mount anything, as in a container.
setup_file() {
	cluster_setup
	unset NCCL_TUNE_RECORD_DIR # the variables of a task are looked at
	printf '#!/bin/sh\nn=$1; shift\n[ "$n" = n1 ] || set -- setpriv --bounding-set -sys_admin "$@"\nexec "$@"\n' \
		>"$NT_BASE/node"
	chmod 755 "$NT_BASE/node"
	cluster_start 2 -n -w "$NT_BASE/node %n"
	export RUNDIR=$NT_CLUSTER/run/nccl-tune
}

setup() {
	out=$BATS_TEST_TMPDIR/out
	err=$BATS_TEST_TMPDIR/err
	site
}

teardown() {
	[ -z "${mute:-}" ] || kill -KILL "$mute" || :
}

site() {
	cluster plugstack "$(nt_plugstack_line pmix=ask "spooldir=$NT_CLUSTER/run/spool" "$@")"
	: | tee "$NT_CLUSTER"/log/n[1-9].log >/dev/null
}

# Steps' directories and their mounts; without a look at what is mounted.
nothing_left() {
	local kind
	for kind in n .left. .stuck.; do
		! compgen -G "$RUNDIR/$kind*" >/dev/null || return 1
	done
	! grep -q " $RUNDIR/" /proc/mounts
}

log_has() {
	grep -qhE "$1" "$NT_CLUSTER"/log/n*.log
}

indir='[[ $NCCL_TUNE_POLICY =~ ,dir=([^,]*), ]] && cd "${BASH_REMATCH[1]}" || exit 99'

# A step of another user's has all that a tuned one has.
others_are_tuned() {
	as_root srun -w n1 -t 20 --nccl-tune=bandit bash -c "$indir; touch file"
}

# What a slurmstepd that was killed would have left, with what follows in it, and this is old.
leave() {
	local name=$1
	shift
	install -d -m 755 "$RUNDIR"
	mkdir -m 700 "$RUNDIR/$name"
	chown "$NT_USER" "$RUNDIR/$name"
	(cd "$RUNDIR/$name" && setpriv --reuid "$NT_USER" --clear-groups "$@")
	touch -d '10 minutes ago' "$RUNDIR/$name"
}

# A step that ends has it tidied up; on a busy machine that takes more than one run.
tidied_up() {
	rm -f "$RUNDIR/cleanup"
	as_root srun -w n1 -t 20 --nccl-tune=observe true
	sleep 1
	nothing_left
}

@test "a job fills its own directory, and nothing else" {
	site dirsize=4m dirfiles=100
	run -0 as_user srun -w n1 --nccl-tune=observe bash -c "$indir"'
		while read -r dev at type options _; do [ "$at" = "${PWD%/step}" ] && echo "$type $options"; done </proc/mounts
		head -c 8M /dev/zero >fill 2>/dev/null; stat -c %s fill; rm fill
		for i in {1..200}; do mkdir $i || break; done 2>/dev/null; echo $i
		cp /bin/true x 2>/dev/null; rm -r 1; cp /bin/true x && ! ./x 2>/dev/null && echo noexec'
	[[ ${lines[0]} = 'tmpfs rw,nosuid,nodev,noexec,relatime,size=4096k,nr_inodes=100,mode=711'* ]]
	[ "${lines[1]}" -le $((4 << 20)) ] && [ "${lines[2]}" -lt 100 ] && [ "${lines[3]}" = noexec ]
	wait_for 20 nothing_left
}

@test "a job's files in its directory are removed with it, however deep, many or protected" {
	run -0 as_user srun -w n1 --nccl-tune=observe bash -c "$indir"'
		mkdir -p keep/it shut/in && chmod 0 shut; mkdir -p {1..300}/x; ln -s / root'
	wait_for 20 nothing_left
	run -1 log_has 'cannot remove'
}

@test "leftovers block no other step and are removed, whatever they contain" {
	local i
	run -0 others_are_tuned
	for i in 1 2 3 4; do
		leave "n1.9999$i.0" bash -c 'mkdir -p keep/it shut/in {1..300}/x; chmod 0 shut'
	done
	run -0 others_are_tuned
	wait_for 60 tidied_up
}

@test "a directory left by a step of the same name blocks nothing" {
	local job
	printf '#!/bin/bash\n%s\n' "$indir; ls -A | wc -l" >"$NT_CLUSTER/work/script"
	rm -f "$NT_CLUSTER/work/output"
	job=$(as_user sbatch --parsable -n1 -w n1 -H -o "$NT_CLUSTER/work/output" --nccl-tune=observe script)
	leave "n1.$job.batch" mkdir -p keep/it
	as_user scontrol release "$job"
	wait_for 20 test -s "$NT_CLUSTER/work/output"
	[ "$(cat "$NT_CLUSTER/work/output")" = 0 ]
	wait_for 60 tidied_up
}

# Mounted by root, as fusermount does for any user who may write there.
be_mute() {
	coproc MUTE { exec "$NT_TESTS/nt-mute" "$@" 3>&-; }
	mute=$MUTE_PID
	read -r -t 600 -u "${MUTE[0]}" || skip "no FUSE here"
}

@test "a file system that does not respond is not entered: in a running step" {
	local step dir
	as_user srun -w n1 -t 20 --nccl-tune=observe bash -c "$indir"'; mkdir sub; touch rank.0.1.json; pwd >"$0"
		while [ -e "$0" ]; do sleep 0.5; touch rank.1.$((++n)).json; done' "$NT_CLUSTER/work/where" >"$out" 2>&1 3>&- &
	step=$!
	wait_for 20 test -s "$NT_CLUSTER/work/where"
	dir=$(cat "$NT_CLUSTER/work/where")
	be_mute --take "$dir/sub" "$dir/rank.0.1.json" "$dir"
	sleep 4
	rm "$NT_CLUSTER/work/where"
	wait_for 40 has_ended "$step"
	wait "$step"
	wait_for 20 no_recordd
	wait_for 20 nothing_left
	run -0 others_are_tuned
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

# What another user's process holds by its working directory: bytes.
held() {
	stat -f -c '%b %f %S' "/proc/$1/cwd" | { read -r all free size; echo $(((all - free) * size)); }
}

# hold OPTION...: a step that leaves files, and somebody else who was there.
hold() {
	site "$@"
	as_user srun -w n1 -t 20 --nccl-tune=observe bash -c "$indir"'; mkdir -p keep/it; head -c 4M /dev/zero | tee fill >keep/it/fill
		pwd >"$0"; while [ -e "$0" ]; do sleep 0.1; done; [ -z "$1" ] || rm -r keep' "$NT_CLUSTER/work/where" "${flat:-}" >"$out" 2>&1 3>&- &
	step=$!
	wait_for 20 test -s "$NT_CLUSTER/work/where"
	setpriv --reuid 65534 --regid 65534 --clear-groups sh -c 'cd "$1" && exec sleep 1200' sh "$(dirname "$(cat "$NT_CLUSTER/work/where")")" 3>&- &
	holder=$!
	wait_for 20 holds "$holder"
	[ "$(held "$holder")" -ge $((8 << 20)) ]
	rm "$NT_CLUSTER/work/where"
	wait "$step"
	wait_for 20 nothing_left
}

holds() {
	[[ $(readlink "/proc/$1/cwd") = */fs ]]
}

holds_nothing() {
	[ "$(held "$1")" = 0 ]
}

@test "an open descriptor of another user's directory keeps no memory after the step" {
	local step holder
	hold
	wait_for 30 holds_nothing "$holder"
	kill "$holder"
	flat=1 hold recordd=/nonexistent
	wait_for 30 holds_nothing "$holder"
	kill "$holder"
}

@test "a file system that does not respond is not entered: over leftovers of an earlier release" {
	leave n1.99990.0 mkdir -p keep/it
	leave n1.99991.0 true
	be_mute "$RUNDIR/n1.99990.0" "$RUNDIR/n1.99991.0"
	run -0 others_are_tuned
	wait_for 60 tidied_up
}

@test "mounts that a killed slurmstepd has left are detached" {
	local job
	as_user srun -w n1 -t 20 --nccl-tune=observe bash -c "$indir"'
		mkdir -p keep/it; echo "$SLURM_JOB_ID" >"$0"; sleep 1200' "$NT_CLUSTER/work/where" >"$out" 2>&1 3>&- &
	wait_for 20 test -s "$NT_CLUSTER/work/where"
	job=$(cat "$NT_CLUSTER/work/where")
	rm "$NT_CLUSTER/work/where"
	grep -q " $RUNDIR/n1.$job.0/fs tmpfs " /proc/mounts
	kill -KILL "$(stepds "$job.0")"
	as_user scancel "$job"
	touch -d '10 minutes ago' "$RUNDIR/n1.$job.0"
	wait_for 60 tidied_up
}

@test "what cannot be removed is renamed and told once" {
	local left=$RUNDIR/n1.99990.0
	leave n1.99990.0 mkdir -p mine/roots/x
	chown -R 0 "$left/mine/roots"
	touch -d '10 minutes ago' "$left"
	run -0 "$NT_STAGE/libexec/nccl-tune/nt-recordd" cleanup "$RUNDIR" 3>/dev/null
	[[ $output = *"cannot remove a step's leftovers; they are now in $RUNDIR/.stuck.n1.99990.0: Directory not empty" ]]
	run -0 "$NT_STAGE/libexec/nccl-tune/nt-recordd" cleanup "$RUNDIR" 3>/dev/null
	[ -z "$output" ]
	run -0 others_are_tuned
	rm -r "$RUNDIR/.stuck.n1.99990.0"
}

@test "if nothing can be mounted steps are not tuned, unless the site allows plain directories" {
	run -0 as_user srun -w n2 --nccl-tune=bandit bash -c 'env | grep -c ^NCCL_ || :'
	[ "$output" = 0 ]
	wait_for 10 log_has "nccl-tune: cannot mount the step's file system on $RUNDIR/n2.*: Operation not permitted; the step runs untuned on this node"
	site dirsize=0
	run -0 as_user srun -w n2 --nccl-tune=bandit bash -c "$indir; mkdir -p keep/it; touch file; stat -c '%U %a' ."
	[ "$output" = "$NT_USER 700" ]
	wait_for 10 log_has 'nccl-tune: cannot remove .*/fs/step at once, 1 entries remain'
	wait_for 20 nothing_left
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

shared_memory() {
	compgen -G "$RUNDIR/n1.*/fs/step/shm.*" || compgen -G "$RUNDIR/n1.*/shm.*"
}

@test "a process of the user's cannot cut the shared memory short" {
	local job
	# The step goes on until it was tried.
	rm -f "$NT_CLUSTER/work/tried"
	iters=30000 ranks bash -c '"$@" && until [ -e tried ]; do sleep 0.1; done' - 3>&- &
	job=$!
	wait_for 60 shared_memory
	sleep 1
	run -0 as_user "$NT_TESTS/nt-maim" "$(dirname "$(shared_memory)")"
	touch "$NT_CLUSTER/work/tried"
	[[ $output =~ ^([0-9]+)' found, 0 cut'$ ]]
	[ "${BASH_REMATCH[1]}" -gt 0 ]
	wait "$job" || { cat "$err"; false; }
	tuned
	run ! grep -q -i 'bus error' "$err"
}

@test "a process that was started without the task's descriptors has the sealed shared memory" {
	iters=8000 ranks bash -c 'for fd in /proc/self/fd/*; do fd=${fd##*/}; [ "$fd" -lt 10 ] || eval "exec $fd>&-" 2>/dev/null; done
		"$@" & wait $!' closing || { cat "$err"; false; }
	# A task that closes them itself has none to show: all of its node's ranks use the file.
	tuned
	ranks bash -c '(eval "exec ${NCCL_TUNE_SHM##*/}>&-"; "$@"; rc=$?; stat -c %s "${NCCL_TUNE_POLICY#*,dir=}" >/dev/null 2>&1
		[[ $NCCL_TUNE_POLICY =~ ,dir=([^,]*), ]]; [ "$(stat -c %s "${BASH_REMATCH[1]}"/shm.*)" = 0 ] || rc=98; exit $rc)' closing ||
		{ cat "$err"; false; }
	tuned
}

@test "ranks of a node with different shared memories stay with NCCL's choice" {
	join=2 iters=20000 ranks bash -c '[ "$SLURM_PROCID" = 0 ] || unset NCCL_TUNE_SHM; exec "$@"' differ || { cat "$err"; false; }
	jq -e '.mismatches == 0 and ([.keys[].overridden] | add) == 0' "$out" || { cat "$out" "$err"; false; }
}

@test "off takes the shared memory away, and a step in a step has its own" {
	NCCL_TUNE_SHM=/proc/1/fd/1 run -0 as_user srun -w n1 bash -c 'echo "${NCCL_TUNE_SHM-none}"'
	[ "$output" = none ]
	run -0 as_user srun -w n1 --nccl-tune=bandit bash -c 'readlink "$NCCL_TUNE_SHM"'
	[[ $output = '/memfd:nccl-tune-shm.'*".n1.$(squeue -h -o %i | head -n 0)"* ]]
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

# Other clusters' steps, of tests beside this one, are mounted here as well: only this cluster's are counted.
steps_in_a_namespace() {
	as_user salloc -Q -w n1 -n2 bash -c 'for i in 1 2; do srun -n2 --nccl-tune=bandit bash -c "$0"; done' \
		"$indir"'; touch $SLURM_PROCID; grep -c " $NT_CLUSTER/.*/fs tmpfs.*nr_inodes=8192" /proc/self/mounts; readlink /proc/self/ns/mnt' >"$out" || return 1
	[ "$(grep -cx 1 "$out")" = 4 ] && [ "$(grep -c mnt: "$out")" = 4 ] && ! grep -qF "$(readlink /proc/self/ns/mnt)" "$out" &&
		RUNDIR=$NT_CLUSTER/run/nccl-tune wait_for 20 nothing_left
}

@test "a job with its own mount namespace sees its step's directory, and only that one" {
	[ -n "$(compgen -G '/usr/lib*/*/slurm*/job_container_tmpfs.so' || compgen -G '/usr/lib*/slurm*/job_container_tmpfs.so')" ] ||
		skip "this Slurm has no job_container/tmpfs"
	in_a_namespace || { cat "$out"; false; }
}
