#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# Ranks that lack something, or differ: the job goes on, with NCCL's choice. 11 has nodes that lack something, 22 a slurmctld
# that is away, 70 and 80 what dies.
# shellcheck disable=SC2314 # expressions for the shell of the task; what bats sets; by default no more options; the last word of a function
bats_require_minimum_version 1.5.0
load ../lib/cluster

setup_file() {
	cluster_start_tuned 2
}

teardown_file() {
	cluster_check_and_stop
}

setup() {
	out=$BATS_TEST_TMPDIR/out
	err=$BATS_TEST_TMPDIR/err
}

fake() {
	as_user srun -N2 --ntasks-per-node=2 -t 20 --mpi=pmix --nccl-tune=bandit "$NT_TESTS/nt-fake-nccl" \
		--arm RING/SIMPLE=0.4 --noise none --sizes 256K --iters 4000 --more 120000 --settled --call-gap-us 100 "$@" >"$out" 2>"$err"
}

# The job ran to its end with nothing changed by us.
untouched() {
	jq -e '.mismatches == 0 and ([.keys[].overridden] | add) == 0' "$out" >/dev/null ||
		{ cat "$out" "$err"; return 1; }
}

@test "with everything in place the arm is found" {
	fake || { cat "$err"; false; }
	jq -e '.mismatches == 0 and .keys[0].arm == "RING/SIMPLE" and .keys[0].overridden > 0' "$out"
}

@test "one node cannot communicate: it has no libpmix" {
	as_user srun -N2 --ntasks-per-node=2 -t 20 --mpi=pmix --nccl-tune=bandit,join_timeout=1 bash -c \
		'[ "$SLURM_NODEID" = 0 ] || unset PMIX_NAMESPACE; exec "$@"' - "$NT_TESTS/nt-fake-nccl" \
		--arm RING/SIMPLE=0.4 --noise none --sizes 256K --iters 4000 --more 120000 --settled --call-gap-us 100 >"$out" 2>"$err" ||
		{ cat "$err"; false; }
	untouched
}

# pmix CODE ARGUMENTS SHELL: a job where SHELL is run in each task first ends well and prints nothing of ours; its record has
# the reason.
pmix() {
	local job
	as_user srun -N2 --ntasks-per-node=2 -t 20 --mpi=pmix --nccl-tune=bandit,join_timeout=1 bash -c \
		'[ "$SLURM_PROCID" != 0 ] || echo "job $SLURM_JOB_ID" >&2; '"$3"'; exec "$@"' - "$NT_TESTS/nt-fake-nccl" \
		--arm RING/SIMPLE=0.4 --noise none --sizes 256K --iters 4000 --more 120000 --settled --call-gap-us 100 >"$out" 2>"$err" ||
		{ echo "$3: exit status $?"; cat "$err"; return 1; }
	untouched
	job=$(sed -n 's/^job //p' "$err")
	run ! grep -vE '^(job|simulated NCCL|  world) ' "$err"
	wait_record "$job"
	run -0 as_user "$NT_STAGE/bin/nccl-tune" report --json "$job"
	jq -e --arg code "$1" --arg words "$2" 'any(.jobs[].steps[].untuned[]?; .why == $code and .text == $code + $words)' <<<"$output" ||
		{ echo "$output"; return 1; }
}

@test "a setting of PMIx that would crash it: no client is started, and the record names it" {
	pmix pmixunsafe ':PMIX_MCA_psec=none' 'export PMIX_MCA_psec=none'
	pmix pmixunsafe ':PMIX_MCA_psec=foo' '[ "$SLURM_NODEID" != 0 ] || export PMIX_MCA_psec=foo'
}

@test "a PMIx server that is gone is asked once" {
	pmix pmix ':UNREACHABLE' "export PMIX_SERVER_URI41='a.1;tcp4://127.0.0.1:1'"
}

@test "a container that makes the user root: the record says so" {
	as_user unshare --map-root-user true 2>/dev/null || skip "no namespaces for users here"
	pmix remap ":$(id -u "$NT_USER"):0" 'set -- unshare --map-root-user "$@"'
}

@test "a network namespace without interfaces: PMIx is not started, prints nothing, and the record says so" {
	as_user unshare --map-current-user --net true 2>/dev/null || skip "no namespaces for users here"
	pmix pmixnet '' 'set -- unshare --map-current-user --net "$@"'
}

@test "one rank has another policy: all stay with NCCL's choice and the record names it" {
	local job
	as_user srun -N2 --ntasks-per-node=2 -t 20 --mpi=pmix --nccl-tune=bandit bash -c \
		'[ "$SLURM_PROCID" != 0 ] || echo "$SLURM_JOB_ID" >&2
		[ "$SLURM_PROCID" != 3 ] || NCCL_TUNE_POLICY=${NCCL_TUNE_POLICY/min_gain=3/min_gain=6}; exec "$@"' - \
		"$NT_TESTS/nt-fake-nccl" --arm RING/SIMPLE=0.4 --noise none --sizes 256K --iters 4000 --more 120000 --settled --call-gap-us 100 \
		>"$out" 2>"$err" || { cat "$err"; false; }
	untouched
	job=$(grep -m1 -xE '[0-9]+' "$err")
	wait_record "$job"
	run -0 sacct_field "$job" admincomment
	jq -e '.nccl_tune["0"].why | any(test("policy:3:n2:"))' <<<"$output"
}

@test "one rank has no plugin: all stay with NCCL's choice" {
	as_user srun -N2 --ntasks-per-node=2 -t 20 --mpi=pmix --nccl-tune=bandit,join_timeout=1 bash -c \
		'[ "$SLURM_PROCID" != 2 ] || export NCCL_TUNER_PLUGIN=none NCCL_PROFILER_PLUGIN=none; exec "$@"' - \
		"$NT_TESTS/nt-fake-nccl" --arm RING/SIMPLE=0.4 --noise none --sizes 256K --iters 4000 --more 120000 --settled --call-gap-us 100 \
		>"$out" 2>"$err" || { cat "$err"; false; }
	untouched
}

@test "nothing of nccl-tune is left behind" {
	wait_for 10 nothing_left
}

nothing_left() {
	[ -z "$(find "$NT_CLUSTER/run/nccl-tune" -mindepth 1 -type d ! -name jobs 2>/dev/null)" ] &&
		! pgrep -f "nt-recordd .*$NT_CLUSTER/" >/dev/null
}
