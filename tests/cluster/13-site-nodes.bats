#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# Nodes whose nccl-tune.conf differ: no rank ever differs from another for it. Each node has a file of its own mounted over
# the one that srun reads.
bats_require_minimum_version 1.5.0
load ../lib/cluster

setup_file() {
	cluster_setup
	unshare --mount true 2>/dev/null || skip "no mount namespaces to be had"
	export FILE=$NT_BASE/nccl-tune.conf
	local line
	line=$(nt_plugstack_line "conf=$FILE")
	site_file "$FILE.n1" '[site]'
	site_file "$FILE.n2" '[site]'
	cat >"$NT_BASE/own" <<-END
		#!/bin/sh
		mount=\$1
		shift
		exec unshare --mount --propagation private sh -c \
			'mount --bind "\$0" "$FILE" && exec "\$@"' "$FILE.\$mount" "\$@"
	END
	chmod 755 "$NT_BASE/own"
	cluster_start 2 -n -w "$NT_BASE/own %n" -p "$line"
	need_pmix
	export KEPT=$NT_CLUSTER/work/rank.json
}

setup() {
	out=$BATS_TEST_TMPDIR/out
	err=$BATS_TEST_TMPDIR/err
	site_file "$FILE" '[site]'
}

nodes() {
	site_file "$FILE.n1" '[site]' "$1"	# in place, since it is what is mounted
	site_file "$FILE.n2" '[site]' "$2"
}

# fake [OPTION...]: two ranks a node, until all is decided; RING/SIMPLE would be found fastest by far. Kept: the records of
# the first task.
fake() {
	as_user srun -N2 --ntasks-per-node=2 -t 20 --mpi=pmix --nccl-tune=bandit bash -c '"$@"; rc=$?
		[ "$SLURM_PROCID" != 0 ] || "$NT_TESTS/nt-record" list "${NCCL_TUNE_POLICY##*,shm=}" |
			jq -c "select(.task == 0)" >'"$KEPT"'
		exit $rc' - "$NT_TESTS/nt-fake-nccl" --arm RING/SIMPLE=0.4 --noise none --sizes 256K --iters 2000 \
		--more 120000 --settled --call-gap-us 100 "$@" >"$out" 2>"$err" || { cat "$err"; false; }
}

untouched() {
	jq -e '.mismatches == 0 and ([.keys[].overridden] | add) == 0' "$out" >/dev/null ||
		{ cat "$out" "$err"; return 1; }
}

@test "the same limits on both nodes: forbidden choices are never tried" {
	nodes '' ''
	fake
	jq -e '.mismatches == 0 and .keys[0].arm == "RING/SIMPLE" and .keys[0].overridden > 0' "$out"
	grep -q SIMPLE "$KEPT"
	nodes 'protocols = ll ll128' 'protocols = ll ll128'
	fake
	jq -e '.mismatches == 0 and .keys[0].arm != "RING/SIMPLE"' "$out"
	jq -e '[.. | strings | select(test("/LL"))] | length > 0' "$KEPT"
}

@test "one node forbids a protocol: all ranks stay with NCCL's choice, and the record names the difference" {
	nodes '' 'protocols = ll simple'
	fake
	untouched
	grep -q '"policy:' "$KEPT"
}

@test "a lock, a cap or another default on one node: the same" {
	local line
	for line in $'min_gain = 4\nlock = min_gain' 'max_calls = 500' 'calls_max = 500'; do
		nodes "$line" ''
		fake
		untouched
		grep -q '"policy:' "$KEPT"
	done
}

@test "one node is switched off, or has a broken file: the others stay with NCCL's choice, too" {
	nodes '' 'tuning = off'
	fake --more 0
	untouched
	nodes '' 'tuning = of'
	fake --more 0
	untouched
}

# measure: a step of two nodes in which nothing is tuned
measure() {
	as_user srun -N2 --ntasks-per-node=1 -t 20 --nccl-tune=observe,launch=default bash -c 'exec "$@" >/dev/null' - \
		"$NT_TESTS/nt-fake-nccl" --sizes 1M --iters 200
	wait_for 60 no_helpers
}

# in_memory FILTER: of all lines
in_memory() {
	cat "$NCCL_TUNE_MEMORY"/*.jsonl | jq -rs "$1"
}

@test "steps that only measure are remembered where all nodes have the same hardware, and not of others" {
	local cache
	export NCCL_TUNE_MEMORY=$NT_BASE/memory NCCL_TUNE_RECORD_DIR=$NT_BASE/records
	install -d -o "$NT_USER" "$NCCL_TUNE_MEMORY" "$NCCL_TUNE_RECORD_DIR"
	install -d "$NT_CLUSTER"/run/n{1,2}
	nodes "rundir = $NT_CLUSTER/run/n1" "rundir = $NT_CLUSTER/run/n2"
	measure
	[ "$(in_memory '[.[] | select(.host).host] | sort | join(" ")')" = "n1 n2" ]
	[ "$(in_memory '[.[] | select(.profile)] | length')" = 1 ]
	# The memory says that they are alike; a node has changed since.
	cache=$(echo "$NT_CLUSTER"/run/n2/fingerprint.*)
	sed -i '1s/.*/00000000deadbeef another/' "$cache"
	measure
	[ "$(in_memory '[.[] | select(.profile)] | length')" = 1 ]
}
