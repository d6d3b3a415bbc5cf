#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# Launch profiles from srun to the tasks: who gets which, what stays a user's own, what is refused, and what happens where
# something is missing. Memories are written by hand here.
bats_require_minimum_version 1.5.0
load ../lib/cluster

setup_file() {
	cluster_setup
	cluster_start 2 -n
	export PROFILES=$NT_BASE/profiles.conf
	cat >"$PROFILES" <<-'END'
		[wide]
		fabric = socket
		NCCL_SOCKET_NTHREADS = 4
		NCCL_NSOCKS_PERTHREAD = 2
		NCCL_MIN_NCHANNELS = 8
		[deep]
		NCCL_BUFFSIZE = 8M
	END
	chmod 644 "$PROFILES"
}

setup() {
	export memory=$NT_CLUSTER/work/.local/state/nccl-tune/memory
	rm -rf "$NT_CLUSTER/work/.local" "$NT_CLUSTER/work/.nccl.conf" "$NT_CLUSTER"/work/{count,output}
	site
}

site() {
	cluster plugstack "$(nt_plugstack_line pmix=ask "spooldir=$NT_CLUSTER/run/spool" "profiles=$PROFILES" "$@")"
	: | tee "$NT_CLUSTER"/log/n[1-9].log >/dev/null
}

# The start-up variables of a task, and what ours say of them.
show='env | grep -E "^NCCL_(SOCKET|NSOCKS|MIN|MAX|BUFF|IB|CROSS)|^NCCL_TUNE_(LAUNCH|WARM)=|^SLURM_NCCL_TUNE_" | LC_ALL=C sort'
wide='NCCL_MIN_NCHANNELS=8
NCCL_NSOCKS_PERTHREAD=2
NCCL_SOCKET_NTHREADS=4
NCCL_TUNE_LAUNCH=wide NCCL_SOCKET_NTHREADS=4 NCCL_NSOCKS_PERTHREAD=2 NCCL_MIN_NCHANNELS=8'
deep='NCCL_BUFFSIZE=8388608
NCCL_TUNE_LAUNCH=deep NCCL_BUFFSIZE=8388608'

# task OPTION...: a step of one task; again where a busy machine was too slow for what srun asks for before it
task() {
	local rc
	for _ in {1..5}; do
		rc=0
		as_user srun "$@" /bin/bash -c "$show" >"$BATS_TEST_TMPDIR/task.out" 2>"$BATS_TEST_TMPDIR/task.err" || rc=$?
		grep -q 'no launch profile selected: timed out' "$BATS_TEST_TMPDIR/task.err" || break
	done
	cat "$BATS_TEST_TMPDIR/task.out"
	cat "$BATS_TEST_TMPDIR/task.err" >&2
	return "$rc"
}

# each N TEXT: every line of it is in the output so often; lines of different tasks come in any order.
each() {
	local line
	while read -r line; do
		[ "$(grep -cxF -- "$line" <<<"$output")" = "$1" ] || return 1
	done <<<"$2"
}

# batch OPTION... <SCRIPT: submit, wait, print the output.
batch() {
	{ printf '#!/bin/bash\nshow=%q\n' "$show"; cat; } >"$NT_CLUSTER/work/script"
	as_user sbatch -Q -W -o "$NT_CLUSTER/work/output" "$@" script
	without_waits <"$NT_CLUSTER/work/output"
}

log_count() {
	cat "$NT_CLUSTER"/log/n*.log | grep -c "$1"
}

# entry PROFILE US [ORIGIN [JOB [STEP]]]: what a step on two nodes of one task each showed.
entry() {
	local now id
	now=$(date +%s)
	id=$(printf '%08x%08x%08x' "$RANDOM" "$RANDOM" "$RANDOM")
	printf '{"v":1,"fingerprint":"00000000000000f3","fabric":"socket","nodes":2,"per_node":1,"profile":"%s","when":%d,' \
		"$1" $((now - 100 + ${5:-0}))
	printf '"origin":"%s","job":%d,"step":%d,"nccl":22809,"driver":"570","id":"%s","added":%d,"keys":[' \
		"${3:-calibrate}" "${4:-1}" "${5:-0}" "$id" "${now}000000"
	printf '["AllReduce",65536,"RING/SIMPLE",100,[%d,%d,%d,200],[%d,%d,%d,24]],' $(($2 - 1)) "$2" $(($2 + 1)) "$2" \
		$(($2 + 1)) $(($2 + 2))
	printf '["AllReduce",16777216,"AUTO",10,[%d,%d,%d,200],[%d,%d,%d,24]]]}\n' $((9 * $2)) $((10 * $2)) $((11 * $2)) \
		$((9 * $2)) $((10 * $2)) $((11 * $2))
}

# host NAME [FINGERPRINT [SECONDS-AGO]]
host() {
	printf '{"v":1,"host":"%s","fingerprint":"%s","when":%d}\n' "$1" "${2:-00000000000000f3}" $(($(date +%s) - ${3:-50}))
}

# remember <LINES: into the user's memory
remember() {
	as_user mkdir -p "$memory"
	cat >"$memory/$RANDOM$RANDOM.jsonl"
	chmod 644 "$memory"/*.jsonl
}

calibrated() {
	host n1
	host n2
	entry default 300
	entry wide 100
	entry deep 290
}

# without_plugin CMD...: a client that does not load the plugin, as a user can have one.
without_plugin() {
	sed '/PlugStackConfig/d' "$SLURM_CONF" >"$NT_BASE/slurm.conf"
	echo "PlugStackConfig=/dev/null" >>"$NT_BASE/slurm.conf"
	chmod 644 "$NT_BASE/slurm.conf"
	as_user env SLURM_CONF="$NT_BASE/slurm.conf" "$@"
}

@test "a profile requested by name reaches every task with any --export" {
	local what
	for what in ALL NONE HOME FOO=1; do
		run -0 task -N2 -n3 --export="$what" --nccl-tune=bandit,launch=wide
		each 3 "$wide"
		[ "${#lines[@]}" = 12 ]
	done
	run -0 task --nccl-tune=observe,launch=default
	[ "$output" = NCCL_TUNE_LAUNCH=default ]
}

@test "with launch off, or without tuning, nothing is set" {
	calibrated | remember
	run -0 task -N2 --nccl-tune=bandit
	[ -z "$output" ]
	run -0 task -N2 --nccl-tune=off,launch=wide
	[ -z "$output" ]
	run -0 task -N2
	[ -z "$output" ]
	SLURM_NCCL_TUNE_TICKET='v=1;profile=deep;why=ASKED;set=NCCL_BUFFSIZE=8388608' SLURM_NCCL_TUNE_WARM=x \
		run -0 task --nccl-tune=bandit
	[ -z "$output" ]
	run -1 log_count nccl-tune
}

@test "srun prints the profile and the reason with -v, and nothing without" {
	calibrated | remember
	run -0 --separate-stderr task -v -N2 --nccl-tune=bandit,launch=auto
	[[ $stderr = *'srun: nccl-tune: launch profile wide (calibrated 20'*'-'*'-'*' on 2 x 1: all sizes alike '*' x)'* ]]
	each 2 "$wide"
	run -0 task -N2 --nccl-tune=bandit,launch=auto
	each 2 "$wide"
	[[ $output != *nccl-tune* ]]
	run -0 task -v --nccl-tune=bandit,launch=deep
	[[ $output = *'nccl-tune: launch profile deep (it was requested by name)'* ]]
}

@test "the user's variables stay, with those that NCCL reads together with them, and the message says so" {
	NCCL_MIN_NCHANNELS=2 run -0 --separate-stderr task -v -N2 --nccl-tune=bandit,launch=wide
	[[ $stderr = *'launch profile wide (it was requested by name); left alone: NCCL_MIN_NCHANNELS'* ]]
	[[ $output = 'NCCL_MIN_NCHANNELS=2'*'NCCL_TUNE_LAUNCH=wide NCCL_SOCKET_NTHREADS=4 NCCL_NSOCKS_PERTHREAD=2'* ]]
	[ "$(grep -c NCCL_MIN_NCHANNELS=8 <<<"$output")" = 0 ]
	NCCL_SOCKET_NTHREADS=1 run -0 task --nccl-tune=bandit,launch=wide
	[ "$output" = $'NCCL_MIN_NCHANNELS=8\nNCCL_SOCKET_NTHREADS=1\nNCCL_TUNE_LAUNCH=wide NCCL_MIN_NCHANNELS=8' ]
	run -0 task --export=NCCL_MAX_CTAS=4 --nccl-tune=bandit,launch=wide
	[[ $output != *NCCL_MIN_NCHANNELS* && $output = *NCCL_SOCKET_NTHREADS=4* ]]
	echo 'NCCL_SOCKET_NTHREADS=2' >"$NT_CLUSTER/work/.nccl.conf"
	run -0 --separate-stderr task -v --nccl-tune=bandit,launch=wide
	[[ $stderr = *'; left alone: NCCL_SOCKET_NTHREADS'* ]]
	[ "$output" = $'NCCL_MIN_NCHANNELS=8\nNCCL_TUNE_LAUNCH=wide NCCL_MIN_NCHANNELS=8' ]
}

@test "an unknown profile is refused by srun" {
	local command
	for command in 'srun touch ran' 'sbatch --wrap=true' 'salloc touch ran'; do
		# shellcheck disable=SC2086 # words
		run ! as_user ${command%% *} --nccl-tune=bandit,launch=wild ${command#* }
		[[ $output = *"nccl-tune: --nccl-tune=bandit,launch=wild: no launch profile 'wild' (there are: default wide deep)"* ]]
	done
	SLURM_NCCL_TUNE=bandit,launch=WIDE run ! task
	[[ $output = *"SLURM_NCCL_TUNE=bandit,launch=WIDE: bad launch 'WIDE' (want off, auto or the name of a launch profile)"* ]]
	[ ! -e "$NT_CLUSTER/work/ran" ]
	run -0 as_user squeue -h -t PENDING,RUNNING
	[ -z "$output" ]
}

@test "a forged or truncated ticket sets nothing and is logged once on each node" {
	local ticket
	for ticket in 'v=1;profile=x;why=GAIN;set=LD_PRELOAD=/tmp/x.so' 'v=1;profile=x;why=GAIN;set=NCCL_BUFFSIZE=1' \
		$'%n%s\x1b[31m' "v=1;profile=x;why=GAIN;from=$(printf '%02000d' 1)"; do
		: | tee "$NT_CLUSTER"/log/n[1-9].log >/dev/null
		run -0 without_plugin env SLURM_NCCL_TUNE_TICKET="$ticket" srun -N2 -n4 /bin/bash -c "$show; echo \$LD_PRELOAD"
		[ -z "${output//$'\n'/}" ]
		run -0 log_count 'nccl-tune: launch profile refused: [ -~]*$'
		[ "$output" = 2 ]
	done
	# One that says no more than it may is as good as any.
	run -0 without_plugin env SLURM_NCCL_TUNE_TICKET='v=1;profile=x;why=GAIN;set=NCCL_BUFFSIZE=1M' \
		SLURM_NCCL_TUNE_WARM='v=1 nonsense' srun -N1 /bin/bash -c "$show"
	[ "$output" = $'NCCL_BUFFSIZE=1048576\nNCCL_TUNE_LAUNCH=x NCCL_BUFFSIZE=1048576' ]
}

@test "nodes without the plugin start NCCL with the same settings, as far as srun exports its environment" {
	nt_plugstack_line pmix=ask "profiles=$PROFILES" >"$NT_BASE/plugstack.conf"
	sed '/PlugStackConfig/d' "$SLURM_CONF" >"$NT_BASE/slurm.conf"
	echo "PlugStackConfig=$NT_BASE/plugstack.conf" >>"$NT_BASE/slurm.conf"
	chmod 644 "$NT_BASE/slurm.conf" "$NT_BASE/plugstack.conf"
	cluster plugstack
	NCCL_MIN_NCHANNELS=2 run -0 as_user env SLURM_CONF="$NT_BASE/slurm.conf" srun -N2 --nccl-tune=bandit,launch=wide \
		/bin/bash -c 'echo $NCCL_SOCKET_NTHREADS $NCCL_NSOCKS_PERTHREAD $NCCL_MIN_NCHANNELS'
	[ "$output" = $'4 2 2\n4 2 2' ]
	# NCCL's ranks exchange their devices only where all of them have this file.
	run -0 as_user env SLURM_CONF="$NT_BASE/slurm.conf" srun -N2 --nccl-tune=bandit,topology=on \
		/bin/bash -c 'echo ${NCCL_TOPO_DUMP_FILE-none}'
	[ "$output" = $'/dev/null/nccl-tune\n/dev/null/nccl-tune' ]
}

@test "a step inside a step has its own profile, not that of the outer step" {
	run -0 batch -N2 -n4 <<-'END'
		export show
		srun -N2 -n2 --nccl-tune=bandit,launch=wide bash -c '
			[ "$SLURM_PROCID" = 0 ] || exit 0
			echo outer; bash -c "$show"
			unset SLURM_NTASKS SLURM_NPROCS SLURM_TASKS_PER_NODE
			echo inner; srun --overlap -N2 -n2 --nccl-tune=bandit,launch=deep bash -c "$show" | sort
			echo off; srun --overlap -N1 -n1 --nccl-tune=off bash -c "$show"
			echo none; srun --overlap -N1 -n1 bash -c "$show"
			export NCCL_MIN_NCHANNELS=16
			echo own; srun --overlap -N1 -n1 bash -c "$show"'
	END
	[ "$output" = "outer"$'\n'"$wide"$'\ninner\n'"$(sort <<<"$deep"$'\n'"$deep")"$'\noff\nnone\nown\nNCCL_MIN_NCHANNELS=16' ]
}

@test "without the files of profiles a step runs with NCCL's own settings, with one message" {
	calibrated | remember
	site profiles=/nonexistent/profiles.conf
	run -0 --separate-stderr task -N2 --nccl-tune=bandit,launch=auto
	[ "$output" = $'NCCL_TUNE_LAUNCH=default\nNCCL_TUNE_LAUNCH=default' ] || [[ $output = NCCL_TUNE_LAUNCH=default$'\n'* ]]
	[[ $stderr = *'nccl-tune: /nonexistent/profiles.conf: No such file or directory; it is ignored' ]]
	run -0 --separate-stderr task -N2 --nccl-tune=bandit,launch=wide
	[ -z "$output" ]
	[[ $stderr = *'nccl-tune: no launch profile selected: /nonexistent/profiles.conf: No such file'* ]]
	[ "$(grep -c nccl-tune: <<<"$stderr")" = 1 ]
}

@test "a helper that is missing or hangs costs some seconds and fails no step" {
	local dir=$NT_BASE/helpers
	mkdir -p "$dir"
	cp "$NT_STAGE/libexec/nccl-tune/nt-recordd" "$dir"
	chmod 755 "$dir"
	site "recordd=$dir/nt-recordd"
	run -0 --separate-stderr task --nccl-tune=bandit,launch=wide
	[ -z "$output" ]
	[[ $stderr = *'no launch profile selected: cannot start it: No such file'*"NCCL starts with its own settings" ]]
	printf '#!/bin/sh\nexec sleep 1000\n' >"$dir/nt-launch"
	chmod 755 "$dir/nt-launch"
	run -0 --separate-stderr task --nccl-tune=bandit,launch=wide
	[ -z "$output" ]
	[[ $stderr = *'no launch profile selected: timed out'* ]]
}

@test "a damaged memory does not prevent a step" {
	{ calibrated; echo rubbish; head -c 1000 /dev/urandom; } | remember
	: >"$memory/x.jsonl"
	mkfifo "$memory/y.jsonl"
	ln -s /etc/shadow "$memory/z.jsonl"
	run -0 --separate-stderr task -N2 --nccl-tune=bandit,launch=auto
	each 2 "$wide"
	rm -rf "$memory"
	: >"$memory"
	run -0 --separate-stderr task -N2 --nccl-tune=bandit,launch=auto
	[[ $stderr = *"$memory: Not a directory; it is ignored"* ]]
	[ "$(grep -c 'it is ignored' <<<"$stderr")" = 1 ]
	NCCL_TUNE_MEMORY=relative run -0 --separate-stderr task -N2 --nccl-tune=bandit,launch=auto
	[[ $stderr = *"NCCL_TUNE_MEMORY='relative' (want an absolute path"* ]]
}

@test "the remembered arms of the chosen profile are passed to the step" {
	calibrated | remember
	run -0 task -N2 --nccl-tune=bandit,launch=auto
	[ "$(grep -c '^NCCL_TUNE_WARM=v=1 nccl=22809 fabric=socket fingerprint=00000000000000f3 2r2n.AllReduce.65536=RING/SIMPLE@1000 2r2n.AllReduce.16777216=AUTO$' <<<"$output")" = 2 ]
	run -0 task -N2 --nccl-tune=policy
	[ "$(grep -c '^NCCL_TUNE_WARM=' <<<"$output")" = 2 ]
	[[ $output != *LAUNCH* ]]
	run -0 task -N1 --nccl-tune=policy
	[ -z "$output" ]
}
