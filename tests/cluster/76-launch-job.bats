#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# launch=auto over the steps of jobs, from a memory that knows nothing: when a step's tasks calibrate, on how many ranks, what
# later steps get, and what is said of it. The simulated NCCL's times depend on the variables of launch profiles.
# shellcheck disable=SC2016,SC2154 # expressions for the shell of the job; what bats sets
bats_require_minimum_version 1.5.0
load ../lib/cluster

setup_file() {
	cluster_setup
	export MADE=$NT_BASE/made
	mkdir -m 755 "$MADE"
	cat >"$MADE/profiles.conf" <<-'END'
		[wide]
		fabric = socket
		NCCL_MIN_NCHANNELS = 8
		NCCL_SOCKET_NTHREADS = 2
		NCCL_NSOCKS_PERTHREAD = 4
	END
	# A program as its user starts it: one task a node, its own launcher starts the ranks.
	cat >"$MADE/train.sh" <<-END
		#!/bin/bash
		exec "$NT_STAGE/bin/nccl-tune-bench" --procs-per-task "\${RANKS:-1}" --sizes "\${SIZES:-16M,64M}" --iters "\${ITERS:-100}" \\
			--rendezvous "$NT_CLUSTER/work" --stall 60
	END
	chmod 755 "$MADE/train.sh"
	chmod a+r "$MADE"/*
	cluster_start 2 -p "$(nt_plugstack_line "profiles=$MADE/profiles.conf" "$@")"
	need_pmix
	export LD_LIBRARY_PATH=$NT_TESTS/simulated
}

setup() {
	rm -rf "$NT_CLUSTER/work/.local"
	said=$NT_CLUSTER/work/lines
}

# job MINUTES LINE...: a batch job of these lines of shell; what srun and the tasks said is in $said
job() {
	local minutes=$1
	shift
	{ echo '#!/bin/bash'; printf '%s\n' "$@"; } >"$NT_CLUSTER/work/job"
	id=$(as_user sbatch --parsable -W -N2 --ntasks-per-node=1 -t "$minutes" -o "$said" "$NT_CLUSTER/work/job") ||
		{ cat "$said"; return 1; }
}

auto='srun -v --mpi=pmix --nccl-tune=bandit,launch=auto'
by_site='SLURM_NCCL_TUNE=bandit,launch=auto srun -v --mpi=pmix'

# chosen N PROFILE: with what the Nth step with a choice ran
chosen() {
	[ "$(jq -r --arg n "$1" '.jobs[0].steps[] | select(.name == $n) | .launch' "$NT_CLUSTER/work/report.json")" = "$2" ] ||
		{ cat "$said" "$NT_CLUSTER/work/report.json"; return 1; }
}

report() {
	as_user "$NT_STAGE/bin/nccl-tune" report --json "$id" >"$NT_CLUSTER/work/report.json"
}

@test "typed: the first step calibrates, once a job, and the next one uses what it found" {
	job 300 "$auto,calibrate=60 $MADE/train.sh" "$auto $MADE/train.sh" "$auto,calibrate=60 -N2 -n2 true"
	[ "$(grep -c 'measuring launch profiles for at most' "$said")" = 1 ] || { cat "$said"; return 1; }
	report
	chosen 0 wide
	chosen 1 wide
	jq -e '.jobs[0].steps[0] | .calibration_s > 1 and .calibration_ranks == 2 and .calibration_gain > 1.2' "$NT_CLUSTER/work/report.json"
	as_user "$NT_STAGE/bin/nccl-tune" report "$id" | grep 'launch profiles were measured for'
}

@test "the ranks are those of the program: two in each task" {
	job 300 'export RANKS=2 NT_SIM_GPUS=2' "$auto,calibrate=60 $MADE/train.sh" "$auto $MADE/train.sh"
	report
	jq -e '.jobs[0].steps[0].calibration_ranks == 4 and .jobs[0].steps[0].per_node == 2' "$NT_CLUSTER/work/report.json"
	chosen 1 wide
}

@test "a default of the site: nothing before a program is known, then its own calls on its own ranks" {
	job 3000 'export RANKS=2 NT_SIM_GPUS=2' "$by_site hostname" "$by_site true" "$by_site $MADE/train.sh"
	run ! grep 'measuring launch profiles' "$said"
	report
	as_user "$NT_STAGE/bin/nccl-tune" report "$id" | tr '\n' ' ' | grep -q 'The next step of train.sh here calibrates for about'
	chosen 2 default
	job 3000 'export RANKS=2 NT_SIM_GPUS=2' "$by_site hostname" "$by_site $MADE/train.sh"
	[ "$(grep -c 'measuring launch profiles' "$said")" = 1 ] || { cat "$said"; return 1; }
	report
	chosen 1 wide
	jq -e '.jobs[0].steps[-1] | .calibration_ranks == 4 and .calibration_s > 0' "$NT_CLUSTER/work/report.json"
	job 3000 'export RANKS=2 NT_SIM_GPUS=2' "$by_site $MADE/train.sh"
	run ! grep 'measuring launch profiles' "$said"
	report
	chosen 0 wide
}

@test "little time left, calibrate=off, another launch and uneven tasks: the reason is given" {
	job 5 "$auto $MADE/train.sh"
	grep 'not calibrated: it would take over 1 % of the time that the job has left' "$said"
	run ! grep 'measuring launch profiles' "$said"
	job 300 "$auto,calibrate=off $MADE/train.sh"
	grep 'not calibrated: calibrate=off' "$said"
	run ! grep 'measuring launch profiles' "$said"
	job 300 "srun -v -O -N2 -n3 --mpi=pmix --nccl-tune=bandit,launch=auto true"
	grep "not calibrated: the step's tasks are not spread evenly over its nodes" "$said"
	job 300 "NCCL_PROTO=Simple $auto $MADE/train.sh"
	grep 'not calibrated: NCCL_ALGO or NCCL_PROTO is set' "$said"
}

@test "of several jobs of a user that start at once one calibrates, and the others say which" {
	{ echo '#!/bin/bash'; echo "$auto,calibrate=60 $MADE/train.sh"; } >"$NT_CLUSTER/work/job"
	as_user sbatch -W --array=1-2 -N2 --ntasks-per-node=1 -c1 -s --mem=0 -t 300 -o "$NT_CLUSTER/work/array.%a" "$NT_CLUSTER/work/job" || :
	cat "$NT_CLUSTER"/work/array.[12] >"$said"
	[ "$(grep -c 'measuring launch profiles' "$said")" = 1 ] || { cat "$said"; return 1; }
	grep -E 'is calibrating such nodes|were measured|were calibrated|launch profile wide' "$said"
}
