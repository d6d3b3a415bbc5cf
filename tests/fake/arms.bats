#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# The plugin and the simulated NCCL: arms with caps of channels, four ranks of one node.
# shellcheck disable=SC2086 # several words; what four_ranks sets
bats_require_minimum_version 1.5.0
load ../lib/policy

setup_file() {
	alone_environment
}

# A busy machine gets through more calls until all is decided.
readonly DECIDED='--more 60000'

# ranks CHANNELS [option]...: that setting of the policy, without a difference between ranks.
ranks() {
	four_ranks "channels=$1" "${@:2}"
}

# arm SIZE NAME: what calls of that size came to.
arm() {
	jq -e --arg size "$1" --arg arm "$2" '.keys[] | select(.bytes == ($size | tonumber)) | .arm == $arm' \
		<<<"$output" || { echo "$output"; return 1; }
}

@test "with channels=on a faster limit of channels is found" {
	ranks on $DECIDED --sizes 4M --arm RING/LL128/6ch=0.2
	arm 4194304 RING/LL128/6ch
	ranks off $DECIDED --sizes 4M --arm RING/LL128/6ch=0.2
	arm 4194304 RING/LL128
}

@test "ranks use the same channels, whatever one of them is asked alone" {
	ranks on --nccl 2.30.7 --channels 2 --sizes 1M,4M,64K --groups 3 --sync never --simulate-on 1@3 --fail 5 \
		--arm TREE/SIMPLE/1ch=0.1
	ranks on --nccl 2.30.7 --channels 4 --coll allreduce,allgather --sizes 1M,4M --simulate-on 2@3 --fail 7 \
		--allgatherv 5 --arm RING/SIMPLE=0.5 --arm RING/SIMPLE/2ch=0.4
	# Calls that fail may leave too few samples; without them arms are found.
	ranks on $DECIDED --nccl 2.30.7 --channels 4 --coll allreduce,allgather --sizes 1M,4M --simulate-on 2@3 \
		--allgatherv 5 --arm RING/SIMPLE=0.5 --arm RING/SIMPLE/2ch=0.4
	jq -e '[.keys[].overridden] | add > 500' <<<"$output"
}

@test "the record of the process that decided has every arm, and what NCCL has predicted of the chosen one" {
	ranks on $DECIDED --sizes 4M --arm TREE/SIMPLE=0.5 --arm TREE/SIMPLE/12ch=2
	arm 4194304 TREE/SIMPLE
	jq -e '.explored[0] | .auto == "RING/LL128" and .arm == "TREE/SIMPLE" and (.arms | length) >= 8 and
		([.arms[] | select(.arm == "TREE/SIMPLE/12ch")] | length) == 1' <(rank_records "$dir" | jq -c "select(.task == 0)")
}
