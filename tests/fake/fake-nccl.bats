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

@test "it says that it is simulated, on both outputs" {
	run -0 --separate-stderr fake
	json '.simulated == "NCCL 2.28.9" and .ranks == 4 and .calls == 40 and .mismatches == 0'
	# shellcheck disable=SC2154 # set by run --separate-stderr
	[[ $stderr = *"simulated NCCL 2.28.9, 4 ranks"*"no GPU was used"* ]]
}

@test "rounds go on while a rank wants events, and so many more at most" {
	run -0 --separate-stderr fake --more 2000 --sizes 64K
	json '.calls == 10'
	NT_FAKE_EVENTS=$ALL_EVENTS NT_FAKE_OFF=300 run -0 --separate-stderr fake --more 2000 --sizes 64K
	json '.calls == 510'
	NT_FAKE_EVENTS=$ALL_EVENTS run -0 --separate-stderr fake --more 700 --sizes 64K
	json '.calls == 710'
	run -2 fake --more 700 --abort
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

@test "limits of channels and chunk sizes are arms, and change times" {
	NT_FAKE_PLUGIN=channels:1 run -0 --separate-stderr fake --sizes 4M --noise none
	json '.keys[0].arm == "TREE/SIMPLE/1ch"'
	local slow
	slow=$(jq '.keys[0].last_us' <<<"$output")
	NT_FAKE_PLUGIN=idle run -0 --separate-stderr fake --sizes 4M --noise none
	jq -e --argjson slow "$slow" '.keys[0] | .arm == "TREE/SIMPLE" and .last_us * 1.9 < $slow' <<<"$output"
	NT_FAKE_PLUGIN=channels:1 run -0 --separate-stderr fake --sizes 4M --noise none --arm TREE/SIMPLE/1ch=0.1
	jq -e --argjson slow "$slow" '.keys[0].last_us * 9.9 < $slow' <<<"$output"
}

@test "it hangs as NCCL does, on request" {
	NT_FAKE_PLUGIN=odd:3:17:RING/LL run -124 timeout -k 2 2 \
		"$FAKE" --fork 4 --nodes 2 --iters 10 --on-mismatch hang
}

@test "without a plugin, or with one that cannot be loaded, NCCL's pick runs" {
	run -0 --separate-stderr fake
	local picks
	picks=$(jq -c '[.keys[].arm]' <<<"$output")
	local value
	for value in none NoNe /nonexistent/lib.so nosuchname ""; do
		NCCL_TUNER_PLUGIN=$value NCCL_PROFILER_PLUGIN=$value run -0 --separate-stderr fake
		json ".tuner == 0 and .profiler == 0 and .forced == 0 and [.keys[].arm] == $picks"
	done
	NCCL_TUNER_PLUGIN=$BATS_TEST_FILENAME run -0 --separate-stderr fake
	json '.tuner == 0 and .profiler != 0'
}

@test "a bare name is searched as libnccl-tuner-NAME.so" {
	ln -s "$PLUGIN" "$BATS_TEST_TMPDIR/libnccl-tuner-bare.so"
	LD_LIBRARY_PATH=$BATS_TEST_TMPDIR NCCL_TUNER_PLUGIN=bare run -0 --separate-stderr fake
	json '.tuner == 5'
	ln -s "$PLUGIN" "$BATS_TEST_TMPDIR/libnccl-tuner.so"
	LD_LIBRARY_PATH=$BATS_TEST_TMPDIR NCCL_TUNER_PLUGIN='' run -0 --separate-stderr fake
	json '.tuner == 5'
	# Since 2.26 a name like libX.so is tried as it is only.
	ln -s "$PLUGIN" "$BATS_TEST_TMPDIR/libnccl-tuner-libx.so.so"
	LD_LIBRARY_PATH=$BATS_TEST_TMPDIR NCCL_TUNER_PLUGIN=libx.so run -0 --separate-stderr fake
	json '.tuner == 0'
	LD_LIBRARY_PATH=$BATS_TEST_TMPDIR NCCL_TUNER_PLUGIN=libx.so run -0 --separate-stderr fake --nccl 2.24.3
	json '.tuner == 4'
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

@test "kernel times alone bring their parents" {
	NT_FAKE_EVENTS=0x40 NT_FAKE_COUNTS=$counts run -0 fake
	every_line 'bad 0 0x1 40/40 0x2 40/40 0x40 80/80 0x100 40/40 0x200 40/40$'
}

@test "with the mask at 0 only a stale handle is stopped again" {
	NT_FAKE_OFF=10 run -0 counted
	# The 10th decision was appended before the mask went; CollApi's stop goes on for good.
	every_line 'decisions 40 bad 0 0x1 10/10 0x2 10/10 0x40 20/20 0x100 10/10 0x200 10/40 0x800 10/10$'
}

@test "aggregated calls are decided together and run one by one" {
	run -0 counted --groups 4 --sizes 1M,1M,1.5M,64M
	every_line 'decisions 20 bad 0 0x1 10/10 0x2 40/40 .*0x100 10/10 0x200 40/40 0x800 10/10$'
}

@test "a graph's replays make no decisions but have events" {
	run -0 counted --capture 4x5
	every_line 'decisions 40 bad 0 0x1 80/80 0x2 80/80 0x40 160/160 0x100 40/40 0x200 40/40'
}

@test "a graph without work for the proxy has its events once, and is not counted" {
	# One node and no kernel times. The call after the captured one has the same number, which the plugin minds.
	NT_FAKE_EVENTS=0x2 NT_FAKE_COUNTS=$counts run -0 timeout 1000 "$FAKE" --fork 4 --iters 10 --capture 25x5
	every_line 'decisions 40 bad 1 0x1 40/40 0x2 40/40'
}

@test "a simulated group is decided and does not run" {
	run -0 counted --simulate-on 2@8
	run -0 grep -c 'decisions 40 bad 0 0x1 40/40 0x2 40/40 .*0x200 40/40' "$counts"
	[ "$output" = 3 ]
	grep -q 'rank 2 name world decisions 45 bad 0 0x1 40/40 0x2 40/40 .*0x200 45/45' "$counts"
}

@test "a symmetric kernel hides the collective when the probe is answered with LL" {
	run -0 counted --probe --nccl 2.30.7
	every_line 'decisions 80 bad 0 0x1 40/40 0x2 40/40'
	: >"$counts"
	NT_FAKE_PLUGIN=arm:RING/LL run -0 counted --probe --nccl 2.30.7
	every_line 'decisions 40 bad 0 0x100 40/40 0x200 40/40$'
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

@test "from 2.31 on the lowest cost wins even below 0, and a number of channels only lowers NCCL's" {
	NT_FAKE_PLUGIN=take:RING/LL128 run -0 --separate-stderr fake --nccl 2.31.2 --ll128 --sizes 64K
	json '.keys[0].arm == "RING/LL128"'
	NT_FAKE_PLUGIN=take:RING/LL128 run -0 --separate-stderr fake --nccl 2.30.7 --ll128 --sizes 64K
	json '.keys[0].arm != "RING/LL128"'
	NT_FAKE_PLUGIN=channels:40 run -0 --separate-stderr fake --nccl 2.31.2 --sizes 4M
	json '.keys[0].arm == "TREE/SIMPLE"'
	NT_FAKE_PLUGIN=channels:1 run -0 --separate-stderr fake --nccl 2.31.2 --sizes 4M
	json '.keys[0].arm == "TREE/SIMPLE/1ch"'
}

@test "from 2.31 on PAT is legal with several ranks a node" {
	NT_FAKE_PLUGIN=arm:PAT/SIMPLE run -0 --separate-stderr fake --coll allgather --nccl 2.31.2
	json '[.keys[].arm] | unique == ["PAT/SIMPLE"]'
	NT_FAKE_PLUGIN=arm:PAT/SIMPLE run -0 --separate-stderr fake --coll allgather --nccl 2.30.7
	json '[.keys[].arm] | unique != ["PAT/SIMPLE"]'
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

@test "kernel times from several threads of a communicator are complete" {
	run -0 counted --profiler-threads 3 --nccl 2.32.6
	every_line 'bad 0 0x1 40/40 0x2 40/40 0x40 80/80 '
}

@test "lost, late and abandoned kernel times" {
	run -0 counted --drop-kernelch 0.5
	every_line 'decisions 40 bad 0 .*0x40 [2-6][0-9]/[0-4][0-9] '
	: >"$counts"
	run -0 counted --late-kernelch tuner
	every_line 'bad 0 .*0x40 80/80 '
	: >"$counts"
	run -0 counted --late-kernelch profiler --comms world+node
	: >"$counts"
	run -0 counted --abort
	every_line 'bad 0 0x1 40/40 0x2 40/40 0x40 6[0-9]/6[0-9] '
}

@test "two communicators, each with its own count" {
	run -0 counted --comms world+node
	[ "$(wc -l <"$counts")" = 8 ]
	every_line 'decisions 40 bad 0 0x1 40/40 0x2 40/40 '
	run -0 grep -c 'name - ' "$counts"
}

@test "ranks as threads of one process" {
	NT_FAKE_EVENTS=$ALL_EVENTS NT_FAKE_COUNTS=$counts run -0 timeout 1000 \
		"$FAKE" --ranks-in-process 4 --nodes 2 --iters 10
	every_line 'bad 0 0x1 40/40 0x2 40/40 0x40 80/80'
	NT_FAKE_PLUGIN=odd:3:17:RING/LL run -70 timeout 1000 "$FAKE" --ranks-in-process 4 --nodes 2 --iters 10
	[ "$(grep -c 'MISMATCH comm .*rank 3 RING/LL' <<<"$output")" = 4 ]
}

@test "decisions on another thread, launches ahead, no synchronisation" {
	run -0 counted --nonblocking --sync never --queue 5 --order shuffle --seed 7
	every_line 'decisions 40 bad 0 0x1 40/40 0x2 40/40 0x40 80/80'
}

@test "all five collectives" {
	run -0 counted --coll allreduce,allgather,reducescatter,broadcast,reduce --datatype ncclBfloat16
	every_line 'decisions 200 bad 0 0x1 200/200 0x2 200/200'
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

@test "an fp8 reduction over many ranks shows -1024, which is not legal either" {
	NT_FAKE_PLUGIN=arm:RING/LL128 run -0 --separate-stderr timeout 1000 \
		"$FAKE" --fork 10 --nodes 2 --iters 3 --datatype ncclFloat8e4m3
	json '.forced == 0 and ([.keys[].arm] | unique == ["TREE/SIMPLE"])'
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

@test "times come from the trace, and NCCL's pick as it was measured" {
	run -0 --separate-stderr timeout 1000 "$FAKE" --fork 8 --nodes 2 --iters 61 --sizes 256K \
		--call-gap-us 0 --lateness-us 0 --trace "$TRACES/h200-2x4-seq.csv" \
		--auto-picks "$TRACES/h200-auto-picks.csv"
	json '.keys[0].arm == "RING/SIMPLE"'
	# All 61 samples of the row, once each.
	local sum
	sum=$(awk -F, '/^allreduce,2x4,seq,AUTO,AUTO,262144,/ { for (i = 7; i <= NF; i++) s += $i; printf "%.0f", s }' \
		"$TRACES/h200-2x4-seq.csv")
	json "(.keys[0].total_us - $sum) | fabs < 2"
}

@test "an arm that is faster than NCCL predicts is faster when it is forced" {
	run -0 --separate-stderr fake --arm RING/LL=0.25 --noise none --sizes 64K
	local slow
	slow=$(jq .keys[0].last_us <<<"$output")
	NT_FAKE_PLUGIN=arm:RING/LL run -0 --separate-stderr fake --arm RING/LL=0.25 --noise none --sizes 64K
	json ".keys[0].last_us < 0.6 * $slow"
}

@test "variables for the plugin are set by rank, node and place" {
	NT_FAKE_EVENTS=2 run -0 fake --env "NT_FAKE_COUNTS=$BATS_TEST_TMPDIR/%n.%l.%r"
	[ -s "$BATS_TEST_TMPDIR/0.1.1" ]
	[ -s "$BATS_TEST_TMPDIR/1.0.2" ]
}

@test "bad options are refused, with what is accepted" {
	run -2 "$FAKE" --fork 4 --nosuch
	[[ $output = *"unknown option '--nosuch'"* ]]
	run -2 "$FAKE" --fork 4 --sizes 12Q
	[[ $output = *"--sizes: size '12Q' (want 1 to 1024G, as in 96, 64K or 1.5M)"* ]]
	run -2 "$FAKE" --fork 4 --coll alltoall
	run -2 "$FAKE" --fork 4 --nccl 2.19.3
	run -2 "$FAKE" --fork 4 --iters 0
	run -2 "$FAKE" --fork 4 --kill 1@0
	run -2 "$FAKE" --fork 4 --kill 1@5x
	run -2 "$FAKE" --fork 4 --noise bimodal:0.5
	run -2 "$FAKE" --fork 4 --noise lognormal:wide
	run -2 "$FAKE" --fork 4 --arm RING/LL
	run -2 "$FAKE" --fork 4 --iters
	run -2 "$FAKE"
}

@test "an application that never destroys its communicators" {
	run -0 counted --no-destroy
	# The profiler's finalize did not come.
	[ ! -e "$counts" ]
}

@test "groups of ranks: adjacent, far apart, reversed, incomplete, missing for some ranks" {
	run -0 --separate-stderr timeout 1000 "$FAKE" --fork 8 --nodes 2 --iters 5 --sizes 64K --call-gap-us 20 \
		--comms world,tp:2,dp:4,pp:4,block:3@1,rev:4,split:ab-b
	json '[.keys[] | [.comm, .calls, (.arms | add)]] == [["world", 5, 8], ["tp:2", 5, 8], ["dp:4", 5, 8],
		["pp:4", 5, 8], ["block:3@1", 5, 6], ["rev:4", 5, 8], ["split:ab-b", 5, 6]]'
	NT_FAKE_PLUGIN=odd:1:7:RING/LL run -70 fake --comms tp:2
}

@test "each rank uses its communicators in a different order" {
	run -0 --separate-stderr counted --comms world,tp:2,dp:2,rev:2 --interleave
	json '.calls == 160 and .mismatches == 0'
	every_line 'decisions 40 bad 0 0x1 40/40 0x2 40/40 0x40 (80|800)/'
	NT_FAKE_PLUGIN=odd:3:17:RING/LL run -70 fake --comms world,tp:2,dp:2 --interleave
}

@test "communicators are replaced by new ones, with new ids or the old one" {
	NT_FAKE_PLUGIN=idle run -0 --separate-stderr counted --comms world,roll:2 --churn 2
	# The world and five generations of the other, on each rank.
	[ "$(wc -l <"$counts")" = 24 ]
	every_line 'decisions (40|8) bad 0 '
	: >"$counts"
	run -0 counted --churn 1 --iters 120 --sizes 64K --interleave --comms world,roll:3,tp:2
	[ "$(wc -l <"$counts")" = 964 ]
	: >"$counts"
	run -0 counted --churn 2x2 --comms world,tp:2
	[ "$(wc -l <"$counts")" = 16 ]
	run -0 fake --comms world,roll:2 --churn 2 --same-id --interleave
}

@test "new communicators have new ids, or on request the old one" {
	NCCL_DEBUG=INFO run -0 fake --comms world,tp:2 --churn 2 --sizes 64K
	[ "$(grep -o 'commId 0x[0-9a-f]*' <<<"$output" | sort -u | wc -l)" = 11 ]
	NCCL_DEBUG=INFO run -0 fake --comms world,tp:2 --churn 2 --sizes 64K --same-id
	[ "$(grep -o 'commId 0x[0-9a-f]*' <<<"$output" | sort -u | wc -l)" = 3 ]
	[ "$(grep -c 'Init COMPLETE' <<<"$output")" = 24 ]
}

@test "one thread that drives all ranks of a process, in one group" {
	NT_FAKE_EVENTS=$ALL_EVENTS NT_FAKE_COUNTS=$counts run -0 --separate-stderr timeout 1000 "$FAKE" --fork 2 --nodes 2 \
		--ranks-in-process 2 --one-thread --iters 10 --call-gap-us 20 --comms world,tp:2,dp:2
	json '.ranks == 4 and .calls == 120'
	every_line 'decisions 40 bad 0 0x1 40/40 0x2 40/40 .* 0x200 40/40'
	# The second rank's call finds the group open.
	[ "$(grep -c ' 0x100 40/40 ' "$counts")" = 6 ]
	NT_FAKE_PLUGIN=odd:3:17:RING/LL run -70 timeout 1000 "$FAKE" --fork 2 --nodes 2 --ranks-in-process 2 --one-thread
}

@test "several processes of one task, and tasks without ranks" {
	run -0 --separate-stderr fake --procs-per-task 3 --env "NT_FAKE_COUNTS=$BATS_TEST_TMPDIR/task.%t"
	json '.ranks == 12'
	[ "$(wc -l <"$BATS_TEST_TMPDIR/task.3")" = 3 ]
	run -0 --separate-stderr fake --idle-tasks 0,2
	json '.ranks == 2'
	run -0 --separate-stderr timeout 1000 "$FAKE" --fork 6 --idle-tasks every:3 --iters 2
	json '.ranks == 4'
	run -2 "$FAKE" --fork 2 --idle-tasks 1
	run -2 "$FAKE" --fork 2 --interleave --queue 3
}

@test "calls that fail after their decision, and communicators aborted during calls" {
	run -0 counted --fail 10
	every_line 'decisions 44 bad 0 0x1 40/40 0x2 40/40 '
	run -0 --separate-stderr fake --abort-every 3 --comms world,tp:2 --iters 30
	json '.calls == 240'
	run -0 fake --abort-every 3 --comms world,tp:2,dp:2 --iters 30 --interleave --queue 8
	NT_FAKE_PLUGIN=odd:3:7:RING/LL run -70 fake --abort-every 3 --iters 30
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
