#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# A second profiler and a second tuner, alone and behind ours: they are told the same, event by event. Their logs are
# compared whole; only how many channels a collective has, and so its KernelCh events, is another arm's business.
bats_require_minimum_version 1.5.0
load ../lib/policy

setup_file() {
	local name
	export NT_STAGE=${NT_STAGE:-$BATS_TEST_DIRNAME/../../build/stage}
	export TESTS=$NT_STAGE/libexec/nccl-tune/tests OURS=$NT_STAGE/lib/nccl-tune/libnccl-tune.so
	for name in $(compgen -e); do
		case $name in
		SLURM*|NCCL*|NT_FAKE*|NT_CHAIN*) unset "$name" ;;
		esac
	done
	# Group, Coll, KernelCh, GroupApi, CollApi, KernelLaunch.
	export NT_CHAIN_MASK=0xb43
}

setup() {
	scratch=$BATS_TEST_TMPDIR kind=new mode=observe form=(--fork 4 --nodes 2)
}

# fake [option]...: short, with the plugins of the environment.
fake() {
	timeout -k 2 1000 "$TESTS/nt-fake-nccl" "${form[@]}" --iters 40 --call-gap-us 20 --peer-timeout 60 "$@" >"$scratch/out" 2>"$scratch/err" || { cat "$scratch/err"; return 1; }
}

policy() {
	task_policy "$mode" "$scratch/step" screen_blocks=2 confirm_blocks=8 min_calls=2 join_timeout=5 agree_timeout=20
}

alone() {
	local plugin=$TESTS/nt-chain-$kind.so
	NT_CHAIN_LOG=$scratch/alone NCCL_TUNER_PLUGIN=$plugin NCCL_PROFILER_PLUGIN=$plugin fake "$@"
}

behind() {
	local plugin=$TESTS/nt-chain-$kind.so
	rm -rf "$scratch/step"
	mkdir -m 700 "$scratch/step"
	NT_CHAIN_LOG=$scratch/behind NCCL_TUNE_CHAINED_TUNER=$plugin NCCL_TUNE_CHAINED_PROFILER=$plugin \
		NCCL_TUNER_PLUGIN=$OURS NCCL_PROFILER_PLUGIN=$OURS NCCL_TUNE_POLICY=$(policy) fake "$@"
	run -1 grep -E 'FOREIGN|never given' "$scratch/behind"
	[ -n "$(rank_records "$scratch/step")" ] # ours was awake
}

# same [option]...: both runs, the same lines. what: of the sorted logs.
same() {
	rm -f "$scratch"/{alone,behind}
	alone "$@"
	behind "$@"
	[ -s "$scratch/alone" ]
	diff <(sort "$scratch/alone") <(sort "$scratch/behind") | head -n 20
	cmp <(sort "$scratch/alone") <(sort "$scratch/behind")
}

# explored [option]...: both runs, ours first, until all is decided, however busy the machine is; what it printed is in $told.
explored() {
	rm -f "$scratch"/{alone,behind}
	behind "$@" --iters 2000 --more 60000 --settled
	told=$(<"$scratch/out")
	jq -e '.mismatches == 0 and .keys[0].overridden > 20' <<<"$told"
	alone "$@" --iters "$(jq '.keys[0].calls' <<<"$told")"
}

# Without the events of channels.
same_but_channels() {
	rm -f "$scratch"/{alone,behind}
	alone "$@"
	behind "$@"
	but_channels
}

but_channels() {
	[ "$(grep -vc ' 0x40/' "$scratch/alone")" -gt 0 ]
	cmp <(grep -v ' 0x40/' "$scratch/alone" | sort) <(grep -v ' 0x40/' "$scratch/behind" | sort)
}

# Each KernelCh event that began in the log named its Coll, had its state, and ended.
channels_are_whole() {
	local log
	for log in "$scratch"/{alone,behind}; do
		run -1 grep -E ' start 0x40/[0-9]+:[0-9]+ in -' "$log"
		[ "$(grep -c ' start 0x40/' "$log")" -gt 0 ]
		cmp <(sed -n 's/ start \(0x40[^ ]*\) .*/ \1/p' "$log" | sort) <(sed -n 's/ stop 0x40/ 0x40/p' "$log" | sort)
		cmp <(sed -n 's/ state \(0x40[^ ]*\) 22$/ \1/p' "$log" | sort) <(sed -n 's/ stop 0x40/ 0x40/p' "$log" | sort)
	done
}

@test "the comparison of logs detects one extra event" {
	alone
	cp "$scratch/alone" "$scratch/first"
	alone
	cat "$scratch/first" "$scratch/first" | sort | cmp - <(sort "$scratch/alone")
	rm "$scratch/alone"
	NT_CHAIN_MASK=0x901 alone
	run ! cmp <(sort "$scratch/first") <(sort "$scratch/alone")
}

@test "with every mask it gets the events that it asked for, and none of ours" {
	local mask
	for mask in 0 0x1 0x2 0x3 0x40 0x42 0x100 0x200 0x800 0x801 0xb43; do
		NT_CHAIN_MASK=$mask same
	done
}

@test "several communicators, groups, splits and new ones" {
	same --comms world+tp:2+dp:2 --groups 4 --interleave
	same --comms world+split:2 --churn 10x3
	same --simulate-on 1@5
}

@test "captured graphs and their replays" {
	same --capture 5x3
}

@test "many threads" {
	form=(--ranks-in-process 4)
	same --comms world+tp:2
	same --nonblocking
	form=(--ranks-in-process 4 --one-thread)
	same
}

@test "aborted communicators" {
	# Which kernels an abort takes is chance: the host's side is the same.
	same_but_channels --abort-every 10x3
	same_but_channels --abort
}

@test "old interfaces, on old and new NCCL" {
	local release
	kind=old
	export NT_CHAIN_MASK=0x43
	for release in 2.27.7 2.28.9 2.30.7; do
		same --nccl "$release"
	done
	kind=new
	export NT_CHAIN_MASK=0xb43
	same --nccl 2.30.7
}

@test "handles with bits where addresses have none, and no handles" {
	NT_CHAIN_HANDLE=high same
	NT_CHAIN_HANDLE=none same
}

@test "a mask that grows while the job runs" {
	# Ours follows at the next decision: what one collective has more or less is all.
	local behind alone
	rm -f "$scratch"/{alone,behind}
	export NT_CHAIN_MASK=0x200 NT_CHAIN_MASK2=0x242@20
	alone --sizes 256K
	behind --sizes 256K
	alone=$(grep -c ' start 0x2/' "$scratch/alone")
	behind=$(grep -c ' start 0x2/' "$scratch/behind")
	[ "$alone" -ge 80 ] && [ $((alone - behind)) -le 4 ] && [ $((behind - alone)) -le 4 ]
}

@test "it loses no event while we explore" {
	mode=bandit form=(--fork 4)
	explored --sizes 256K --arm TREE/SIMPLE=0.4 --noise none
	but_channels
	channels_are_whole
	NT_CHAIN_MASK=0x2 explored --sizes 256K --arm TREE/SIMPLE=0.4 --noise none
	cmp <(sort "$scratch/alone") <(sort "$scratch/behind")
}

@test "the tuner's answer counts as NCCL's choice, and a better arm replaces it" {
	mode=bandit form=(--fork 4)
	export NT_CHAIN_ARM=RING/LL NT_CHAIN_CHANNELS=4
	explored --sizes 256K --arm TREE/SIMPLE=0.3 --noise none
	but_channels
	jq -es '[.[].comms[].keys[]] | all(.auto == "RING/LL" and .arm == "TREE/SIMPLE")' <(rank_records "$scratch"/step)
	# Where nothing is better the answer stays.
	same_but_channels --sizes 256K --arm RING/LL=0.05 --noise none --iters 1000
	jq -es '[.[].comms[].keys[]] | all(.auto == "RING/LL" and .state != "committed")' <(rank_records "$scratch"/step)
	jq -e '.keys[0].arm == "RING/LL/4ch"' "$scratch/out"
}

@test "their errors are counted and do not stop the job" {
	local what
	for what in prof-init tuner-init events decide; do
		NT_CHAIN_FAIL=$what behind
		jq -e '.mismatches == 0' "$scratch/out"
		jq -es 'all(.counts.chained_errors > 0)' <(rank_records "$scratch"/step)
	done
	rm "$scratch/behind"
	NT_CHAIN_FAIL=prof-init behind
	run -1 grep ' start ' "$scratch/behind"
}

@test "a plugin that cannot be loaded is reported once, and the job goes on" {
	mode=bandit
	mkdir -m 700 "$scratch/step"
	NCCL_DEBUG=WARN NCCL_TUNE_CHAINED_TUNER=/nowhere/t.so NCCL_TUNE_CHAINED_PROFILER=/nowhere/p.so \
		NCCL_TUNER_PLUGIN=$OURS NCCL_PROFILER_PLUGIN=$OURS NCCL_TUNE_POLICY=$(policy) fake --comms world+tp:2
	[ "$(grep -c 'the tuner plugin /nowhere/t.so is not loaded: ' "$scratch/err")" = 4 ]
	[ "$(grep -c 'the profiler plugin /nowhere/p.so is not loaded: ' "$scratch/err")" = 4 ]
	jq -es 'all(.plugins.tuner | startswith("noload:tuner:/nowhere/t.so:"))' <(rank_records "$scratch"/step)
}

@test "plugins with NCCL's default names are loaded, but not a copy of ours" {
	mkdir -m 700 "$scratch/step" "$scratch/lib"
	cp "$TESTS/nt-chain-new.so" "$scratch/lib/libnccl-tuner.so"
	cp "$OURS" "$scratch/lib/libnccl-profiler.so"
	NT_CHAIN_LOG=$scratch/behind LD_LIBRARY_PATH=$scratch/lib NCCL_TUNER_PLUGIN=$OURS NCCL_PROFILER_PLUGIN=$OURS \
		NCCL_TUNE_POLICY=$(policy) fake
	grep -q 'tuner init' "$scratch/behind"
	run -1 grep profiler "$scratch/behind"
	jq -es 'all(.plugins.tuner == "logger5 (v5)" and (.plugins | has("profiler") | not))' <(rank_records "$scratch"/step)
	# By the short name, and not at all.
	cp "$TESTS/nt-chain-new.so" "$scratch/lib/libnccl-profiler-short.so"
	rm "$scratch/behind"
	NT_CHAIN_LOG=$scratch/behind LD_LIBRARY_PATH=$scratch/lib NCCL_TUNER_PLUGIN=$OURS NCCL_PROFILER_PLUGIN=$OURS \
		NCCL_TUNE_CHAINED_TUNER=none NCCL_TUNE_CHAINED_PROFILER=short NCCL_TUNE_POLICY=$(policy) fake
	grep -q 'profiler init' "$scratch/behind"
	run -1 grep tuner "$scratch/behind"
}
