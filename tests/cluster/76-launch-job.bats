#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# launch=auto over the steps of jobs, from a memory that knows nothing: when a step's tasks calibrate, on how many ranks, what
# later steps get, and what is said of it. The simulated NCCL's times depend on the variables of launch profiles.
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

report() {
	as_user "$NT_STAGE/bin/nccl-tune" report --json "$id" >"$NT_CLUSTER/work/report.json"
}

# step N EXPRESSION: of what the report says of step N
step() {
	report && jq -e --arg n "$1" ".jobs[0].steps[] | select(.step == \$n) | $2" "$NT_CLUSTER/work/report.json" >/dev/null ||
		{ cat "$said" "$NT_CLUSTER/work/report.json"; return 1; }
}

measured() {
	[ "$(grep -c 'measuring launch profiles for at most' "$said")" = "$1" ] || { cat "$said"; return 1; }
}

# chosen N: the last job's step N has the profile that is faster. Measuring on a busy machine may not show it.
chosen() {
	step "$1" '.launch == "wide"' >/dev/null
}

# again CMD: until it succeeds, three times at most, each with nothing remembered
again() {
	for _ in 1 2; do
		! "$@" || return 0
		rm -rf "$NT_CLUSTER/work/.local"
	done
	"$@"
}

typed() {
	job 300 "$auto,calibrate=60 $MADE/train.sh" "$auto $MADE/train.sh" "$auto,calibrate=60 -N2 -n2 true" && chosen 1
}

@test "typed: the first step calibrates, once a job, and the next one uses what it found" {
	again typed
	measured 1
	# The first one's calls were not known yet: it may have kept NCCL's own settings.
	step 0 '.calibration_s > 1 and .calibration_ranks == 2 and .calibration_gain >= 1'
	step 1 '.expected > 1.2 and (.calibration_s | not)'
	as_user "$NT_STAGE/bin/nccl-tune" report "$id" | tr -s ' \n' ' ' | grep 'Calibration before step 0: .* on 2 ranks'
	# The profile's variables are not taken for the user's own, which no profile may change.
	job 300 "$auto,calibrate=60 $MADE/train.sh"
	grep 'launch profile wide' "$said"
	! grep 'there is no launch profile for its network' "$said"
}

two_ranks() {
	job 300 'export RANKS=2 NT_SIM_GPUS=2' "$auto,calibrate=60 $MADE/train.sh" "$auto $MADE/train.sh" && chosen 1
}

@test "the ranks are those of the program: two in each task" {
	again two_ranks
	measured 1
	step 0 '.calibration_ranks == 4 and .per_node == 2'
}

by_site() {
	job 3000 'export RANKS=2 NT_SIM_GPUS=2' "$by_site hostname" "$by_site true" "$by_site $MADE/train.sh"
	measured 0 || return 1
	cp "$NT_CLUSTER/work/lines" "$NT_CLUSTER/work/first"
	first=$id
	job 3000 'export RANKS=2 NT_SIM_GPUS=2' "$by_site hostname" "$by_site $MADE/train.sh"
	measured 1 && chosen 1
}

@test "a default of the site: nothing before a program is known, then its own calls on its own ranks" {
	again by_site
	[ "$(grep -c 'not calibrated: its program has not run here yet' "$NT_CLUSTER/work/first")" = 3 ]
	as_user "$NT_STAGE/bin/nccl-tune" report "$first" | tr -s ' \n' ' ' |
		grep 'The next step of train.sh here calibrates for about'
	step 1 '.calibration_ranks == 4 and .calibration_s > 0'
	job 3000 'export RANKS=2 NT_SIM_GPUS=2' "$by_site $MADE/train.sh"
	measured 0
	grep 'launch profile wide (calibrated ' "$said"
	chosen 0
}

@test "little time left, calibrate=off, another launch and uneven tasks: the reason is given" {
	job 5 "$auto $MADE/train.sh"
	grep 'not calibrated: it would take over 1 % of the time that the job has left' "$said"
	measured 0
	job 300 "$auto,calibrate=off $MADE/train.sh"
	grep 'not calibrated: calibrate=off' "$said"
	measured 0
	job 300 "srun -v -O -N2 -n3 --mpi=pmix --nccl-tune=bandit,launch=auto true"
	grep 'not calibrated: its 3 tasks are not spread evenly over 2 nodes' "$said"
	job 300 "NCCL_PROTO=Simple $auto $MADE/train.sh"
	grep 'not calibrated: NCCL_ALGO or NCCL_PROTO is set' "$said"
}

@test "of several jobs of a user that start at once one calibrates, and the others say which" {
	{ echo '#!/bin/bash'; echo "$auto,calibrate=60 $MADE/train.sh"; } >"$NT_CLUSTER/work/job"
	as_user sbatch -W --array=1-2 -N2 --ntasks-per-node=1 -c1 -s --mem=0 -t 300 -o "$NT_CLUSTER/work/array.%a" "$NT_CLUSTER/work/job" || :
	cat "$NT_CLUSTER"/work/array.[12] >"$said"
	measured 1
	grep -E 'is calibrating such nodes|were measured|were calibrated|launch profile wide' "$said"
}

# NT_SIM_FAIL=1: rank 1 cannot make its communicator; the program itself runs without it.
@test "a calibration that fails costs its job nothing more, and no other one tries for an hour" {
	job 300 'export NT_SIM_FAIL=1' "$auto,calibrate=60 env -u NT_SIM_FAIL $MADE/train.sh"
	grep 'the benchmark failed' "$said"
	step 0 '.launch == "default" and (.calibration_why | test("the benchmark failed"))'
	job 300 "$auto $MADE/train.sh"
	grep -E "not calibrated: job [0-9]+ failed to calibrate such nodes; the next try is in" "$said"
	measured 0
}
