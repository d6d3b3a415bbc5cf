#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# What NCCL takes because a plugin asks for GPU times, and what the plugin takes itself, in a process that cannot have it
# (docs/hosts.md has the list): the job ends as without the plugin, and its record says why it was not tuned.
# shellcheck disable=SC2030,SC2031,SC2034,SC2086,SC2154 # what bats and job set; several words
bats_require_minimum_version 1.5.0
load ../lib/policy

setup_file() {
	alone_environment
}

setup() {
	unshare -m true 2>/dev/null || skip "needs a mount namespace"
}

# job BEFORE MODE [option]...: two ranks in two processes, in whose mount namespace BEFORE was run; all calls are right,
# whatever the plugin may have. Its processes' records are in $dir.
job() {
	dir=$(mktemp -d "$BATS_TEST_TMPDIR/step.XXXXXX")
	NCCL_TUNE_POLICY=$(task_policy "$2" "$dir" $settings) run -0 --separate-stderr timeout 300 \
		unshare -m --propagation private bash -c "$1; exec \"\$@\"" job "$FAKE" --fork 2 --sizes 4M --noise lognormal:0.03 \
		--call-gap-us 20 --arm TREE/SIMPLE=0.5 --settled --iters 3000 --proxy-pool "${@:3}"
	jq -e '.mismatches == 0' <<<"$output" || { echo "$output$stderr"; return 1; }
}

# shm SIZE: a /dev/shm of that size
shm() {
	echo "mount -t tmpfs -o size=$1 shm /dev/shm"
}

# why: of all communicators, each once
why() {
	jq -rs '[.[].comms[].why] | unique | join(" ")' "$dir"/rank.*.json
}

# states: of all keys, each once
states() {
	jq -rs '[.[].comms[].keys[] | .state + " " + .arm] | unique | join(", ")' "$dir"/rank.*.json
}

# is WHAT TEXT
is() {
	[ "$("$1")" = "$2" ] || { echo "$1: $("$1")"; cat "$dir"/rank.*.json; return 1; }
}

# tuned: it was, unless a busy machine left no time for it
tuned() {
	is why ''
	[[ $(states) = *TREE/SIMPLE* || $(states) = exploring* || $(states) = counted* ]] || { states; return 1; }
}

# other RELEASE SIZE: a job with a profiler that asks for GPU times wherever it is.
other() {
	NCCL_PROFILER_PLUGIN=$TESTS/nt-fake-plugin.so NCCL_TUNER_PLUGIN='' NT_FAKE_EVENTS=0x42 run --separate-stderr \
		unshare -m bash -c "$(shm $2); exec \"\$@\"" job "$FAKE" --fork 2 --sizes 4M --iters 10 --proxy-pool --nccl $1 --peer-timeout 2
}

@test "the simulated NCCL dies where a profiler asks for GPU times and /dev/shm is small" {
	local release
	for release in 2.28.9 2.30.7; do
		other $release 8M
		[[ $status = 139 && $stderr = *'fallocate of the proxy'* ]]
		other $release 64M
		[[ $status != 0 && $stderr = *'fallocate of the proxy'* ]]
		other $release 72M
		[ "$status" = 0 ]
	done
	other 2.31.2 8M
	[ "$status" = 0 ]
}

@test "two ranks and a small /dev/shm: nothing is asked for, and all say why" {
	local size mode
	for size in 8M 48M 64M; do
		for mode in off observe bandit profile; do
			job "$(shm $size)" $mode
			[ $mode = off ] || is why shmsmall
			[ $mode = off ] || is states 'counted AUTO'
		done
	done
}

@test "two ranks and room enough: tuned" {
	local size
	for size in 96M 128M 256M; do
		job "$(shm $size)" bandit
		tuned
	done
	job "$(shm 96M)" observe
	is why 'mode|observe'
	is states 'observed AUTO'
	# Without a limit, as where an administrator gives none.
	job "$(shm 0)" bandit
	tuned
}

@test "mode policy needs no GPU times, and NCCL 2.31 no room for them" {
	NCCL_TUNE_WARM='v=1 nccl=22809 fabric=any fingerprint=0000000000000001 2r1n.AllReduce.4194304=TREE/SIMPLE' \
		job "$(shm 8M)" policy
	is why ''
	is states 'committed TREE/SIMPLE'
	job "$(shm 8M)" bandit --nccl 2.31.2
	tuned
}

@test "no /dev/shm at all, one that cannot be written to, one without inodes, a file system of another kind" {
	job 'mount -t tmpfs dev /dev; mknod -m 666 /dev/null c 1 3; mknod -m 666 /dev/urandom c 1 9' bandit
	is why shmsmall
	job "$(shm 256M,ro)" bandit
	is why shmsmall
	job "$(shm 256M,nr_inodes=17)" bandit
	is why shmsmall
	job "mount --bind $BATS_TEST_TMPDIR /dev/shm" bandit
	tuned
}

@test "communicators: each needs room of its own, also while another is measured" {
	# Two for each of four ranks: eight pools of 34 MB, and a quarter.
	job "$(shm 256M)" bandit --fork 4 --comms world,tp:2
	[[ $(why) = *shmsmall* ]]
	job "$(shm 384M)" bandit --fork 4 --comms world,tp:2
	tuned
	# The first is explored when the others come, without room.
	job "$(shm 128M)" bandit --comms world,dp:1,roll:2 --churn 300x3 --iters 6000
	[[ $(why) = *shmsmall* ]]
	# Tasks of the node that are not in this communicator count, too.
	SLURM_STEP_TASKS_PER_NODE='2,4(x2)' job "$(shm 128M)" bandit
	is why shmsmall
	LOCAL_WORLD_SIZE=4 job "$(shm 128M)" bandit
	is why shmsmall
}

@test "a communicator across nodes: its network needs the pools anyway" {
	job "$(shm 128M)" bandit --nodes 2
	[[ $(why) != *shmsmall* ]]
}

@test "room that vanishes before the first GPU times" {
	# Filled a moment after the start, when the ranks have opened their communicator.
	settings=min_calls=20000 job "$(shm 128M); (sleep 0.5; head -c 80M /dev/zero >/dev/shm/program) &" bandit --iters 40000
	[[ $(jq -rs '[.[].comms[] | .why, (.keys[].reason // "")] | unique | join(" ")' "$dir"/rank.*.json) = *shmsmall* ]]
}
