#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# The user's file of settings and what else srun, sbatch and salloc look at in a home: whatever is there, the command goes on.
bats_require_minimum_version 1.5.0
load ../lib/cluster

setup_file() {
	cluster_setup
	export FILE=$NT_BASE/nccl-tune.conf
	cluster_start 1 -n -p "$(line)"
	export LATE='nccl-tune: your nccl-tune.conf could not be read within 1 s; the file is ignored'
}

line() {
	nt_plugstack_line pmix=ask "spooldir=$NT_CLUSTER/run/spool" "conf=$FILE" "$@"
}

setup() {
	site_file "$FILE"
	home=$(as_user mktemp -d "$NT_CLUSTER/work/home.XXXXXX")
	as_user mkdir "$home/.config"
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
	NT_TIMEOUT_S=600 as_user env -u XDG_CONFIG_HOME -u NCCL_TUNE_MEMORY HOME="$home" "$@" </dev/null
}

show='p=${NCCL_TUNE_POLICY:-mode=none},; m=${p#*mode=}; echo "${m%%,*}"'

# says WORD...: what a task shows, and the one line of ours, if any.
says() {
	[ "$(grep -v '^nccl-tune: \|: nccl-tune: ' <<<"$output" | tail -1)" = "$1" ] || { echo "$output"; return 1; }
	[ "$(grep -c 'nccl-tune: ' <<<"$output")" = "$(($# - 1))" ] || { echo "$output"; return 1; }
	[ $# = 1 ] || [[ $output = *"$2"* ]] || { echo "$output"; return 1; }
}

all_go_on() {
	run -0 from_home "$@" srun /bin/bash -c "$show"
	says none "$LATE"
	run -0 from_home "$@" srun --nccl-tune=bandit /bin/bash -c "$show"
	says bandit "$LATE"
	run -0 from_home "$@" sbatch -W --parsable -o /dev/null --wrap true
	[[ $output = *"$LATE"* ]]
	run -0 from_home "$@" salloc --nccl-tune=bandit true
	[[ $output = *"$LATE"* ]]
	run -0 from_home "$@" srun --nccl-tune=help
	[[ $output = *"$LATE"*'SETTING '* ]]
	run -0 from_home "$@" srun --nccl-tune=off /bin/bash -c "$show"
	says none
}

@test "a home that hangs: srun, sbatch and salloc go on without the file, with a message" {
	be_mute "$home"
	all_go_on HOME="$home"
}

@test "the same if only ~/.config or XDG_CONFIG_HOME hangs, and the reader cannot be killed" {
	as_user mkdir "$home/xdg"
	be_mute --take "$home/.config" "$home/xdg"
	all_go_on HOME="$home"
	all_go_on XDG_CONFIG_HOME="$home/xdg"
	run -0 from_home XDG_CONFIG_HOME=/nonexistent srun --nccl-tune=bandit /bin/bash -c "$show"
	says bandit
}

@test "nothing is read if nothing can be tuned" {
	local limit
	be_mute "$home"
	for limit in 'tuning = off' 'modes = off'; do
		site_file "$FILE" '[site]' "$limit"
		run -0 from_home srun /bin/bash -c "$show"
		says none
	done
}

@test "a home that hangs and a launch profile: none is chosen, and the step runs" {
	be_mute --take "$home"
	run -0 from_home srun --nccl-tune=bandit,launch=auto /bin/bash -c "$show"
	says bandit "$LATE"
	run -0 from_home XDG_CONFIG_HOME=/nonexistent srun --nccl-tune=bandit,launch=auto /bin/bash -c "$show"
	says bandit 'no launch profile selected: timed out; NCCL starts with its own settings'
}

# in_time [VARIABLE=VALUE]... CMD...: from_home, again where a busy machine has not read the file in time.
in_time() {
	local try
	for try in {1..10}; do
		run -0 from_home "$@"
		[[ $output = *"$LATE"* ]] || return 0
		echo "# try $try: $LATE" >&3
	done
	return 1
}

# user_file SAID: what tasks then run with, which is the site's default, and what srun says.
left_out() {
	in_time srun --nccl-tune=bandit /bin/bash -c "$show"
	says bandit "$1; the file is ignored"
	in_time sbatch -W --parsable -o /dev/null --wrap true
	[[ $output = *"$1; the file is ignored"* ]]
}

@test "invalid files: huge, a FIFO, a device, a directory, a loop of links" {
	local file=$home/.config/nccl-tune.conf
	as_user truncate -s 1G "$file"
	left_out "$file: larger than 65535 bytes"
	rm "$file"
	as_user mkfifo "$file"
	left_out "$file is not a regular file"
	rm "$file"
	mknod -m 666 "$file" c 1 5
	left_out "$file is not a regular file"
	rm "$file"
	as_user mkdir "$file"
	left_out "$file is not a regular file"
	rmdir "$file"
	as_user ln -s /dev/zero "$file"
	left_out "$file is not a regular file"
	as_user ln -sf nccl-tune.conf "$file"
	left_out "$file: Too many levels of symbolic links"
}

@test "another user's file and a link to one count as the user's own; an unreadable one is ignored" {
	local file=$home/.config/nccl-tune.conf
	echo 'mode = observe' >"$file"
	in_time srun /bin/bash -c "$show"
	says observe
	as_user mv "$file" "$home/real"
	as_user ln -s ../real "$file"
	in_time srun /bin/bash -c "$show"
	says observe
	chmod 600 "$home/real"
	in_time srun /bin/bash -c "$show"
	says none
}

@test "a missing helper is reported, and the command goes on" {
	cluster plugstack "$(line recordd=/nonexistent/nt-recordd)"
	run -0 from_home srun /bin/bash -c "$show"
	says none '/nonexistent/nt-launch: cannot start it: No such file or directory; the file is ignored'
	cluster plugstack "$(line)"
}
