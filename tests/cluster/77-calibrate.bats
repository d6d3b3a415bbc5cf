#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# nccl-tune calibrate in batch jobs, with the simulated NCCL under made-up launch variables in place of nccl-tune-bench.
# shellcheck disable=SC2016,SC2154 # expressions for the shell of a job; bats sets stderr
bats_require_minimum_version 1.5.0
load ../lib/cluster

setup_file() {
	cluster_setup
	export MADE=$NT_BASE/made SIMULATED=$NT_TESTS/simulated
	mkdir -m 755 "$MADE"
	cat >"$MADE/sends.conf" <<-'END'
		[sends-small]
		fabric = socket
		NCCL_P2P_NET_CHUNKSIZE = 64K
		[sends-wide]
		fabric = socket
		NCCL_MIN_P2P_NCHANNELS = 8
	END
	cat "$NT_STAGE/share/nccl-tune/profiles.conf" "$MADE/sends.conf" >"$MADE/profiles.conf"
	cluster_start 2 -p "$(nt_plugstack_line "profiles=$MADE/profiles.conf")"
	need_pmix
	local best
	# The trace's sets are those of sockets-wide, sockets-many and sockets-4x4; sockets-medium is as the default.
	for best in wide threads none; do
		"$NT_TESTS/nt-launch-trace" --light --best "$best" --topology 2x1 --picks "$MADE/picks.csv" \
			--profile sockets=NCCL_SOCKET_NTHREADS=2+NCCL_NSOCKS_PERTHREAD=4 >"$MADE/$best.csv"
	done
	# A wide launch whose small calls take twice as long.
	awk -F, -v OFS=, '/^NCCL_MIN_NCHANNELS/ && $7 == 65536 { for (i = 8; i <= NF; i++) $i *= 2 } { print }' \
		"$MADE/wide.csv" >"$MADE/mixed.csv"
	chmod -R a+rX "$MADE"
}

setup() {
	out=$NT_BASE/out.$BATS_TEST_NUMBER
	mkdir -m 777 "$out"
}

# program TRACE [LINE]...: what a step runs: these lines of shell, then the simulated NCCL, until all is decided.
program() {
	{
		echo '#!/bin/bash'
		printf '%s\n' "${@:2}"
		echo "exec $NT_TESTS/nt-fake-nccl --trace $MADE/$1.csv,2x1 --auto-picks $MADE/picks.csv --launch-else none" \
			'--call-gap-us 100 --iters 500 --more 120000 --settled --sizes "${SIZES:-64K,1M,16M}"'
	} >"$out/program"
	chmod 755 "$out/program"
}

# job LINE...: a batch job of two nodes with a memory of its own; its status is in $rc, its words in $out/log.
job() {
	rc=0
	{
		echo '#!/bin/bash'
		echo "export NCCL_TUNE_MEMORY=$out/memory out=$out"
		echo "calibrate() { $NT_STAGE/bin/nccl-tune calibrate \"\$@\" >$out/out 2>$out/err </dev/null; }"
		# Slurm takes its time to forget a step that was ended; one that goes on does so for minutes.
		echo "running() { for i in {1..600}; do squeue -hs -j \$SLURM_JOB_ID -o %i >$out/steps; grep -qv batch $out/steps || break; sleep 0.5; done; }"
		echo "step() { srun --mpi=pmix --nccl-tune=bandit,channels=on,launch=\"\$@\"; }"
		printf '%s\n' "$@"
	} >"$out/job.sh"
	chmod 755 "$out/job.sh"
	as_user sbatch --wait -N2 --ntasks-per-node=1 -t 60 -o "$out/log" "$out/job.sh" >/dev/null || rc=$?
	cat "$out/log" "$out/out" "$out/err" >&2
}

# What a filter says of the memory's entries.
entries() {
	cat "$out"/memory/*.jsonl | jq -c "select(.profile) | $1"
}

# The job's record has how long each step of its calibration took, and these do not count as the program's.
calibration_is_recorded() {
	sacct_field "$(<"$out/job")" admincomment | jq -e '[.nccl_tune[] | objects | select(.calibration == 1)] |
		length >= 5 and all(.calibration_s > 0)'
}

@test "with the job's own mix the best profile is found, remembered and used by the next step" {
	program wide
	job 'echo "$SLURM_JOB_ID" >$out/job' "SIZES=16Mx8,64K step default $out/program >/dev/null" \
		"SIZES=64K,16M calibrate --time 900s -- $out/program" \
		"srun --mpi=none -v --nccl-tune=bandit,launch=auto env >$out/env"
	[ "$rc" = 0 ]
	grep -q 'calls of step [0-9]*\.0$' "$out/out"
	grep -Eq '^AllReduce 16M +[0-9.]+ +[2-5]\.[0-9]+ ' "$out/out"
	grep -q "^launch profile sockets-wide (calibrated .* on 2 x 1: this job's mix [2-5]\." "$out/out"
	grep -Eq '^It took [0-9.]+ (s|min)\. It pays off in steps that spend ' "$out/out"
	[ "$(grep -cx NCCL_MIN_NCHANNELS=8 "$out/env")" = 2 ]
	[ "$(entries 'select(.origin == "calibrate" and .profile == "default") | .keys | length' | sort -u)" = 2 ]
	[ "$(entries 'select(.origin == "calibrate") | .profile' | sort -u | wc -l)" = 5 ]
	# Two rounds and more of what is near the best, one of what cannot win.
	[ "$(entries 'select(.origin == "calibrate" and .profile == "sockets-medium") | 1' | wc -l)" = 1 ]
	wait_for 60 calibration_is_recorded
}

@test "if no profile is better the default stays, which is not a failure" {
	program none
	job "calibrate --time 900s -- $out/program"
	[ "$rc" = 0 ]
	grep -q '^launch profile default (no profile is better than the default)' "$out/out"
	grep -q "^It took .*; later steps start with NCCL's own settings" "$out/out"
}

@test "without a known mix no profile is used that loses at any size, with advice to run a step first" {
	program mixed
	job "calibrate --time 900s -p sockets-wide -- $out/program"
	[ "$rc" = 0 ]
	grep -q '^launch profile default' "$out/out"
	grep -q 'the mix of calls is unknown, and it is slower at some size' "$out/out"
	grep -q 'After the first step, this job.s mix of calls' "$out/out"
}

@test "a step that fails or hangs counts against its profile and leaves no process" {
	program threads '[ -z "$NCCL_MIN_NCHANNELS" ] || { echo "no room for $NCCL_MIN_NCHANNELS channels" >&2; exit 5; }' \
		'[ "$NCCL_SOCKET_NTHREADS$NCCL_NSOCKS_PERTHREAD" != 24 ] || exec sleep 300'
	job "SIZES=64K,16M calibrate --time 120s -- $out/program" running
	[ "$rc" = 0 ]
	# srun tells the highest status: 143 of a task that it ended because the other one had failed.
	grep -Eq 'calibrate: sockets-wide: exit status (5|143): no room for 8 channels' "$out/err"
	grep -q 'calibrate: sockets-many: it exceeded its share of the time' "$out/err"
	grep -q '^launch profile sockets-4x4 (calibrated' "$out/out"
	run -1 grep -v batch "$out/steps"
}

@test "too little time for two steps is reported, and so is a program without NCCL" {
	local sleep_s told='too little time for a profile: at least two steps of .* s must fit into --time'
	# A busy machine takes its time for a step: again with more.
	for sleep_s in 8 30 120; do
		program wide "sleep $sleep_s"
		job "calibrate --time $((2 * sleep_s - 1))s -- $out/program"
		[ "$rc" = 1 ]
		! grep -q "$told" "$out/err" || break
	done
	grep -q "$told" "$out/err"
	job "calibrate --time 900s -- true"
	[ "$rc" = 1 ]
	grep -q "default: nothing of it was remembered in $out/memory" "$out/err"
	[ ! -s "$out/out" ]
}

@test "interrupted: the running step ends, and the results so far are printed" {
	program wide '[ -z "$NCCL_NSOCKS_PERTHREAD" ] || [ -n "$NCCL_MIN_NCHANNELS" ] || exec sleep 300'
	job "SIZES=64K,16M calibrate --time 120s -p sockets-wide,sockets-many -- $out/program & pid=\$!" \
		"while kill -0 \$pid && ! grep -q sockets-wide: $out/err; do sleep 0.2; done; sleep 2; pkill -TERM -P \$pid -x nccl-tune" \
		'wait $pid; rc=$?' running 'exit $rc'
	[ "$rc" = 1 ]
	grep -q '^launch profile sockets-wide (calibrated' "$out/out"
	grep -q 'interrupted: results so far' "$out/err"
	run -1 grep -v batch "$out/steps"
}

@test "measurements with another patch release of NCCL exclude losers and give the order of the others" {
	local file
	program none
	job "SIZES=16M calibrate --time 900s -- $out/program"
	[ "$rc" = 0 ]
	# What was just measured, as if by the release before, and with other times.
	for file in "$out"/memory/*.jsonl; do
		jq -c 'def times($by): .keys |= map(.[4:6] |= map(.[:3] |= map(. * $by)));
			if .profile then .nccl -= 1 else . end |
			if .profile == "sockets-many" then times(3) elif .profile == "sockets-4x4" then times(0.3) else . end' \
			"$file" >"$out/edited"
		cat "$out/edited" >"$file"
	done
	job "SIZES=16M calibrate --time 900s -- $out/program"
	[ "$rc" = 0 ]
	grep -q '^Not tried: .*sockets-many: it was slower with another patch release of this NCCL' "$out/out"
	run ! grep '^calibrate: sockets-many: ' "$out/err"
	[ "$(sed -n 's/^calibrate: \([^:]*\): .*/\1/p' "$out/err" | sed -n 2p)" = sockets-4x4 ]
	# Asked for by its name it is tried.
	job "SIZES=16M calibrate --time 900s -p sockets-many -- $out/program"
	[ "$rc" = 0 ]
	run ! grep '^Not tried' "$out/out"
	grep '^calibrate: sockets-many: ' "$out/err"
}

# sends [WORD]...: a step of nccl-tune-bench that also sends, a calibration with the profiles for that, and such a step again.
sends() {
	local call bench="$NT_STAGE/bin/nccl-tune-bench --rendezvous $out --coll allreduce,alltoall,sendrecv --sizes 64K,1M --iters 300 --check light"
	job 'echo "$SLURM_JOB_ID" >$out/job' "export LD_LIBRARY_PATH=$SIMULATED $*" "step default $bench >$out/bench" \
		"calibrate --time 90s --profile-file $MADE/sends.conf" "step auto $bench >>$out/bench"
	[ "$rc" = 0 ]
	[ "$(grep -c '"coll":"\(AllToAll\|SendRecv\)".*"checks":[1-9][0-9]*,"errors":0' "$out/bench")" = 8 ]
	# What the first step was seen to send, with times.
	run -0 entries 'select(.origin == "job" and .step == 0) | .keys[] | select(.[0] == "AllToAll" or .[0] == "SendRecv")
		| "\(.[0]) \(.[1]) \(.[5][3] > 0)"'
	[ "$(sort <<<"$output" | tr -d '"' | tr '\n' ,)" = \
		'AllToAll 1048576 true,AllToAll 65536 true,SendRecv 1048576 true,SendRecv 65536 true,' ]
	for call in 'AllToAll 64K' 'AllToAll 1M' 'SendRecv 64K' 'SendRecv 1M' 'AllReduce 64K' 'AllReduce 1M'; do
		grep -Eq "^$call +[0-9.]+ " "$out/out"
	done
	# One that is slower is never used.
	grep -Eq 'sends-small .* it is slower for this job.s mix of calls$' "$out/out"
	[ -z "$(entries 'select(.origin == "job" and .profile == "sends-small")')" ]
}

# The profile of the job's last step.
last_profile() {
	entries 'select(.origin == "job" and .step > 0) | .profile'
}

@test "what a program sends is measured at its sizes, beside its collectives, and the profile that is faster for it wins" {
	sends
	grep -Eq '^AllToAll 1M +[0-9.]+ +0\.[5-7][0-9] +1\.[4-6][0-9]$' "$out/out"
	grep -Eq '^SendRecv 1M +[0-9.]+ +0\.[5-7][0-9] +1\.[4-6][0-9]$' "$out/out"
	grep -q "^launch profile sends-wide (calibrated .* on 2 x 1: this job's mix " "$out/out"
	grep -Eq '^sends-wide .* measured 100 % ' "$out/out"
	[ "$(last_profile)" = '"sends-wide"' ]
}

@test "a profile with wrong results of sends is not used, however fast" {
	sends 'NT_SIM_WRONG="|NCCL_MIN_P2P_NCHANNELS=8"'
	grep -q 'sends-wide: .*wrong result: SendRecv ' "$out/err"
	grep -q '^launch profile default' "$out/out"
	[ "$(last_profile)" = '"default"' ]
}

@test "a step that only sends is remembered if the memory knows that its nodes are alike" {
	local bench="$NT_STAGE/bin/nccl-tune-bench --rendezvous $out --coll alltoall,sendrecv --sizes 64K --iters 300 --check light"
	program none
	job 'echo "$SLURM_JOB_ID" >$out/job; touch $out/out $out/err' "export LD_LIBRARY_PATH=$SIMULATED" "step default $bench >$out/bench" \
		"SIZES=64K step default $out/program >/dev/null" "step default $bench >>$out/bench"
	[ "$rc" = 0 ]
	wait_record "$(<"$out/job")"
	run -0 entries '"\(.step) \([.keys[][0]] | sort | join(" "))"'
	# The benchmark's own AllReduces are fewer than min_calls.
	diff <(sort <<<"$output") - <<<$'"1 AllReduce"\n"2 AllReduce AllToAll SendRecv"'
	# That it had no more than the memory's word for it does not make the hosts' lines younger.
	[ "$(cat "$out"/memory/*.jsonl | grep -c '"host"')" = 2 ]
	run -0 sacct_field "$(<"$out/job")" admincomment
	jq -e '.nccl_tune | (.["0"].remark | contains("unknown whether all its nodes have the same hardware")) and (.["2"] | has("remark") | not)' <<<"$output"
}
