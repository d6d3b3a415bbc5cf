#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# Real steps with the traced plugin (tests/model/trace-atomics.h): what they do on shared memory and in the logs is what the
# model of the agreement allows.
# shellcheck disable=SC2034 # what kill_run reads and sets
bats_require_minimum_version 1.5.0
load ../lib/cluster
load ../kill/kill

setup_file() {
	cluster_setup
	make -s -C "${NT_BUILD:-$NT_TOP/build}" tests/model/nt-traced.so tests/model/nt-trace-check >"$BATS_FILE_TMPDIR/make" 2>&1 ||
		{ cat "$BATS_FILE_TMPDIR/make"; return 1; }
	export KILL_SETTLE_S=3
	mkdir -p "$NT_BASE/traced"
	cp "${NT_BUILD:-$NT_TOP/build}/tests/model/nt-traced.so" "$NT_BASE/traced/libnccl-tune.so"
	chmod -R a+rX "$NT_BASE/traced"
	cluster_start 8 -n -p "$(nt_plugstack_line "plugin=$NT_BASE/traced/libnccl-tune.so")"
	need_pmix
}

setup() {
	check=${NT_BUILD:-$NT_TOP/build}/tests/model/nt-trace-check
	trace=$NT_BASE/traced/trace.$BATS_TEST_NUMBER
	rm -f "$trace"
	"$check" --make "$trace"
	export NT_TRACE=$trace
}

# allowed FILTER: all of the trace is, and it has what the filter of jq says.
allowed() {
	local said rc=0
	said=$("$check" "$trace") || rc=$?
	echo "# $said"
	[ "$rc" = 0 ] && jq -e ".full == 0 and ($1)" <<<"$said"
}

explored='.transitions | .take > 0 and .look > 0 and .turn > 0 and .pass > 0 and .propose > 0 and .ack > 0 and .install > 0 and .data > 0'

@test "a job that explores and commits does what the model allows" {
	as_user srun -N2 --ntasks-per-node=2 -t 20 --mpi=pmix --nccl-tune=bandit "$NT_TESTS/nt-fake-nccl" --iters 3000 \
		--more 60000 --arm RING/SIMPLE=0.3 --sizes 256K --realtime 1 >"$BATS_TEST_TMPDIR/out" 2>&1 || { cat "$BATS_TEST_TMPDIR/out"; false; }
	allowed "($explored) and .transitions.commit > 0 and .transitions.settle > 0"
}

@test "a job that looks at its choice again does what the model allows" {
	as_user srun -N2 --ntasks-per-node=2 -t 20 --mpi=pmix --nccl-tune=bandit,recheck=1 "$NT_TESTS/nt-fake-nccl" --iters 4000 \
		--noise gaussian --sizes 4M --realtime 1 --arm TREE/SIMPLE=2 --arm TREE/SIMPLE=0.25@1500 \
		>"$BATS_TEST_TMPDIR/out" 2>&1 || { cat "$BATS_TEST_TMPDIR/out"; false; }
	allowed "($explored) and .transitions.recheck > 0 and .transitions.settle > 1"
}

@test "jobs that lose a rank, a node leader or the coordinator do what the model allows" {
	local target
	for target in rank speaker home; do
		rm -f "$trace"
		"$check" --make "$trace"
		kill_run on "$target" held 1 || :
		echo "# $(kill_values)"
		[ "$k_mismatches" = 0 ]
		allowed '.judged > 0 and .transitions.hold > 0'
	done
}
