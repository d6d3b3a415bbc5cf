#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# SIGKILL of a rank, of a node's speaker, of home's speaker and of a slurmstepd, each at three steps of the agreement.
# tests/kill/kill.bash tells what a run is.
# shellcheck disable=SC2034 # what kill_run reads and sets
bats_require_minimum_version 1.5.0
load ../lib/cluster
load ../kill/kill

setup_file() {
	cluster_setup
	[ -x "$NT_TESTS/nt-strike" ]
	export KILL_SETTLE_S=3
	cluster_start 8 -n -p "$(nt_plugstack_line)"
	need_pmix
}

# strike_without TARGET STEP RUN: a run without the plugin. It is struck by time, and on a machine that is busy elsewhere may
# be struck before its ranks have met: again then. It is only what others are compared with.
strike_without() {
	local try
	for try in 1 2 3 4; do
		kill_run off "$@" || :
		echo "# try $try: $(kill_values)"
		[ "$k_others" = "done" ] && { [ "$1" != rank ] || [ "$k_gone" -gt 0 ]; } && break
	done
	[ "$k_others" = "done" ]
}

# strike_at TARGET STEP RUN: a run that was struck in that step; a machine that is busy elsewhere may miss one.
strike_at() {
	local try
	for try in 1 2 3; do
		kill_run on "$@" || :
		echo "# try $try: $(kill_values)"
		[ "$k_before" = "$2" ] && break
	done
	[ "$k_before" = "$2" ]
	[ "$1" = stop ] || jq -e '.dead and .error == ""' "$k_dir/strike"
	[ "$k_hang" = 0 ]
	[ "$k_mismatches" = 0 ]
	[ "$k_admin" != lost ]
}

# Ranks of which the outcome of a plan was not known when the speaker or its PMIx server died: an error in time.
# They are few or many, since other communicators are at other steps. Where home is at its last step already, the others
# may not have read of it. Slurm's PMIx server may end the step once the first of them has failed.
fails_in_time() {
	[[ $k_others =~ ^(error|cancelled)$ && $k_doubt -gt 0 && $k_doubt_ms -lt $(((KILL_AGREE_S + 60) * 1000)) ]] &&
		[[ " $k_before $k_beside " =~ \ (held|next|final)\  ]]
}

# Directories in TmpFS are those of Slurm's PMIx plugin, which now and then stay behind a step that lost a client.
none_of_ours_left() {
	[[ $k_left =~ ^(tmpfs:(spmix_appdir_[0-9_.]+ ?)*)?$ ]]
}

# ... and do without us where a slurmstepd is killed.
nothing_else_left() {
	[[ $k_left =~ ^(rundir:$k_node\.[0-9.]+ )?(tmpfs:(spmix_appdir_[0-9_.]+ ?)*)?$ ]]
}

# as_without STATUS WAITS: the step ends as it did when the same was killed without the plugin. A lost slurmstepd
# makes srun wait a minute; then its status is not the step's, since the tasks have ended and kill_run ends srun.
as_without() {
	[ "$k_srun_waits" = "$2" ]
	[ "$2" = 1 ] || [ "$k_status" = "$1" ]
}

@test "a rank that is not a node leader: its peers fail as without nccl-tune, the others go on with the agreed arm" {
	local status waits step KILL_CALLS=$KILL_CALLS_FINAL
	strike_without rank joining 0
	[[ $k_status = 137 && $k_gone -gt 0 ]]
	status=$k_status waits=$k_srun_waits
	for step in joining held running; do
		strike_at rank "$step" 0
		as_without "$status" "$waits"
		[[ $k_others = "done" && $k_gone -gt 0 ]] || kill_tell
		[ "$k_arm" = RING/SIMPLE ]
		none_of_ours_left
		[ "$k_admin" = none ]
	done
}

# Slurm's PMIx server ends a step whose client is lost (docs/hosts.md), so the others may not live on. A server that does not
# come to that, on a busy machine, gives no log of its node either: ranks in doubt then fail as where the server is lost.
@test "a node leader and the coordinator: the step's exit status is the same, and nothing is left" {
	local target status waits step
	strike_without speaker joining 0
	[ "$k_status" = 137 ]
	status=$k_status waits=$k_srun_waits
	for target in speaker home; do
		for step in joining held final; do
			strike_at "$target" "$step" 1
			as_without "$status" "$waits"
			[ "$k_others" = "done" ] || grep -q '_errhandler: .* status = -61' "$k_dir/srun" || fails_in_time || kill_tell
			none_of_ours_left
			[ "$k_admin" = none ]
		done
	done
}

@test "the coordinator is stopped while a plan is held: ranks in doubt fail in time, the others return to NCCL's choice" {
	strike_at stop held 0
	fails_in_time || [ "$k_others" = "done" ] || kill_tell
	[ "$((k_doubt + k_gone))" -gt 0 ]
	none_of_ours_left
}

without_stepd() {
	local target=$1 status waits step
	[ -n "${NT_KILL_STEPD:-}" ] || skip "two minutes each: set NT_KILL_STEPD=1"
	strike_without "$target" running 0
	status=$k_status waits=$k_srun_waits
	for step in joining held final; do
		strike_at "$target" "$step" 0
		if [ "$k_others" = "done" ]; then
			as_without "$status" "$waits"
		else
			fails_in_time
		fi
		nothing_else_left
	done
}

@test "the slurmstepd of a node" {
	without_stepd stepd
}

@test "the slurmstepd of rank 0's node" {
	without_stepd homestepd
}
