#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# Jobs as they are really started and cut: groups of ranks that overlap, communicators that come and go, launchers,
# threads, uneven nodes, tasks without NCCL, calls that never become a collective. In the simulated NCCL RING/SIMPLE is
# faster than NCCL believes, and across nodes NCCL picks TREE/SIMPLE: where tuning works, RING/SIMPLE is found.
bats_require_minimum_version 1.5.0
load ../lib/cluster

setup_file() {
	cluster_start_tuned 4 -n
}

setup() {
	out=$BATS_TEST_TMPDIR/out
	err=$BATS_TEST_TMPDIR/err
}

# job 'OPTION OF SRUN...' [option of nt-fake-nccl]...: what it printed is in $out and $err.
job() {
	local layout=$1
	shift
	# shellcheck disable=SC2086 # several words
	as_user srun $layout -t 20 --mpi=pmix "${TUNE---nccl-tune=bandit}" "$NT_TESTS/nt-fake-nccl" --sizes 256K \
		--noise none --arm RING/SIMPLE=0.4 --call-gap-us 100 "$@" >"$out" 2>"$err" ||
		{ tail -n 20 "$err"; return 1; }
	json '.mismatches == 0'
}

json() {
	jq -er "$1" "$out" >/dev/null || { printf '%s\n' "$1"; cat "$out" "$err"; return 1; }
}

# found COMM RANKS: that many ranks ended on RING/SIMPLE in communicators of that kind.
found() {
	json "[.keys[] | select(.comm == \"$1\")][0].arms[\"RING/SIMPLE\"] == $2"
}

# tried COMM...: ranks of such communicators ran another arm than NCCL's pick.
tried() {
	local comm
	for comm; do
		json "[.keys[] | select(.comm == \"$comm\")][0].forced > 0"
	done
}

# 1024: now and then it is looked whether the program sends.
done_measuring() {
	json '(.mask == 0 or .mask == 1024)'
}

@test "without tuning NCCL picks another arm, so the tests below can detect a difference" {
	TUNE=--nccl-tune=off job '-N2 --ntasks-per-node=4' --iters 20 --comms world,dp:4,split:bbaaaabb
	json '[.keys[].arms | keys[]] | unique == ["TREE/SIMPLE"]'
}

@test "tensor, data and pipeline groups at once" {
	job '-N2 --ntasks-per-node=4' --iters 12000 --more 60000 --settled --comms world,tp:4,dp:4,pp:2
	found world 8
	done_measuring
	# Times from start to start hold what the other groups do in between: no arm is expected, but each has tried.
	tried dp:4 pp:2
	job '-N4 --ntasks-per-node=2' --iters 12000 --more 60000 --settled --comms world,tp:2,dp:2,pp:4
	found world 8
	tried dp:2 pp:4
	done_measuring
}

@test "overlapping groups, each rank in a different order" {
	job '-N2 --ntasks-per-node=4' --iters 1000 --comms world,tp:4,dp:4,pp:4,rev:4 --interleave
	json '.calls == 5000'
	job '-N2 --ntasks-per-node=4' --iters 1000 --comms block:3@1,rev:8,split:ab-b,dp:2 --interleave --order shuffle \
		--sizes 64K,256K --sync never
	json '.calls > 5000'
}

@test "a group of ranks on a part of two nodes" {
	job '-N2 --ntasks-per-node=4' --iters 25000 --more 60000 --settled --comms split:bbaaaabb
	found split:bbaaaabb 8
	done_measuring
}

@test "LL128 is tried only if no rank of any node sees a risk" {
	local rank
	job '-N2 --ntasks-per-node=2' --iters 3000 --more 60000 --settled --ll128 --arm RING/LL128=0.1
	json '.keys[0].arms["RING/LL128"] == 4'
	for rank in 0 3; do
		job '-N2 --ntasks-per-node=2' --iters 3000 --more 60000 --settled --ll128 --arm RING/LL128=0.1 --env "NT_FAKE_ARM=%r:$rank"
		found world 4
		job '-N2 --ntasks-per-node=2' --iters 300 --ll128 --arm RING/LL128=0.1 --env "NT_FAKE_ARM=%r:$rank" --comms world,dp:2 \
			--churn 20
		json '[.keys[].arms | keys[]] | all(endswith("/LL128") | not)'
	done
}

@test "hundreds of communicators are created and destroyed, and the last one is tuned" {
	job '-N2 --ntasks-per-node=4' --iters 12000 --more 60000 --settled --comms tp:2,block:8,roll:3 --churn 2x120
	found block:8 8
	done_measuring
	job '-N2 --ntasks-per-node=4' --iters 400 --comms world,roll:4,dp:4 --churn 1 --interleave
	json '.calls == 1200'
}

@test "a communicator with the id of a destroyed one" {
	job '-N2 --ntasks-per-node=2' --iters 400 --comms world,roll:3,dp:2 --churn 2 --same-id
	job '-N2 --ntasks-per-node=2' --iters 900 --comms world,roll:2,dp:2 --churn 150 --same-id --interleave
	job '-N2 --ntasks-per-node=2' --iters 400 --comms world --churn 20 --same-id
}

@test "a launcher in each task that starts the ranks, as torchrun does" {
	job '-N2 --ntasks-per-node=1' --iters 12000 --more 60000 --settled --procs-per-task 4
	found world 8
	done_measuring
	job '-N4 --ntasks-per-node=1' --iters 12000 --more 60000 --settled --procs-per-task 2
	found world 8
	done_measuring
}

@test "launchers, with groups inside and across their nodes" {
	job '-N2 --ntasks-per-node=1' --iters 12000 --more 60000 --settled --procs-per-task 4 --comms world,tp:4,dp:4 --interleave
	found world 8
}

@test "one rank on each of four nodes" {
	job '-N4 --ntasks-per-node=1' --iters 12000 --more 60000 --settled
	found world 4
	done_measuring
}

@test "nodes with different numbers of ranks" {
	job '-N2 -n5' --iters 12000 --more 60000 --settled
	found world 5
	done_measuring
	job '-N3 -n7 -m cyclic' --iters 12000 --more 60000 --settled --comms world,tp:3
	found world 7
}

@test "tasks that never use NCCL" {
	job '-N2 --ntasks-per-node=4' --iters 12000 --more 60000 --settled --idle-tasks every:4 --idle-s 4
	found world 6
	done_measuring
	job '-N2 --ntasks-per-node=4' --iters 12000 --more 60000 --settled --idle-tasks 0,3
	json '.ranks == 6'
	job '-N4 --ntasks-per-node=2' --iters 1000 --idle-tasks 2,3,5
	json '.ranks == 5'
}

@test "several ranks in a process: one thread for each, or one for all" {
	job '-N2 --ntasks-per-node=1' --iters 12000 --more 60000 --settled --ranks-in-process 4
	found world 8
	done_measuring
	job '-N2 --ntasks-per-node=2' --iters 12000 --more 60000 --settled --ranks-in-process 2 --one-thread
	found world 8
	done_measuring
	job '-N2 --ntasks-per-node=1' --iters 600 --ranks-in-process 4 --one-thread --comms world,tp:2,dp:4 --churn 50
}

@test "decisions that no collective follows, on one rank or on all" {
	job '-N2 --ntasks-per-node=4' --iters 12000 --more 60000 --settled --simulate-on 5@3 --fail 4
	found world 8
	done_measuring
	job '-N2 --ntasks-per-node=4' --iters 1000 --simulate-on 2@1 --fail 7 --comms world,tp:2,dp:4 --interleave
	job '-N2 --ntasks-per-node=2' --iters 600 --probe --nccl 2.30.7 --comms world,dp:2 --interleave
	json '[.keys[].overridden] | add == 0'
}

@test "Broadcasts with different roots, decided as an AllGather without events" {
	job '-N2 --ntasks-per-node=2' --iters 12000 --more 60000 --settled --nccl 2.30.7 --allgatherv 5 --coll allreduce,allgather,broadcast
	json '[.keys[] | select(.coll == "Broadcast") | .overridden] == [0]'
	json '[.keys[] | select(.coll == "AllReduce")][0].arms["RING/SIMPLE"] == 4'
}

@test "communicators aborted while exploring, and new ones" {
	job '-N2 --ntasks-per-node=4' --iters 6000 --more 60000 --settled --abort-every 150x4
	found world 8
	job '-N2 --ntasks-per-node=4' --iters 600 --abort-every 40 --comms world,tp:4,dp:4 --interleave
	job '-N2 --ntasks-per-node=4' --iters 300 --abort --comms world,tp:4,dp:4
}
