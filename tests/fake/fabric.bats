#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# Which network the plugin recognises, by the name of NCCL's network plugin and by what NCCL allows within a node; and what the
# record says of NCCL's variables. What follows from devices is in unit/platform.
bats_require_minimum_version 1.5.0
load ../lib/policy

setup_file() {
	alone_environment
}

# ranks [option]...: four, in $dir, for some calls.
ranks() {
	mode=observe four_ranks '' --sizes 1M --iters 40 "$@"
}

# with NAME [option]...: across nodes, with a network plugin that calls its network so.
with() {
	NCCL_NET_PLUGIN=$TESTS/libnccl-net-fake.so NT_FAKE_NET=$1 ranks --nodes 2 "${@:2}"
}

# every FILTER: true of each record.
every() {
	jq -es "length > 0 and all($1)" <(rank_records "$dir") >/dev/null || { cat <(rank_records "$dir"); return 1; }
}

@test "the name of the network plugin tells the fabric, and one that is not known is none" {
	with FasTrak
	every '.fabric == "tcpx"'
	with GPUDirectTCPX_v7
	every '.fabric == "tcpx"'
	with 'Some fabric'
	every '.fabric == "any"'
	with ''
	every '.fabric == "any"'
	# The environment comes first.
	NCCL_NET=Socket with FasTrak
	every '.fabric == "socket"'
	NCCL_NET=IB with FasTrak
	every '.fabric == "ib"'
	NCCL_IB_DISABLE=1 NCCL_NET_PLUGIN=none ranks --nodes 2
	every '.fabric == "socket"'
}

@test "sockets that may be encrypted are a fabric of their own, from NCCL 2.32 on" {
	ldconfig -p | grep -q 'libssl\.so\.3 ' || skip "there is no OpenSSL 3"
	export NCCL_NET=Socket
	ranks --nodes 2 --nccl 2.32.6 --tls
	every '.fabric == "tls"'
	ranks --nodes 2 --nccl 2.32.6
	every '.fabric == "socket"'
	ranks --nodes 2 --nccl 2.31.2 --tls
	every '.fabric == "socket"'
	NCCL_NET=IB ranks --nodes 2 --nccl 2.32.6 --tls
	every '.fabric == "ib"'
	# What was measured without it is not used with it.
	NCCL_TUNE_WARM='v=1 nccl=23206 fabric=socket fingerprint=0000000000000001 4r2n.AllReduce.1048576=TREE/SIMPLE' \
		mode=policy four_ranks '' --nodes 2 --nccl 2.32.6 --tls --sizes 1M --iters 40
	every '.warm.refused | contains("fabric")'
}

@test "on one node it is pcie where NCCL allows no LL128, and else there is none" {
	NCCL_NET=Socket ranks --nodes 1 --no-nvlink
	every '.fabric == "pcie"'
	NCCL_NET=Socket ranks --nodes 1
	every '.fabric == "any"'
	NCCL_NET=Socket ranks --nodes 2 --no-nvlink
	every '.fabric == "socket"'
}

@test "the record has the variables in force, and tells those that were set within the process" {
	NCCL_MIN_NCHANNELS=4 NT_FAKE_NET_SETS=NCCL_BUFFSIZE=8388608 with Libfabric
	every '(.variables | split(" ") | contains(["NCCL_MIN_NCHANNELS=4"])) and .variables_inside == "NCCL_BUFFSIZE=8388608"'
	# What a profile or the user has set the plugin leaves alone.
	NCCL_BUFFSIZE=4194304 NT_FAKE_NET_SETS=NCCL_BUFFSIZE=8388608 with Libfabric
	every '(.variables | contains("NCCL_BUFFSIZE=4194304")) and .variables_inside == null'
}
