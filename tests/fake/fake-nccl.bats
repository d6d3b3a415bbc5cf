#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# The simulated NCCL itself, with a plugin that does right or wrong as it is told: what would hang or crash a job must be loud.
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

# fake [option]...: four ranks on two nodes, short.
fake() {
	timeout -k 2 1000 "$FAKE" --fork 4 --nodes 2 --iters 10 --call-gap-us 20 --peer-timeout 60 "$@"
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
