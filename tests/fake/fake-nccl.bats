#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# The simulated NCCL itself, with a plugin that does right or wrong as it is told: what NCCL would do must
# happen here, and what would hang or crash a job must be loud.
bats_require_minimum_version 1.5.0

setup_file() {
	export NT_STAGE=${NT_STAGE:-$BATS_TEST_DIRNAME/../../build/stage}
	export FAKE=$NT_STAGE/libexec/nccl-tune/tests/nt-fake-nccl
	export PLUGIN=$NT_STAGE/libexec/nccl-tune/tests/nt-fake-plugin.so
	export TRACES=$BATS_TEST_DIRNAME/../traces
	local name
	for name in $(compgen -e); do
		case $name in
		SLURM*|NCCL*|NT_FAKE*) unset "$name" ;;
		esac
	done
	export NCCL_TUNER_PLUGIN=$PLUGIN NCCL_PROFILER_PLUGIN=$PLUGIN
}

setup() {
	counts=$BATS_TEST_TMPDIR/counts
}

# Events wanted: Group, Coll, KernelCh, GroupApi, CollApi, KernelLaunch.
readonly ALL_EVENTS=0xb43

# fake [option]...: four ranks on two nodes, short.
fake() {
	timeout -k 2 1000 "$FAKE" --fork 4 --nodes 2 --iters 10 --call-gap-us 20 --peer-timeout 60 "$@"
}

# counted [option]...: with all events and their counters.
counted() {
	NT_FAKE_EVENTS=$ALL_EVENTS NT_FAKE_COUNTS=$counts fake "$@"
}

# every_line PATTERN: each rank's counters match.
every_line() {
	[ -s "$counts" ]
	run -1 grep -vE "$1" "$counts"
}

json() {
	jq -er "$1" <<<"$output" >/dev/null || { printf '%s\n' "$1" "$output" >&2; return 1; }
}

@test "ranks that choose differently stop the job, and every rank says so" {
	NT_FAKE_PLUGIN=odd:3:17:RING/LL run -70 fake
	[ "$(grep -c 'MISMATCH comm .* seq .*rank 3 RING/LL' <<<"$output")" = 4 ]
	NT_FAKE_PLUGIN=odd:3:17:RING/LL run -70 fake --sync never
	NT_FAKE_PLUGIN=odd:3:17:RING/LL run -70 fake --groups 4
	NT_FAKE_PLUGIN=odd:3:17:RING/LL run -70 fake --capture 2x3
	NT_FAKE_PLUGIN=odd:1:5:RING/LL run -70 fake --comms world+node
}

@test "the difference is also found without new connections" {
	# TREE/LL uses what TREE/SIMPLE has connected.
	NT_FAKE_PLUGIN=odd:2:30:TREE/LL run -70 fake
	[[ $output = *"rank 2 TREE/LL x"* ]]
}

@test "a difference only in channels or in chunks is found" {
	NT_FAKE_PLUGIN=odd-channels:2:1 run -70 fake --sizes 4M
	[[ $output = *"MISMATCH"*"rank 2 TREE/SIMPLE x1/"* ]]
	NT_FAKE_PLUGIN=odd-chunk:2:65536 run -70 fake --nccl 2.30.7
	[[ $output = *"MISMATCH"*"rank 2 "*"/65536 AllReduce"* ]]
	NT_FAKE_PLUGIN=odd-chunk:2:65536 run -0 fake # is not asked
	NT_FAKE_PLUGIN=channels:1 run -0 fake
}

# plays RELEASE TUNER PROFILER
plays() {
	NT_FAKE_PLUGIN=arm:RING/SIMPLE run -0 --separate-stderr fake --nccl "$1" \
		--expect-arm AllReduce:256K=RING/SIMPLE
	json ".tuner == $2 and .profiler == $3 and .forced == .calls"
}

@test "each release uses the newest interface that it knows" {
	plays 2.21.5 2 0
	plays 2.22.3 3 0
	plays 2.24.3 4 0
	plays 2.26.2 4 0
	plays 2.27.7 4 4
	plays 2.28.9 5 5
	plays 2.30.7 6 6
	plays 2.31.2 6 7
	plays 2.32.6 7 7
}

@test "events are complete and in order for each release" {
	run -0 counted
	every_line 'decisions 40 bad 0 0x1 40/40 0x2 40/40 0x40 80/80 0x100 40/40 0x200 40/40 0x800 40/40$'
	: >"$counts"
	run -0 counted --nccl 2.27.7
	every_line 'decisions 40 bad 0 0x1 40/40 0x2 40/40 0x40 80/80$'
}

@test "from 2.31 on NCCL asks for symmetric kernels first, counts and reports them" {
	run -0 counted --symmetric 2 --nccl 2.31.2
	every_line 'decisions 40 bad 0 0x1 40/40 0x2 40/40 0x40 60/60 0x100 40/40 0x200 40/40 '
	: >"$counts"
	# With nothing legal, then with no task, then for itself.
	run -0 counted --probe --nccl 2.32.6
	every_line 'decisions 120 bad 0 0x1 40/40 0x2 40/40 '
	: >"$counts"
	NT_FAKE_PLUGIN=arm:RING/LL run -0 counted --probe --nccl 2.32.6
	every_line 'decisions 80 bad 0 0x1 40/40 0x2 40/40 '
	: >"$counts"
	run -0 counted --probe-on 2@4 --nccl 2.32.6
	[ "$(grep -c 'rank 2 .* decisions 60 bad 0 0x1 40/40 ' "$counts")" = 1 ]
	[ "$(grep -c ' decisions 40 bad 0 0x1 40/40 ' "$counts")" = 3 ]
	NT_FAKE_PLUGIN=raise run -69 fake --symmetric 2 --nccl 2.32.6
}

@test "RAS sets the event mask on one rank after the other, and again after each init" {
	run -0 counted --ras 0x2@20 --nccl 2.32.6
	# Rank 0's 20th call is the first without kernel times, rank 3's the 23rd.
	grep -q 'rank 0 .* 0x2 40/40 0x40 38/38 ' "$counts"
	grep -q 'rank 3 .* 0x2 40/40 0x40 44/44 ' "$counts"
	: >"$counts"
	run -0 counted --ras 0@20 --comms world,roll:2 --churn 5 --iters 20 --nccl 2.32.6
	[ "$(grep -c ' 0x2 ' "$counts")" -lt "$(wc -l <"$counts")" ]
}

@test "each kind of crash of NCCL is distinguished" {
	NT_FAKE_PLUGIN=init-error run -65 fake
	[[ $output = *"ncclCommInitRank fails"* ]]
	NT_FAKE_PLUGIN=decide-error run -65 fake
	NT_FAKE_PLUGIN=raise run -69 fake
	[[ $output = *"raised NVLS_TREE/SIMPLE, which is not legal"* ]]
	NT_FAKE_PLUGIN=underrun run -69 fake
	NT_FAKE_PLUGIN=channels:65 run -69 fake
	NT_FAKE_PLUGIN=channels:-1 run -69 fake
	NT_FAKE_PLUGIN=no-handle NT_FAKE_EVENTS=2 run -69 fake
	NT_FAKE_PLUGIN=chunk-zero run -69 fake --nccl 2.30.7
	NT_FAKE_PLUGIN=overrun run -139 fake
	NT_FAKE_PLUGIN=raise run -69 fake --nccl 2.21.5
}

@test "peers that disappear" {
	run -67 fake --kill 1@9 --peer-timeout 8
	[[ $output = *"waited 8 s in a collective for rank(s) 1 "* ]]
	run -67 fake --exit 1@9 --peer-timeout 8
}

@test "an expectation that is not met" {
	run -0 fake --expect-arm AllReduce:64K=AUTO
	run -68 fake --expect-arm AllReduce:64K=RING/LL
	run -68 fake --expect-arm AllReduce:96K=AUTO
}

@test "Broadcasts with different roots are decided as an AllGather without events" {
	run -0 counted --nccl 2.30.7 --allgatherv 10
	every_line 'decisions 44 bad 0 0x1 40/40 0x2 40/40 .* 0x200 5[0-9]/5[0-9]'
	: >"$counts"
	run -0 counted --nccl 2.30.7 --coll broadcast
	every_line 'decisions 40 bad 0 0x100 40/40 0x200 40/40'
	: >"$counts"
	NCCL_ALLGATHERV_ENABLE=0 run -0 counted --nccl 2.30.7 --coll broadcast
	every_line 'decisions 40 bad 0 0x1 40/40 0x2 40/40'
}
