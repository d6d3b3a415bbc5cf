#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# nccl-tune calibrate in batch jobs, with the simulated NCCL under made-up launch variables in place of nccl-tune-bench.
# shellcheck disable=SC2154 # bats sets stderr
bats_require_minimum_version 1.5.0
load ../lib/cluster

setup_file() {
	cluster_setup
	cluster_start 2 -p "$(nt_plugstack_line)"
	need_pmix
	export MADE=$NT_BASE/made
	mkdir -m 755 "$MADE"
	local best
	# The trace's sets are those of sockets-wide, sockets-many and sockets-4x4; sockets-medium is as the default.
	for best in wide threads none; do
		"$NT_TESTS/nt-launch-trace" --best "$best" --topology 2x1 --picks "$MADE/picks.csv" \
			--profile sockets=NCCL_SOCKET_NTHREADS=2+NCCL_NSOCKS_PERTHREAD=4 >"$MADE/$best.csv"
	done
	chmod -R a+rX "$MADE"
}

teardown_file() {
	cluster_stop
}

setup() {
	out=$NT_BASE/out.$BATS_TEST_NUMBER
	mkdir -m 777 "$out"
}

# fake TRACE [OPTION]...: the simulated NCCL's command.
fake() {
	echo "$NT_TESTS/nt-fake-nccl --trace $MADE/$1.csv,2x1 --auto-picks $MADE/picks.csv --launch-else none --call-gap-us 100 ${*:2}"
}

# calibrate [OPTION]... -- PROGRAM...: in a batch job of two nodes; its words are in $out/out and $out/err, its status in $rc.
calibrate() {
	rc=0
	{
		echo '#!/bin/bash'
		echo "export NCCL_TUNE_MEMORY=$out/memory"
		echo "$NT_STAGE/bin/nccl-tune calibrate $* >$out/out 2>$out/err </dev/null"
	} >"$out/job.sh"
	chmod 755 "$out/job.sh"
	NT_TIMEOUT_S=150 as_user sbatch --wait -N2 --ntasks-per-node=1 -t 5 -o "$out/log" "$out/job.sh" >/dev/null || rc=$?
	cat "$out/log" "$out/out" "$out/err" >&2
}

# The memory's entries, or what of them a filter says.
entries() {
	cat "$out"/memory/*.jsonl | jq -c "select(.profile) | ${1:-.}"
}

@test "the best profile is found by steps of the job, and remembered" {
	calibrate --time 90s -- "$(fake wide --sizes 64K,1M,16M --iters 500)"
	[ "$rc" = 0 ]
	grep -q 'launch profile sockets-wide (calibrated' "$out/out"
	false
}
