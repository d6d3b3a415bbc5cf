#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# The main job, end to end: srun, SPANK plugin, tuner in a simulated NCCL, agreement over the step's PMIx, record,
# sacct, report. The simulated NCCL stops every rank when two of them choose differently.
# NT_SOAK_RUNS: how often the last test repeats each job.
# shellcheck disable=SC2086 # expressions for the shell of the task; no word at all; what bats sets
bats_require_minimum_version 1.5.0
load ../lib/cluster

setup_file() {
	cluster_setup
	cp -R "$NT_TOP/tests/traces" "$NT_BASE/traces"
	chmod -R a+rX "$NT_BASE/traces"
	export TRACES=$NT_BASE/traces
	cluster_start 4 -p "$(nt_plugstack_line)"
	need_pmix
}

teardown_file() {
	cluster_check_and_stop
}

setup() {
	out=$BATS_TEST_TMPDIR/out
	err=$BATS_TEST_TMPDIR/err
}

# A job whose end is looked at goes on, on a busy machine, until all is decided.
decided=(--more 60000 --settled)

# job NODES RANKS_PER_NODE [option of nt-fake-nccl]...: prints the job's number; its output is in $out and $err.
job() {
	local nodes=$1 ranks=$2
	shift 2
	as_user srun -N"$nodes" --ntasks-per-node="$ranks" -t 20 ${MPI---mpi=pmix} "${TUNE---nccl-tune=bandit}" \
		bash -c '[ "$SLURM_PROCID" != 0 ] || echo "$SLURM_JOB_ID" >&2; exec "$@"' - \
		"$NT_TESTS/nt-fake-nccl" --trace "$TRACES/h200-2x4-seq.csv,2x4" \
		--auto-picks "$TRACES/h200-auto-picks.csv" --sizes 64K,256K,1M --iters 3000 \
		--call-gap-us 100 "$@" >"$out" 2>"$err"
}

job_number() {
	grep -m1 -xE '[0-9]+' "$err"
}

json() {
	jq -er "$1" "$out" >/dev/null || { printf '%s\n' "$1"; cat "$out" "$err"; return 1; }
}

# The job's record as accounting has it, if there is one: what its schema says.
record() {
	local comment
	wait_record "$1" && comment=$(sacct_field "$1" admincomment) || return
	[ -z "$comment" ] || "${NT_BUILD:-$NT_TOP/build}/tests/fake/nt-record" check \
		"$NT_TOP/docs/schema/job.schema.json" /dev/stdin <<<"$comment" >&2 || return
	echo "$comment"
}

@test "two nodes of four ranks: faster choices are found, agreed on, and in the record" {
	job 2 4 "${decided[@]}" || { cat "$err"; false; }
	json '.mismatches == 0 and .ranks == 8 and (.mask == 0 or .mask == 1024)'
	# 256K: AUTO's pick is slow in the trace, TREE/SIMPLE is 38 % faster.
	json '[.keys[] | select(.bytes == 262144)][0].arm == "TREE/SIMPLE"'
	run -0 record "$(job_number)"
	jq -e '.nccl_tune["0"]["8r2n"]["AllReduce 256K"] | .arm == "TREE/SIMPLE" and .us[1] < 0.8 * .us[0] and .p < 0.01' <<<"$output"
	[ "${#output}" -le 4096 ]
	run -0 as_user "$NT_STAGE/bin/nccl-tune" report "$(job_number)"
	[[ $output = *"256K"*"TREE/SIMPLE"* ]]
	run -0 as_user "$NT_STAGE/bin/nccl-tune" report "$(job_number)" --json
	jq -e '[.jobs[].steps[].communicators[].keys[] | select(.bytes == 262144)][0].arm == "TREE/SIMPLE"' <<<"$output"
}

@test "all ranks of two nodes use limits of channels on request" {
	TUNE=--nccl-tune=bandit,channels=on job 2 4 "${decided[@]}" --trace "$TRACES/h200-2x4-seq.csv,none" --nccl 2.30.7 \
		--channels 8 --noise lognormal:0.03 --arm TREE/SIMPLE/4ch=0.1 --arm RING/SIMPLE/4ch=0.1 || { cat "$err"; false; }
	json '.mismatches == 0 and .ranks == 8 and (.mask == 0 or .mask == 1024) and .tuner == 6'
	json '[.keys[].arm | select(test("/4ch$"))] | length > 0'
	run -0 record "$(job_number)"
	jq -e '[.nccl_tune["0"]["8r2n"][].arm | select(test("/4ch$"))] | length > 0' <<<"$output"
	run -0 as_user "$NT_STAGE/bin/nccl-tune" report "$(job_number)"
	[[ $output = */4ch* ]]
}

@test "one node tunes without PMIx" {
	MPI='' job 1 4 "${decided[@]}" || { cat "$err"; false; }
	json '.mismatches == 0 and ([.keys[] | select(.bytes == 262144)][0].arm == "TREE/SIMPLE")'
	run -0 record "$(job_number)"
	jq -e '.nccl_tune["0"]["4r1n"]["AllReduce 256K"].arm == "TREE/SIMPLE"' <<<"$output"
}

@test "several nodes without PMIx stay with NCCL's choice, and the record has the command to type" {
	MPI=--mpi=none job 2 2 || { cat "$err"; false; }
	json '.mismatches == 0 and ([.keys[].overridden] | add) == 0'
	run -0 record "$(job_number)"
	jq -e '.nccl_tune["0"].why | any(endswith(" nopmix"))' <<<"$output"
}

@test "if nothing can be gained nothing changes" {
	as_user srun -N2 --ntasks-per-node=4 -t 20 --mpi=pmix --nccl-tune=bandit "$NT_TESTS/nt-fake-nccl" \
		--noise bimodal --sizes 256K --iters 3000 "${decided[@]}" --call-gap-us 100 >"$out" 2>"$err" || { cat "$err"; false; }
	json '.mismatches == 0 and (.mask == 0 or .mask == 1024) and ([.keys[].overridden] | add) < 300'
}

@test "all five collectives" {
	as_user srun -N2 --ntasks-per-node=2 -t 20 --mpi=pmix --nccl-tune=bandit "$NT_TESTS/nt-fake-nccl" \
		--coll allreduce,allgather,reducescatter,broadcast,reduce --sizes 1M --iters 2000 "${decided[@]}" --call-gap-us 100 \
		>"$out" 2>"$err" || { cat "$err"; false; }
	json '.mismatches == 0 and (.mask == 0 or .mask == 1024) and (.keys | length) == 5'
}

@test "captured graphs do not make ranks differ" {
	job 2 4 --capture 50x3 || { cat "$err"; false; }
	json '.mismatches == 0'
}

@test "older NCCL: the plugin loads, measures if it can, and changes nothing" {
	local release
	for release in 2.21.5 2.26.2 2.27.7; do
		job 2 2 --nccl "$release" --iters 60 || { cat "$err"; false; }
		json '.mismatches == 0 and ([.keys[].overridden] | add) == 0'
	done
	TUNE=--nccl-tune=bandit,graphs=never job 2 4 "${decided[@]}" --nccl 2.27.7 || { cat "$err"; false; }
	json '.mismatches == 0 and ([.keys[] | select(.bytes == 262144)][0].arm == "TREE/SIMPLE")'
	job 2 4 "${decided[@]}" --nccl 2.30.7 || { cat "$err"; false; }
	json '.mismatches == 0 and ([.keys[] | select(.bytes == 262144)][0].arm == "TREE/SIMPLE")'
}

@test "observe measures and changes nothing; off is as without the plugin" {
	TUNE=--nccl-tune=observe job 2 2 || { cat "$err"; false; }
	json '.mismatches == 0 and (.mask == 0 or .mask == 1024) and ([.keys[].overridden] | add) == 0'
	run -0 record "$(job_number)"
	jq -e '.nccl_tune["0"].mode == "observe"' <<<"$output"
	TUNE=--nccl-tune=off job 2 2 --iters 60 || { cat "$err"; false; }
	run -0 record "$(job_number)"
	[ -z "$output" ]
}

@test "the same jobs repeatedly: no hang, no difference, the same arm, a record each time" {
	local runs=${NT_SOAK_RUNS:-2} nodes
	for nodes in 2 4; do
		for ((i = 1; i <= runs; i++)); do
			job "$nodes" $((8 / nodes)) "${decided[@]}" || { echo "run $i"; cat "$err"; false; }
			json '.mismatches == 0'
			json '[.keys[] | select(.bytes == 262144)][0].arm == "TREE/SIMPLE"'
			run -0 record "$(job_number)"
			jq -e '.nccl_tune["0"]["8r'"$nodes"'n"]["AllReduce 256K"].arm == "TREE/SIMPLE"' <<<"$output"
		done
	done
}

@test "a running job is followed to its end, on a terminal and as lines" {
	local id screen pids
	TUNE=--nccl-tune=bandit,screen_blocks=64,max_calls=100000 job 2 2 --iters 5000 --realtime 1 &
	pids=$!
	wait_for 60 job_number
	id=$(job_number)
	as_user env TERM=xterm script -qec "stty cols 60 rows 20; exec '$NT_STAGE/bin/nccl-tune' report --follow $id" /dev/null \
		>"$BATS_TEST_TMPDIR/screen" </dev/null &
	pids+=" $!"
	as_user "$NT_STAGE/bin/nccl-tune" report --follow "$id.0" >"$BATS_TEST_TMPDIR/lines" 2>"$BATS_TEST_TMPDIR/lines.err" &
	pids+=" $!"
	wait $pids
	[ ! -s "$BATS_TEST_TMPDIR/lines.err" ]
	output=$(<"$BATS_TEST_TMPDIR/lines")
	[[ $output = [0-9]*" Job $id: running."*"AllReduce 256K on the 4 ranks across 2 nodes"*" Job $id: completed."* ]] || { echo "$output"; false; }
	[ "$(cut -d' ' -f2- <<<"$output" | sort | uniq -d | grep -c '^Job')" = 0 ]
	[ "$(grep -cvE '^[0-9]{2}:[0-9]{2}:[0-9]{2} ' <<<"$output")" = 0 ]
	screen=$(<"$BATS_TEST_TMPDIR/screen")
	[[ $screen = "Job $id: running."*$'\e['[0-9]*$'A\r\e[J'"Job $id: completed."* ]] || { cat -v <<<"$screen"; false; }
	# One that has ended is printed once.
	run -0 as_user "$NT_STAGE/bin/nccl-tune" report --follow "$id"
	[[ ${lines[0]} = [0-9]*" Job $id: completed." ]] || { echo "$output"; false; }
	run -1 as_user "$NT_STAGE/bin/nccl-tune" report --follow 999999
	[[ $output = *'no job 999999'* ]]
	run -2 as_user "$NT_STAGE/bin/nccl-tune" report --follow --json "$id"
}
