#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# What a tuned step finds on its nodes, what it leaves behind, and what happens where that cannot be had.
bats_require_minimum_version 1.5.0
load ../lib/cluster

setup_file() {
	cluster_setup
	unset NCCL_TUNE_RECORD_DIR # the variables of a task are looked at
	cluster_start 3 -n -c PrologFlags=Contain
	export RUNDIR=$NT_CLUSTER/run/nccl-tune
}

setup() {
	work=$NT_CLUSTER/work
	site
}

site() {
	cluster plugstack "$(nt_plugstack_line pmix=ask "spooldir=$NT_CLUSTER/run/spool" "$@")"
	: | tee "$NT_CLUSTER"/log/n[1-9].log >/dev/null
}

# Nothing below the run directory is a user's, or a step's.
is_roots_alone() {
	[ -z "$(find "$RUNDIR" ! -user root -o -name 'n[0-9]*')" ]
}

log_has() {
	grep -qhE "$1" "$NT_CLUSTER"/log/n*.log
}

# The variables of NCCL and their values as a task sees them, sorted.
show='env | grep ^NCCL_ | LC_ALL=C sort'

# A member of NCCL_TUNE_POLICY.
field() {
	sed -n "s/^NCCL_TUNE_POLICY=.*[,=]$1=\([^,]*\).*/\1/p" <<<"$output"
}

@test "every task on every node has its node's memory and the variables" {
	run -0 as_user srun -N3 -n5 --nccl-tune=bandit bash -c '
		[[ $NCCL_TUNE_POLICY =~ ,node=([^,]*),.*,id=([0-9.]*),flags=0,shm=(/proc/[0-9]*/fd/[0-9]*)$ ]] || exit 1
		[ "${BASH_REMATCH[1]}" = "$SLURMD_NODENAME" ] || exit 2
		[ "${BASH_REMATCH[2]}" = "$SLURM_JOB_ID.$SLURM_STEP_ID" ] || exit 3
		[[ $(readlink "${BASH_REMATCH[3]}") = "/memfd:nccl-tune-shm."*".$SLURMD_NODENAME.$SLURM_JOB_ID.$SLURM_STEP_ID "* ]] || exit 4
		[ "$NCCL_TUNER_PLUGIN" = "$0" ] && [ "$NCCL_PROFILER_PLUGIN" = "$0" ] || exit 5
		stat -L -c "%U %a" "${BASH_REMATCH[3]}"' "$NT_STAGE/lib/nccl-tune/libnccl-tune.so"
	[ "${#lines[@]}" = 5 ]
	[ "$(sort -u <<<"$output")" = "$NT_USER 600" ]
	is_roots_alone
	[ "$(stat -c '%U %a' "$RUNDIR")" = 'root 755' ]
	run -1 log_has nccl-tune
}

@test "a batch step has its own memory, different from those of its sruns" {
	run -0 as_user sbatch -Q -W -n1 -o "$work/output" --nccl-tune=observe --wrap '
		readlink "${NCCL_TUNE_POLICY##*,shm=}"; srun bash -c "readlink \${NCCL_TUNE_POLICY##*,shm=}"'
	run -0 without_waits <"$work/output"
	[[ ${lines[0]} = *'.4294967291 (deleted)' && ${lines[1]} = *'.0 (deleted)' ]]
}

@test "Slurm's extern step is left alone" {
	site default=observe
	rm -f "$work"/{here,go}
	as_user srun -w n1 bash -c 'scontrol listpids "$SLURM_JOB_ID" n1 >listed; echo "$SLURM_JOB_ID" >here; until [ -e go ]; do sleep 0.1; done' 3>&- &
	wait_for 20 test -s "$work/here"
	run -0 step_names "n1.$(<"$work/here").*"
	touch "$work/go"
	wait $!
	grep -q ' extern ' "$work/listed"
	[ "${#lines[@]}" = 1 ]
}

@test "off removes our variables and changes nothing else" {
	local ours=$NT_STAGE/lib/nccl-tune/libnccl-tune.so
	NCCL_TUNER_PLUGIN=/their.so NCCL_ALGO=Ring run -0 as_user srun --nccl-tune=off bash -c "$show"
	[ "$output" = $'NCCL_ALGO=Ring\nNCCL_TUNER_PLUGIN=/their.so' ]
	NCCL_TUNER_PLUGIN=$ours NCCL_PROFILER_PLUGIN=$ours NCCL_TUNE_POLICY=x NCCL_DEBUG=WARN \
		run -0 as_user srun bash -c "$show"
	[ "$output" = NCCL_DEBUG=WARN ]
}

@test "the user's own plugins run behind ours, and are restored if nothing is tuned" {
	local ours=$NT_STAGE/lib/nccl-tune/libnccl-tune.so
	NCCL_TUNER_PLUGIN=/their.so NCCL_ALGO=Ring run -0 as_user srun --nccl-tune=bandit bash -c "$show"
	[[ $output = 'NCCL_ALGO=Ring'*"NCCL_PROFILER_PLUGIN=$ours"*"NCCL_TUNER_PLUGIN=$ours"*'NCCL_TUNE_CHAINED_TUNER=/their.so'* ]]
	[[ $output != *CHAINED_PROFILER* ]]
	[ "$(field flags)" = 4 ]
	NCCL_TUNER_PLUGIN=/their.so NCCL_PROFILER_PLUGIN=inspector run -0 as_user sbatch -Q -W -n1 \
		-o "$work/output" --nccl-tune=observe --wrap '
		srun bash -c "echo \$NCCL_TUNER_PLUGIN \$NCCL_TUNE_CHAINED_TUNER \$NCCL_TUNE_CHAINED_PROFILER"
		srun --nccl-tune=off bash -c "env | grep ^NCCL_ | sort"'
	run -0 without_waits <"$work/output"
	[ "$output" = "$ours /their.so inspector"$'\nNCCL_PROFILER_PLUGIN=inspector\nNCCL_TUNER_PLUGIN=/their.so' ]
}

@test "the user's own NCCL variables stay and are recorded" {
	NCCL_PROFILER_PLUGIN=none NCCL_PROTO=LL run -0 as_user srun --nccl-tune=bandit bash -c "$show"
	[[ $output = 'NCCL_PROFILER_PLUGIN=none'*'NCCL_PROTO=LL'*"NCCL_TUNER_PLUGIN=$NT_STAGE/"* ]]
	[ "$(field flags)" = 10 ]
	NCCL_TUNER_PLUGIN=$(printf '/%0600d.so' 0) run -0 as_user srun --nccl-tune=bandit bash -c "$show"
	[ "$(field flags)" = 1 ]
	NCCL_TUNER_PLUGIN=none NCCL_PROFILER_PLUGIN=NONE NCCL_TUNE_POLICY=stray NCCL_TUNE_CHAINED_TUNER=stray \
		run -0 as_user srun --nccl-tune=bandit bash -c "$show"
	[ "$output" = $'NCCL_PROFILER_PLUGIN=NONE\nNCCL_TUNER_PLUGIN=none' ]
}

@test "a policy in the user's environment never reaches a task" {
	NCCL_TUNE_POLICY=mode=bandit,shm=/tmp/x run -0 as_user srun bash -c "$show"
	[ -z "$output" ]
	NCCL_TUNE_POLICY=mode=bandit,shm=/tmp/x run -0 as_user srun -w n1 --nccl-tune=observe bash -c "$show"
	[[ $(field shm) = /proc/* ]]
	[ "$(field node)" = n1 ]
}

@test "nodes with the same hardware have the same fingerprint, kept until the next boot" {
	local first cache
	run -0 as_user srun -N3 --nccl-tune=observe bash -c "$show"
	first=$(field fingerprint | sort -u)
	[[ $first =~ ^[0-9a-f]{16}$ && $first != 0000000000000000 ]]
	cache=$(echo "$RUNDIR"/fingerprint.*".$(cat /proc/sys/kernel/random/boot_id)")
	[[ $(head -n 1 "$cache") = "$first "*' NUMA nodes' ]]
	[ "$(stat -c '%U %a' "$cache")" = 'root 644' ]
	sed -i '1s/.*/00000000deadbeef forged/' "$cache"
	run -0 as_user srun --nccl-tune=observe bash -c "$show"
	[ "$(field fingerprint)" = 00000000deadbeef ]
	chown "$NT_USER" "$cache"
	run -0 as_user srun --nccl-tune=observe bash -c "$show"
	[ "$(field fingerprint)" = "$first" ]
	[ "$(stat -c '%U' "$cache")" = root ]
	rm "$cache"
	run -0 as_user srun --nccl-tune=observe bash -c "$show"
	[ "$(field fingerprint)" = "$first" ]
}

has_fingerprint() {
	[ -s "$(echo "$RUNDIR"/fingerprint.*".$(cat /proc/sys/kernel/random/boot_id)")" ]
}

@test "slurmd prepares the fingerprint when it starts" {
	rm -f "$RUNDIR"/fingerprint.*
	run -0 cluster stop n3
	run -0 cluster start n3
	wait_for 10 has_fingerprint
	cluster_wait
}

# The step runs, untuned, with the exit status that it would have; the log says why.
runs_untuned() {
	run -7 as_user srun -N2 --ntasks-per-node=1 --nccl-tune=bandit bash -c "$show; exit 7"
	[[ $output != *NCCL_* ]]
	log_has "$1"
}

@test "a node without the plugin library runs its tasks untuned" {
	site "plugin=/nonexistent/libnccl-tune.so"
	runs_untuned 'nccl-tune: /nonexistent/libnccl-tune.so: No such file or directory; the step runs untuned'
}

@test "a plugin library that the user cannot read counts as missing" {
	install -m 600 "$NT_STAGE/lib/nccl-tune/libnccl-tune.so" "$NT_CLUSTER/run/libnccl-tune.so"
	site "plugin=$NT_CLUSTER/run/libnccl-tune.so"
	runs_untuned 'nccl-tune: .*/run/libnccl-tune.so is not a file that user [0-9]+ can read'
}

@test "a run directory that cannot be created" {
	echo >"$NT_CLUSTER/run/file"
	site "rundir=$NT_CLUSTER/run/file"
	runs_untuned 'nccl-tune: cannot open .*/run/file: Not a directory'
	site "rundir=$NT_CLUSTER/run/file/below"
	runs_untuned 'nccl-tune: cannot make .*/run/file/below: Not a directory'
	site "rundir=$NT_CLUSTER/run/none/below"
	runs_untuned 'nccl-tune: cannot make .*/run/none/below: No such file or directory'
}

@test "a run directory that others could tamper with is not used" {
	mkdir -m 1777 "$NT_CLUSTER/run/open"
	chmod 1777 "$NT_CLUSTER/run/open"
	site "rundir=$NT_CLUSTER/run/open"
	runs_untuned 'nccl-tune: .*/run/open may be written by others \(mode 1777\)'
	mkdir "$NT_CLUSTER/run/theirs"
	chown "$NT_USER" "$NT_CLUSTER/run/theirs"
	site "rundir=$NT_CLUSTER/run/theirs"
	runs_untuned 'nccl-tune: .*/run/theirs belongs to user'
	ln -s "$RUNDIR" "$NT_CLUSTER/run/link"
	site "rundir=$NT_CLUSTER/run/link"
	runs_untuned 'nccl-tune: cannot open .*/run/link: Not a directory|Too many levels'
}

@test "a full file system: the step is tuned" {
	mkdir "$NT_CLUSTER/run/small"
	mount -t tmpfs -o size=4k,nr_inodes=2,mode=755 nt-test "$NT_CLUSTER/run/small" || skip "no tmpfs here"
	echo >"$NT_CLUSTER/run/small/fill" || :
	site "rundir=$NT_CLUSTER/run/small"
	run -0 as_user srun --nccl-tune=bandit bash -c "$show"
	[[ $output = *NCCL_TUNE_POLICY=* ]]
	wait_for 10 umount "$NT_CLUSTER/run/small"
}

teardown() {
	if mountpoint -q "$NT_CLUSTER/run/small"; then umount "$NT_CLUSTER/run/small"; fi
}

@test "without nt-recordd the step is tuned and has no record" {
	site recordd=/nonexistent/nt-recordd
	run -0 as_user srun --nccl-tune=bandit bash -c "$show"
	[[ $output = *NCCL_TUNE_POLICY=* ]]
	log_has 'nccl-tune: the step will have no record: cannot start /nonexistent/nt-recordd: No such file'
}

@test "an nt-recordd that never answers holds the step for a second" {
	local helper=$NT_CLUSTER/run/sleeper began ms
	printf '#!/bin/sh\n[ "$1" = record ] && echo $$ >%s.pid && exec sleep 1200\n' "$helper" >"$helper"
	chmod 755 "$helper"
	site "recordd=$helper"
	began=${EPOCHREALTIME/./}
	run -0 as_user srun --nccl-tune=bandit bash -c "$in_task"'echo x | put_record 0 1'
	ms=$(((${EPOCHREALTIME/./} - began) / 1000))
	echo "# $ms ms"
	[ "$ms" -ge 1000 ]
	kill "$(<"$helper.pid")" # it is there still
	wait_for 10 log_has 'nccl-tune: stopped waiting for the record'
}

@test "a step whose program cannot be started leaves nothing" {
	run ! as_user srun -N2 --nccl-tune=bandit /nonexistent/program
	is_roots_alone
	wait_for 10 no_helpers
}

@test "a cancelled step leaves nothing" {
	local job
	job=$(as_user sbatch --parsable -N2 -n2 -o /dev/null --nccl-tune=bandit --wrap 'trap "" TERM; srun sleep 1200')
	wait_for 20 step_runs "$job"
	run -0 as_user scancel "$job"
	wait_for 20 no_helpers
}

step_runs() {
	step_shm "$1" 0 n1 && step_shm "$1" 0 n2
}
