#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# The network plugins and tuners of AWS and Google behind ours, by stand-ins that behave as theirs (vendor.c): what they
# choose is the baseline, what they set is told apart, and where one fails NCCL's own choice is used.
bats_require_minimum_version 1.5.0
load ../lib/policy

setup_file() {
	alone_environment
	export AWS=$BATS_FILE_TMPDIR/aws GOOGLE=$BATS_FILE_TMPDIR/google
	mkdir "$AWS" "$GOOGLE"
	cp "$TESTS/libnccl-net-ofi.so" "$AWS"
	ln -s libnccl-net-ofi.so "$AWS/libnccl-net.so"
	cp "$TESTS/nt-google-tuner.so" "$GOOGLE/libnccl-tuner.so"
	cp "$TESTS/nt-fastrak-net.so" "$GOOGLE/libnccl-net.so"
	echo 'what Google ships' >"$GOOGLE/tuner.textproto"
	printf '%s\n' NCCL_MIN_NCHANNELS=4 NCCL_BUFFSIZE=8388608 >"$GOOGLE/guest.textproto"
}

setup() {
	export NT_VENDOR_LOG=$BATS_TEST_TMPDIR/log
	mode=observe
}

# aws, google: their libraries, as NCCL finds them.
aws() {
	LD_LIBRARY_PATH=$AWS "$@"
}

google() {
	LD_LIBRARY_PATH=$GOOGLE "$@"
}

# tasks [option]...: four ranks on two nodes, a process each, with ours; in $mode, without PMIx.
tasks() {
	dir=$(mktemp -d "$BATS_TEST_TMPDIR/shm.XXXXXX")
	: >"$NT_VENDOR_LOG"
	NCCL_TUNE_POLICY=$(task_policy "$mode" "$dir") run -0 --separate-stderr timeout 1000 "$FAKE" --fork 4 --nodes 2 \
		--noise none --ll128 --call-gap-us 20 --sizes 1M --iters 60 "$@"
	jq -e '.mismatches == 0' <<<"$output"
	every '.end and (.counts | has("odd_tables") | not)'
}

# every FILTER: true of each record.
every() {
	jq -es "length == 4 and all($1)" <(rank_records "$dir") >/dev/null || { cat <(rank_records "$dir"); return 1; }
}

@test "AWS: its tuner's choice is the baseline, by each of its interfaces" {
	local release interface
	export NT_VENDOR_PLATFORM=p5 NCCL_NET_PLUGIN=ofi
	for release in 2.27.7:3 2.28.9:3 2.30.7:6 2.32.6:6; do
		interface=${release#*:}
		aws tasks --nccl "${release%:*}"
		jq -e '.keys[0].arm == "RING/LL128"' <<<"$output"
		every ".plugins.tuner == \"nccl_ofi_tuner (v$interface)\" and (.counts | has(\"chained_errors\") | not)"
		every 'all(.comms[].keys[]; .auto == "RING/LL128")'
		grep -q 'tuner init 4 on 2: region' "$NT_VENDOR_LOG"
	done
	grep -q 'tuner shortens chunks' "$NT_VENDOR_LOG"
}

@test "AWS: what its network plugin sets in its init is in force, and told apart from what the job sets" {
	export NT_VENDOR_PLATFORM=p5
	NCCL_BUFFSIZE=4194304 NCCL_NET_PLUGIN=ofi aws tasks
	grep -q '^net init, 2 set' "$NT_VENDOR_LOG"
	every '.variables | split(" ") | index("NCCL_BUFFSIZE=4194304") != null'
	every '.variables_inside == "NCCL_P2P_NET_CHUNKSIZE=524288 NCCL_NVLS_CHUNKSIZE=524288"'
	# Found by NCCL's default name; ours stays the tuner, and the fabric is by its name.
	aws tasks
	grep -q '^net init, 3 set' "$NT_VENDOR_LOG"
	every '.plugins.tuner == "nccl_ofi_tuner (v3)" and (.variables_inside | contains("NCCL_BUFFSIZE=8388608"))'
	NCCL_NET='AWS Libfabric' aws tasks
	every '.plugins.tuner == "nccl_ofi_tuner (v3)"'
}

@test "AWS: on a platform that it does not know, and for one node, NCCL's own choice is the baseline" {
	local own
	tasks
	own=$(jq -r '.keys[0].arm' <<<"$output")
	NCCL_NET_PLUGIN=ofi aws tasks
	jq -e --arg own "$own" '.keys[0].arm == $own' <<<"$output"
	every '.plugins.tuner == "nccl_ofi_tuner (v3)" and (.counts | has("chained_errors") | not)'
	grep -q "tuner init 4 on 2: NCCL's own" "$NT_VENDOR_LOG"
	# It is told the end, as by NCCL.
	[ "$(grep -c '^tuner end of nothing' "$NT_VENDOR_LOG")" = 4 ]
}

@test "AWS: a faster arm than its tuner's is found, and it keeps what it forces elsewhere" {
	export NT_VENDOR_PLATFORM=p5 NCCL_NET_PLUGIN=ofi
	mode=bandit
	aws tasks --sizes 16K,1M
	every 'all(.comms[].keys[]; (.bytes < 131072) == (.auto != "RING/LL128"))'
	# On one node its tuner says nothing.
	LD_LIBRARY_PATH=$AWS four_ranks '' --sizes 4M --arm TREE/SIMPLE=0.2 --more 60000
	jq -e '.keys[0].overridden > 0' <<<"$output"
	jq -es 'all(.[]; .plugins.tuner == "nccl_ofi_tuner (v3)")' <(rank_records "$dir")
}

@test "AWS: v2 leaves everything to NCCL where NCCL_ALGO or NCCL_PROTO is set" {
	export NT_VENDOR_PLATFORM=p5 NCCL_NET_PLUGIN=ofi
	NCCL_PROTO=Simple aws tasks --nccl 2.21.5
	grep -q 'tuner init 4 on 2: NCCL_ALGO or NCCL_PROTO' "$NT_VENDOR_LOG"
	aws tasks --nccl 2.21.5
	jq -e '.keys[0].arm == "RING/LL128"' <<<"$output"
}

@test "Google: its tuner's choice and channels are the baseline, by each of its interfaces" {
	local release
	export NCCL_TUNER_CONFIG_PATH=$GOOGLE/tuner.textproto
	for release in 2.24.3:4 2.27.7:4 2.28.9:5 2.32.6:5; do
		google tasks --nccl "${release%:*}"
		jq -e '.keys[0].arm | startswith("TREE/SIMPLE")' <<<"$output"
		every ".plugins.tuner == \"tcpxo tuner (v${release#*:})\" and (.counts | has(\"chained_errors\") | not)"
	done
	every '.fabric == "tcpx"'
}

@test "Google: its tuner fails without its file, alone with NCCL's communicator, behind ours without harm" {
	local own
	tasks
	own=$(jq -r '.keys[0].arm' <<<"$output")
	NCCL_TUNER_PLUGIN=$GOOGLE/libnccl-tuner.so NCCL_PROFILER_PLUGIN=none run -65 timeout 60 "$FAKE" --fork 4 --nodes 2 --iters 5
	google tasks
	jq -e --arg own "$own" '.keys[0].arm == $own' <<<"$output"
	every '.plugins.tuner == "plugfail:tuner:tcpxo tuner (v5):4" and .counts.chained_errors == 1'
	# It is asked nothing, and told no end.
	run -1 grep 'tuner end' "$NT_VENDOR_LOG"
	mode=bandit
	LD_LIBRARY_PATH=$GOOGLE four_ranks '' --sizes 4M --arm TREE/SIMPLE=0.2 --more 60000
	jq -e '.keys[0].overridden > 0' <<<"$output"
	run -0 "$SHOW" report --file <("$RECORD" step "$dir" bandit 2>/dev/null | jq -c '{nccl_tune: {v: 1, "0": .}}')
	[[ $(tr -s ' \n' ' ' <<<"$output") = *"Note: The job's own tuner plugin tcpxo tuner (v5) failed to start"* ]]
}

@test "Google: its checker of variables lets ours run, and stops what would run alone" {
	export NCCL_TUNER_CONFIG_PATH=$GOOGLE/tuner.textproto NCCL_NET=FasTrak
	export NCCL_SHIMNET_GUEST_CONFIG_CHECKER_CONFIG_FILE=$GOOGLE/guest.textproto
	NCCL_MIN_NCHANNELS=4 google tasks
	every '.fabric == "tcpx" and .plugins.tuner == "tcpxo tuner (v5)"'
	NCCL_MIN_NCHANNELS=8 google run -65 --separate-stderr timeout 60 "$FAKE" --fork 4 --nodes 2 --iters 5
	[[ $stderr = *"mismatch enforced: NCCL_MIN_NCHANNELS=8 (expected 4)"* ]]
}
