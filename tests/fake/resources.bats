#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# What NCCL takes because a plugin asks for GPU times, and what the plugin takes itself, in a process that cannot have it
# (docs/hosts.md has the list): the job ends as without the plugin, and its record says why it was not tuned.
# shellcheck disable=SC2034,SC2086 # what bats and job set; several words
bats_require_minimum_version 1.5.0
load ../lib/policy

setup_file() {
	alone_environment
}

setup() {
	export base=$BATS_TEST_TMPDIR
	elsewhere=''
	unshare -m true 2>/dev/null || skip "needs a mount namespace"
}

teardown() {
	[ ! "$elsewhere" ] || rm -rf "$elsewhere"
}

# A directory that other users reach, and that is not in /tmp
use_elsewhere() {
	elsewhere=$(mktemp -d /var/tmp/nt-resources.XXXXXX)
	chmod 755 "$elsewhere"
	base=$elsewhere
}

# job BEFORE MODE [option]...: two ranks in two processes, in whose mount namespace BEFORE was run; all calls are right,
# whatever the plugin may have. Its processes' records are in $dir.
job() {
	export dir
	dir=$(mktemp -d "$base/step.XXXXXX")
	chmod 777 "$dir"
	NCCL_TUNE_POLICY=$(task_policy "$2" "$dir" $settings) run -0 --separate-stderr timeout 300 \
		unshare -m --propagation private bash -c "$1"$'\n''exec "$@"' job "$FAKE" --fork 2 --sizes 4M --noise lognormal:0.03 \
		--call-gap-us 20 --arm TREE/SIMPLE=0.5 --settled --iters 3000 --proxy-pool "${@:3}"
	jq -e '.mismatches == 0' <<<"$output" || { echo "$output$stderr"; return 1; }
}

# shm SIZE: a /dev/shm of that size
shm() {
	echo "mount -t tmpfs -o size=$1 shm /dev/shm"
}

# why: of all communicators, each once
why() {
	jq -rs '[.[].comms[].why] | unique | join(" ")' <(rank_records "$dir")
}

# states: of all keys, each once
states() {
	jq -rs '[.[].comms[].keys[] | .state + " " + .arm] | unique | join(", ")' <(rank_records "$dir")
}

# findings: of the step
findings() {
	"$TESTS/nt-record" step "$dir" "$mode" | jq -r '.findings // [] | join(" ")'
}

# is WHAT TEXT
is() {
	[ "$("$1")" = "$2" ] || { echo "$1: $("$1")"; cat <(rank_records "$dir"); return 1; }
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
			[ $mode = off ] || is findings "shm:n1:${size%M}:2"
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
	is why 'mode:observe'
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
	mode=bandit is findings ''
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
	settings=min_calls=100000 job "$(shm 128M); (sleep 0.5; head -c 80M /dev/zero >/dev/shm/program) &" bandit --iters 20000
	[[ $(jq -rs '[.[].comms[] | .why, (.keys[].why // "")] | unique | join(" ")' <(rank_records "$dir")) = *shmsmall* ]]
}

@test "too few descriptors, threads, addresses, too small files: nothing is asked for, and all say why" {
	job 'ulimit -n 14' bandit
	is why limits
	job 'ulimit -n 64' bandit
	tuned
	job 'ulimit -v 550000' bandit
	is why limits
	job 'ulimit -v 550000' observe
	is why limits
	# Too little for our own memory.
	job 'ulimit -v 420000' bandit
	[[ $(why) = 'shmopen:shm:'* || $(why) = limits ]]
	# The node's memory is as large as it will be.
	job '"$RECORD" memory "$dir"; ulimit -f 1000' bandit
	is why limits
	job '"$RECORD" memory "$dir"; ulimit -f 1000' observe
	is why limits
	job 'ulimit -f 1000' bandit
	# What is shared with other ranks needs no locked memory.
	job 'ulimit -l 0' bandit
	tuned
}

# user THREADS MODE [option]...: as a user of its own who may have so many threads, of all processes
user() {
	job "ulimit -u $1; set -- setpriv --reuid 61234 --regid 61234 --clear-groups \"\$@\"" "${@:2}"
}

@test "too few threads: none of ours takes NCCL's" {
	local least=4 mode
	use_elsewhere
	[ "$(id -u)" = 0 ] || skip "root alone can become a user without threads"
	setpriv --reuid 61234 --regid 61234 --clear-groups test -x "$FAKE" || skip "other users cannot run the programs"
	# The least with which the program runs without the plugin
	until NCCL_TUNE_POLICY='' setpriv --reuid 61234 --regid 61234 --clear-groups bash -c 'ulimit -u '$least'; exec "$@"' job \
		"$FAKE" --fork 2 --sizes 4M --iters 10 --peer-timeout 1 >/dev/null 2>&1; do
		((++least < 40))
	done
	for mode in bandit observe policy; do
		user $least $mode
		is why limits
		user $((least + 2)) $mode
		is why limits
	done
	user $((least + 30)) bandit
	tuned
}

@test "a small stack: the helper thread and NCCL's threads get by with it" {
	job 'ulimit -s 64' bandit
	tuned
	job 'ulimit -s 64' observe
	is states 'observed AUTO'
}

@test "system calls that a container forbids" {
	run "$TESTS/nt-refuse" memfd_create true
	[ "$status" != 77 ] || skip "no filters of system calls here"
	job 'set -- "$TESTS/nt-refuse" memfd_create,process_vm_readv,sched_setaffinity "$@"' bandit
	tuned
	# Nobody can say what room there is.
	job 'set -- "$TESTS/nt-refuse" statfs "$@"' bandit
	is why shmsmall
}

@test "/tmp full or read-only, the node's memory full or out of reach" {
	use_elsewhere
	job 'mount -t tmpfs -o size=4k none /tmp; head -c 8k /dev/zero >/tmp/full 2>&1' bandit
	tuned
	job 'mount -t tmpfs -o ro none /tmp' bandit
	tuned
	job 'mount -t tmpfs -o size=4k none "$dir"; head -c 8k /dev/zero >"$dir/full" 2>&1' bandit
	job 'mount -t tmpfs -o ro none "$dir"' bandit
	job 'mount -t tmpfs -o ro none "$dir"' observe
}
