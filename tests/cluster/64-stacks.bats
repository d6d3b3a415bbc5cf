#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# on_stall=stacks: where the rank is that the others wait for, by gdb, and by a program that stands in for py-spy.
bats_require_minimum_version 1.5.0
load ../lib/cluster

setup_file() {
	cluster_setup
	export FILE=$NT_BASE/nccl-tune.conf TUNE=$NT_STAGE/bin/nccl-tune PY_SPY=/usr/local/bin/py-spy
	[ ! -e "$PY_SPY" ] || skip "$PY_SPY is there"
	cluster_start 2 -p "$(nt_plugstack_line "conf=$FILE")"
	need_pmix
	unset NCCL_TUNE_RECORD_DIR
	export work=$NT_CLUSTER/work
	# What is mapped tells that it is Python.
	cp "$NT_TESTS/nt-fake-nccl" "$work/python3"
	cp "$NT_TESTS/nt-fake-nccl" "$work/unreadable"
	chmod 711 "$work/unreadable"
}

setup() {
	site_file "$FILE"
	install -d -m 1777 "$work/ran"
}

teardown() {
	rm -rf "$PY_SPY" "$work/ran"
	[ -z "${job:-}" ] || as_user scancel "$job" || :
	wait_for 60 no_helpers
}

teardown_file() {
	cluster_check_and_stop
}

# py_spy [LINE]...: a py-spy of root's; it leaves a name where it has run, as it may write no byte.
py_spy() {
	printf '%s\n' '#!/bin/bash' ": >$work/ran/\$(id -u).\$5" "$@" >"$PY_SPY"
	chown 0:0 "$PY_SPY"
	chmod 755 "$PY_SPY"
}

has_run() {
	compgen -G "$work/ran/*" >/dev/null
}

# submit SETTINGS PROGRAM: a step of four ranks on two nodes; rank 3, on n2, does not begin its call 200.
submit() {
	printf '%s\n' '#!/bin/bash' "exec srun --mpi=pmix --kill-on-bad-exit=0 $2 --noise none --sizes 64M --call-gap-us 1000 \
		--peer-timeout 600 --iters 100000 --stuck 3@200" >"$work/script"
	job=$(as_user sbatch --parsable -N2 --ntasks-per-node=2 -t 60 -o "$work/output" --nccl-tune="$1" script)
}

report() {
	as_user "$TUNE" report "$@" "$job" 2>&1
}

# stacks FILTER: of the step's stacks, which are there by then
stacks() {
	report --json | jq -e "[.jobs[].steps[].stacks[]?] | $1"
}

has_stacks() {
	stacks 'length > 0' >/dev/null 2>&1
}

is_behind() {
	report --json | jq -e '[.jobs[].steps[].untuned[]?.why] | any(. == "behind")' >/dev/null
}

the_rank_goes_on() {
	local pid state
	pid=$(stacks '.[0].pid')
	state=$(sed 's/.*) //; s/ .*//' "/proc/$pid/stat")
	[[ $state = [SR] ]]
}

@test "gdb reads the rank that the others wait for, and no other" {
	command -v gdb >/dev/null || skip "not installed: gdb (./dev setup installs it)"
	submit observe,stall=3,on_stall=stacks "$NT_TESTS/nt-fake-nccl"
	wait_for 90 has_stacks
	stacks 'length == 1 and (.[0] | .rank == 3 and .node == "n2" and .tool == "gdb" and .why == null and (.lines | length) > 3)'
	stacks '.[0] | (.lines[0] | startswith("Thread 1 ")) and (.lines | any(test("run_helper|helper_thread|clone")))'
	the_rank_goes_on
	run -0 report
	[[ $(tr -s ' \n' ' ' <<<"$output") =~ "Rank 3 on n2 was in "[a-z_]+.*" (gdb, " ]]
	report --html=- >"$BATS_TEST_TMPDIR/page.html"
	grep -qF '"tool":"gdb"' "$BATS_TEST_TMPDIR/page.html"
	# Once a stall, and in the last part, too.
	as_user scancel "$job"
	wait_record "$job"
	wait_for 60 no_helpers
	stacks 'length == 1'
}

@test "py-spy reads Python, with the user's rights and without our descriptors" {
	py_spy 'echo "Process $5: secret"' 'echo "Thread 1 (idle): \"MainThread\""' 'echo "    get (queue.py:171)"' \
		'echo "    main (train.py:9)"' 'echo' 'echo "UID $(id -u) $(id -G)"' 'echo "FDS $(ls /proc/self/fd | tr "\n" " ")"' \
		'echo "ENV $(env | sort | tr "\n" " ")"' 'echo "ARG $*"' \
		'echo "IN $(grep -oE "job_[0-9]+/step_[0-9a-z]+" /proc/self/cgroup | sort -u | tr "\n" " ")"'
	submit observe,stall=3,on_stall=stacks "$work/python3"
	wait_for 90 has_stacks
	stacks 'length == 1 and (.[0] | .rank == 3 and .tool == "py-spy" and .top == "get (queue.py:171) < main (train.py:9)")'
	stacks '.[0].lines | any(startswith("UID '"$(id -u "$NT_USER")"' "))'
	stacks '.[0].lines | any(. == "FDS 0 1 2 3 ")'
	stacks '.[0].lines | all(test("secret|SLURM|NCCL") | not)'
	# The step's cgroups, where there are any.
	stacks '.[0].lines | any(. == "IN '"$(grep -oE 'job_[0-9]+/step_[0-9a-z]+' "/proc/$(stacks '.[0].pid')/cgroup" | sort -u | tr '\n' ' ')"'")'
	stacks '.[0].lines | any(startswith("ARG dump --nonblocking --pid "))'
}

@test "off, and locked by the site: nothing is started" {
	py_spy 'echo "Thread 1"'
	submit observe,stall=3 "$work/python3"
	wait_for 90 is_behind
	sleep 10
	run ! has_run
	stacks 'length == 0'
	as_user scancel "$job"
	wait_for 60 no_helpers
	site_file "$FILE" '[site]' 'lock = on_stall'
	submit observe,stall=3,on_stall=stacks "$work/python3"
	wait_for 90 is_behind
	sleep 10
	run ! has_run
	grep -F "on_stall is locked at this site: off, not stacks" "$work/output"
}

@test "a tool that hangs is killed in time, and does not hold the step's end" {
	local began
	py_spy 'sleep 300'
	submit observe,stall=3,on_stall=stacks "$work/python3"
	wait_for 90 has_stacks
	stacks '.[0].why == "cut: timed out"'
	run ! pgrep -u "$NT_USER" -f "$PY_SPY"
	run -0 report
	[[ $(tr -s ' \n' ' ' <<<"$output") = *"No stacks of rank 3 on n2: cut: timed out."* ]]
	as_user scancel "$job"
	wait_for 60 no_helpers
	rm -rf "$work"/ran/*
	submit observe,stall=3,on_stall=stacks "$work/python3"
	wait_for 90 has_run
	began=$SECONDS
	as_user scancel "$job"
	wait_for 60 no_helpers
	run ! pgrep -u "$NT_USER" -f "$PY_SPY"
	[ $((SECONDS - began)) -le 20 ]
}

@test "a process that may not be read is told, and none is started" {
	py_spy 'echo "Thread 1"'
	submit observe,stall=3,on_stall=stacks "$work/unreadable"
	wait_for 90 has_stacks
	stacks '.[0] | .why | startswith("its process cannot be looked at from the node")'
	run ! has_run
}
