#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# A user who has a profiler and a tuner of his own, and asks for tuning: srun, the SPANK plugin, and both behind ours.
bats_require_minimum_version 1.5.0
load ../lib/cluster

setup_file() {
	cluster_start_tuned 2
	mkdir -m 1777 "$NT_BASE/logs"
	export LOGS=$NT_BASE/logs LOGGER=$NT_TESTS/nt-chain-new.so
}

setup() {
	env_of_job=()
	out=$BATS_TEST_TMPDIR/out err=$BATS_TEST_TMPDIR/err
}

# Until all is decided, however busy this machine is.
decided=(--iters 4000 --more 120000 --settled)

# job LOG TUNE [option of nt-fake-nccl]...: two nodes of two ranks, with plugins as the user has set them.
job() {
	local log=$LOGS/$1 tune=$2
	shift 2
	rm -f "$log"
	as_user env NT_CHAIN_LOG="$log" NT_CHAIN_MASK="${MASK-0xb43}" NCCL_TUNER_PLUGIN="${PLUGIN-$LOGGER}" \
		NCCL_PROFILER_PLUGIN="${PLUGIN-$LOGGER}" "${env_of_job[@]}" srun -N2 --ntasks-per-node=2 -t 20 --mpi=pmix --nccl-tune="$tune" \
		bash -c '[ "$SLURM_PROCID" != 0 ] || echo "$SLURM_JOB_ID" >&2; exec "$@"' - \
		"$NT_TESTS/nt-fake-nccl" --arm RING/SIMPLE=0.3 --noise none --sizes 256K --call-gap-us 100 "$@" \
		>"$out" 2>"$err" || { cat "$err"; return 1; }
	jq -e '.mismatches == 0' "$out" >/dev/null
}

record() {
	local number
	number=$(grep -m1 -xE '[0-9]+' "$err")
	wait_record "$number"
	sacct_field "$number" admincomment
}

@test "the user's plugins get the same calls, and an arm faster than theirs is found" {
	local MASK=0xb03
	job behind bandit,min_calls=8 "${decided[@]}"
	jq -e '.keys[0].arm == "RING/SIMPLE" and .keys[0].overridden > 100' "$out"
	run -0 record
	cp "$out" "$out.behind"
	job alone off --iters "$(jq '.keys[0].calls' "$out.behind")"
	[ -s "$LOGS/alone" ]
	cmp <(sort "$LOGS/alone") <(sort "$LOGS/behind")
	jq -e '.nccl_tune["0"]["4r2n"]["AllReduce 256K"].arm == "RING/SIMPLE"' <<<"$output"
}

@test "in mode observe every event is the same, also those of channels" {
	job alone off --iters 200
	job behind observe --iters 200
	cmp <(sort "$LOGS/alone") <(sort "$LOGS/behind")
}

# vendor NAME=VALUE...: what a cloud's image sets; what it brings lies in $LOGS.
vendor() {
	local PLUGIN='' MASK=0
	env_of_job=(LD_LIBRARY_PATH="$LOGS" NT_VENDOR_LOG="$LOGS/vendor" "$@")
	rm -f "$LOGS/vendor"
	job vendor "${TUNE-observe}" --iters 300 --ll128
}

@test "the network plugins and tuners of AWS and Google work behind ours" {
	cp "$NT_TESTS/libnccl-net-ofi.so" "$NT_TESTS/nt-fastrak-net.so" "$LOGS"
	cp "$NT_TESTS/nt-google-tuner.so" "$LOGS/libnccl-tuner-google.so"
	echo NCCL_MIN_NCHANNELS=4 >"$LOGS/guest.textproto"
	vendor NT_VENDOR_PLATFORM=p5 NCCL_NET_PLUGIN=ofi
	run -0 record
	jq -e '.nccl_tune["0"]["4r2n"]["AllReduce 256K"].auto == "RING/LL128"' <<<"$output"
	vendor NCCL_TUNER_PLUGIN=google NCCL_TUNER_CONFIG_PATH="$LOGS/guest.textproto"
	run -0 record
	jq -e '.nccl_tune["0"]["4r2n"]["AllReduce 256K"].auto == "TREE/SIMPLE"' <<<"$output"
	# Without its file the communicator would fail alone.
	vendor NCCL_TUNER_PLUGIN=google
	run -0 record
	jq -e '.nccl_tune["0"].why | index("plugfail:tuner:tcpxo tuner (v5):4") != null' <<<"$output"
}

@test "where Google's plugin checks NCCL's variables, no launch profile changes one" {
	TUNE=observe,launch=sockets-wide vendor NCCL_NET_PLUGIN="$LOGS/nt-fastrak-net.so" NCCL_NET=FasTrak \
		NCCL_SHIMNET_GUEST_CONFIG_CHECKER_CONFIG_FILE="$LOGS/guest.textproto"
	grep -q 'no launch profile: NCCL_SHIMNET_GUEST_CONFIG_CHECKER_CONFIG_FILE is set' "$err"
	run -1 grep 'mismatch enforced' "$err"
	run -0 record
	jq -e '.nccl_tune["0"] | has("set") | not' <<<"$output"
}

# As Slurm's TaskProlog, srun's runs in the task after slurmstepd has set its variables.
@test "a prolog of the task that exports a profiler is named, and its profiler is NCCL's" {
	printf '#!/bin/sh\necho export NCCL_PROFILER_PLUGIN=%s\n' "$LOGGER" >"$LOGS/prolog.sh"
	chmod 755 "$LOGS/prolog.sh"
	env_of_job=(SLURM_TASK_PROLOG="$LOGS/prolog.sh")
	PLUGIN='' job prolog bandit --iters 300
	[ -s "$LOGS/prolog" ]
	run -0 record
	jq -e '.nccl_tune["0"].why | index("otherprof") != null' <<<"$output"
	run -0 as_user "$NT_STAGE/bin/nccl-tune" report "$(grep -m1 -xE '[0-9]+' "$err")"
	[[ $(tr -s ' \n' ' ' <<<"$output") = *"Slurm's TaskProlog, or the program, has set NCCL_PROFILER_PLUGIN after nccl-tune."* ]]
}

@test "a missing plugin changes nothing else" {
	PLUGIN=/nowhere/their.so NCCL_DEBUG=WARN job none bandit,min_calls=8 "${decided[@]}"
	grep -q 'the tuner plugin /nowhere/their.so is not loaded: ' "$err"
	run -0 record
	run -0 as_user "$NT_STAGE/bin/nccl-tune" report "$(grep -m1 -xE '[0-9]+' "$err")"
	[[ $(tr -s ' \n' ' ' <<<"$output") = *"plugin /nowhere/their.so could not be loaded, and the job ran without it"* ]]
	jq -e '.keys[0].arm == "RING/SIMPLE"' "$out"
}
