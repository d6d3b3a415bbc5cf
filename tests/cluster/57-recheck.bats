#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# What was chosen is looked at again: an arm that has become slow is given up, one that has not stays, and neither costs
# many reads of other nodes' logs. Distances of seconds stand for those of minutes.
# shellcheck disable=SC2016 # expressions for the shell of the task
bats_require_minimum_version 1.5.0
load ../lib/cluster

setup_file() {
	cluster_start_tuned 4
}

setup() {
	out=$BATS_TEST_TMPDIR/out
	err=$BATS_TEST_TMPDIR/err
}

# job NODES RANKS_PER_NODE POLICY [option of nt-fake-nccl]...: what NCCL picks, TREE/SIMPLE, takes twice as long as it
# believes, some 3.5 ms; others 2.
job() {
	local nodes=$1 ranks=$2 policy=$3
	shift 3
	as_user srun -N"$nodes" --ntasks-per-node="$ranks" -t 20 --mpi=pmix --nccl-tune="$policy" \
		bash -c '[ "$SLURM_PROCID" != 0 ] || echo "$SLURM_JOB_ID" >&2; exec "$@"' - \
		"$NT_TESTS/nt-fake-nccl" --noise gaussian --sizes 4M --realtime 1 --arm TREE/SIMPLE=2 "$@" >"$out" 2>"$err"
}

job_number() {
	grep -m1 -xE '[0-9]+' "$err"
}

json() {
	jq -er "$1" "$out" >/dev/null || { printf '%s\n' "$1"; cat "$out" "$err"; return 1; }
}

# entry JOB: its one entry, as accounting has it.
entry() {
	wait_record "$1" && sacct_field "$1" admincomment | jq -c '.nccl_tune["0"] | to_entries[] |
		select(.key | test("r[0-9]+n$")) | .value["AllReduce 4M"]'
}

# recheck_until FILTER ITERS [option of nt-fake-nccl]...: a job whose entry, in $output, fits, in at most $took seconds. A
# busy machine takes its time for a recheck: again with more iterations.
recheck_until() {
	local filter=$1 iters=$2 began more
	shift 2
	for more in 1 4 16; do
		began=$SECONDS
		job 2 2 bandit,recheck=2 --iters $((iters * more)) "$@" || { cat "$err"; return 1; }
		took=$((SECONDS - began + 1))
		json '.mismatches == 0'
		run -0 entry "$(job_number)"
		! jq -e "$filter" <<<"$output" || return 0
	done
	echo "$output"
	return 1
}

@test "if NCCL's own pick becomes faster all ranks return to it" {
	recheck_until '.arm == "AUTO" and .rechecks >= 3' 22000 --arm TREE/SIMPLE=0.25@5000
	jq -e '.rollbacks == 1' <<<"$output"
	run -0 as_user "$NT_STAGE/bin/nccl-tune" report "$(job_number)"
	[[ $(tr -s ' \n' ' ' <<<"$output") = *"rolled back 1 time."* ]]
}

@test "a choice that is still faster stays" {
	recheck_until '.rechecks >= 2' 10000
	# Each comes after twice the time of the one before: after 2 s, 6 s, 14 s of however long it took.
	jq -e --argjson s "$took" '.arm != "AUTO" and .rollbacks == null and 2 * pow(2; .rechecks) - 2 <= $s' <<<"$output" ||
		{ echo "$output" "$took"; false; }
}

@test "without rechecks there are none" {
	job 2 2 bandit,recheck=0 --iters 4000 --more 60000 --settled || { cat "$err"; false; }
	json '.mismatches == 0 and (.mask == 0 or .mask == 1024)'	# a recheck may be on at the end of the others
	run -0 entry "$(job_number)"
	jq -e '.arm != "AUTO" and .rechecks == null' <<<"$output"
}
