#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# What srun looks at in a home: whatever is there, it goes on; sbatch and salloc look at nothing.
bats_require_minimum_version 1.5.0
load ../lib/cluster

setup_file() {
	cluster_setup
	export FILE=$NT_BASE/nccl-tune.conf
	cluster_start 1 -n -p "$(line)"
}

line() {
	nt_plugstack_line pmix=ask "spooldir=$NT_CLUSTER/run/spool" "conf=$FILE" "$@"
}

setup() {
	site_file "$FILE"
	home=$(as_user mktemp -d "$NT_CLUSTER/work/home.XXXXXX")
}

# What hangs is let go before it is unmounted.
teardown() {
	[ -z "${mute:-}" ] || kill -KILL "$mute" || :
	awk -v at="$home" 'index($2, at) == 1 { print $2 }' /proc/mounts | sort -r | xargs -r -n 1 umount -l
}

# be_mute [--take] PLACE...
be_mute() {
	coproc MUTE { exec "$NT_TESTS/nt-mute" "$@" 3>&-; }
	mute=$MUTE_PID
	read -r -t 600 -u "${MUTE[0]}" || skip "no FUSE here"
}

# from_home [VARIABLE=VALUE]... CMD...: with that home, and a guard against hanging that is far from what is promised.
from_home() {
	NT_TIMEOUT_S=600 as_user env -u XDG_STATE_HOME -u NCCL_TUNE_MEMORY HOME="$home" "$@" </dev/null
}

show='p=${NCCL_TUNE_POLICY:-mode=none},; m=${p#*mode=}; echo "${m%%,*}"'

# says WORD...: what a task shows, and the one line of ours, if any.
says() {
	[ "$(grep -v '^nccl-tune: \|: nccl-tune: ' <<<"$output" | tail -1)" = "$1" ] || { echo "$output"; return 1; }
	[ "$(grep -c 'nccl-tune: ' <<<"$output")" = "$(($# - 1))" ] || { echo "$output"; return 1; }
	[ $# = 1 ] || [[ $output = *"$2"* ]] || { echo "$output"; return 1; }
}

@test "a home that hangs and a launch profile: none is chosen, and the step runs" {
	be_mute --take "$home"
	run -0 from_home srun --nccl-tune=bandit,launch=auto /bin/bash -c "$show"
	says bandit 'no launch profile selected: timed out; NCCL starts with its own settings'
}

@test "a home that hangs: without a launch profile srun, sbatch and salloc do not look at it" {
	be_mute "$home"
	run -0 from_home srun /bin/bash -c "$show"
	says none
	run -0 from_home srun --nccl-tune=bandit /bin/bash -c "$show"
	says bandit
	run -0 from_home sbatch -W --parsable -o /dev/null --wrap true
	run -0 from_home salloc --nccl-tune=bandit true
	run -0 from_home srun --nccl-tune=help
	[[ $output = *'SETTING '* ]]
}

@test "a missing helper is reported, and the command goes on" {
	cluster plugstack "$(line recordd=/nonexistent/nt-recordd)"
	run -0 from_home srun --nccl-tune=bandit,launch=auto /bin/bash -c "$show"
	[[ $output = *'no launch profile selected: cannot start it: No such file or directory'*bandit* ]]
	cluster plugstack "$(line)"
}
