#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# nccl-tune calibrate --compare-nodes in jobs of four nodes, on the simulated NCCL with slow nodes, NICs and results.
# shellcheck disable=SC2154 # bats sets stderr
bats_require_minimum_version 1.5.0
load ../lib/cluster

setup_file() {
	cluster_start_tuned 4
	export SIMULATED=$NT_TESTS/simulated
}

teardown_file() {
	cluster_check_and_stop
}

setup() {
	out=$NT_BASE/out.$BATS_TEST_NUMBER
	mkdir -m 777 "$out"
}

# compare TASKS [VARIABLE=VALUE]... -- [OPTION]...: in a job of four nodes with so many tasks each.
compare() {
	local tasks=$1 set=()
	shift
	while [ "$1" != -- ]; do
		set+=("$1")
		shift
	done
	as_user env LD_LIBRARY_PATH="$SIMULATED" NCCL_TUNE_MEMORY="$out/memory" "${set[@]}" salloc -Q -N4 --ntasks-per-node="$tasks" -t 60 \
		"$NT_STAGE/bin/nccl-tune" calibrate --compare-nodes --time 120s --quiet "${@:2}"
}

# summary [OPTION]...: what it says of nodes to the same user.
summary() {
	as_user env NCCL_TUNE_MEMORY="$out/memory" "$NT_STAGE/bin/nccl-tune" summary --nodes "$@"
}

@test "of four nodes with the same speed none is named" {
	run -0 --separate-stderr compare 1 -- --json
	jq -e '.v == 1 and .low == [] and (.compared | length) == 4 and .rounds >= 4 and .job > 0 and
		([.pairs[] | .place + "/" + .what] == ["between/latency", "between/bandwidth"]) and
		all(.pairs[]; .us > 0 and .predicted > 0)' <<<"$output"
	[ "$(cat "$out/memory/nodes.json")" = "$output" ]
	run -0 summary
	[[ $output = *'No node, GPU or NIC was found slower than its like.'* ]]
}

@test "a slow node is named, with its share, in text, JSON and the summary" {
	run -4 --separate-stderr compare 1 NT_SIM_LOW="n2@20" -- --output "$out/found"
	[[ $output =~ 'Slower than their like, or wrong:'.*'n2 '+'node '+'bandwidth '+'to others '+1\.2[0-9]*' +- ' ]]
	jq -e 'all(.low[]; .node == "n2" and .part == "node" and .sure and .p < 0.0002 and .expected == false) and
		any(.low[]; .what == "bandwidth" and .slower > 1.15 and .slower < 1.35)' "$out/found"
	[ ! -e "$out/memory/nodes.json" ]
	[ "$(wc -l <"$out/found")" = 1 ]
	run -0 summary --compared "$out/found"
	[[ $output = *$'\nn2 '* ]]
	run -0 summary --json --compared "$out/found"
	jq -e '.compared.low[0].node == "n2"' <<<"$output"
}

@test "a slow NIC is told from a slow GPU and from a slow node" {
	run -4 --separate-stderr compare 2 NT_SIM_LOW="n3:1@30/between" -- --json
	jq -e 'any(.low[]; .what == "bandwidth") and
		all(.low[]; .node == "n3" and .part == "nic" and .gpu == 1 and .place == "between")' <<<"$output"
	run -4 --separate-stderr compare 2 NT_SIM_LOW="n1@30/inside" -- --json
	jq -e 'any(.low[]; .what == "bandwidth") and all(.low[]; .node == "n1" and .place == "inside")' <<<"$output"
}

@test "a node with wrong results is named, and its times do not count" {
	run -4 --separate-stderr compare 1 NT_SIM_WRONG=3 -- --json
	jq -e '[.low[] | [.node, .what, .sure]] == [["n4", "results", true]]' <<<"$output"
}
