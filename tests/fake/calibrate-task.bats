#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# nt-calibrate, which measures launch profiles in a step's tasks, started by hand with the simulated NCCL: all tasks say the
# same, and soon, whatever happens to one of them.
bats_require_minimum_version 1.5.0
load ../lib/policy

readonly WIDE='NCCL_SOCKET_NTHREADS=2 NCCL_NSOCKS_PERTHREAD=4 NCCL_MIN_NCHANNELS=8'
# An impostor can echo the first half, which is sent first.
readonly TOKEN=0123456789abcdeffedcba9876543210

setup_file() {
	alone_environment
	unset NCCL_TUNER_PLUGIN NCCL_PROFILER_PLUGIN
	export DRIVER=$NT_STAGE/libexec/nccl-tune/nt-calibrate LD_LIBRARY_PATH=$TESTS/simulated
	# Small calls that take as long as large ones, and ten times that in real time: 46 ms, or 13 ms with wide. What a busy
	# machine adds is little against it, and is not spent on sums.
	export SLOW=$BATS_FILE_TMPDIR
	for file in times picks; do
		sed -n 's/,16777216,/,65536,/p' "$TESTS/simulated/$file.csv" >"$SLOW/$file.csv"
	done
}

setup() {
	export SLURM_JOB_ID=$((RANDOM + 1)) SLURM_STEP_ID=$BATS_TEST_NUMBER
	drivers=() started=()
	cd "$BATS_TEST_TMPDIR" || return 1
}

teardown() {
	local pid
	# Of those that were started, what still runs, not a process that has such a number meanwhile. One that is stopped would
	# keep bats waiting.
	for pid in $(jobs -rp); do
		[[ " ${started[*]} ${taken:-} " != *" $pid "* ]] || kill -KILL "$pid" 2>/dev/null || :
	done
}

# start TASKS PROCS SECONDS [member]...: drivers of tasks on two nodes in the background, what they say in N.out and N.err
start() {
	local task tasks=$1 request="v=1;seconds=$3;procs=$2;token=$TOKEN;address=127.0.0.1" member
	shift 3
	for member; do
		request+=";$member"
	done
	rm -f ./*.out ./*.err calibration.json memory
	"$RECORD" memory "$PWD/memory"
	drivers=()
	for ((task = 0; task < tasks; task++)); do
		SLURM_NCCL_TUNE_CALIBRATE=$request SLURM_PROCID=$task SLURM_NTASKS=$tasks SLURM_NODEID=$((2 * task / tasks)) \
			SLURM_LOCALID=$((task % (tasks / 2))) SLURMD_NODENAME=n$((2 * task / tasks)) \
			"$DRIVER" >"$task.out" 2>"$task.err" </dev/null 3<>memory &
		drivers[task]=$! started+=("$!")
	done
	began=$SECONDS
}

# all_say PATTERN SECONDS [task]...: these drivers, or all, have ended within that time, and their last lines are equal; what
# they have left in the node's memory is in calibration.json
all_say() {
	local pattern=$1 bound=$2 task line=
	shift 2
	[ $# -gt 0 ] || set -- "${!drivers[@]}"
	for task; do
		wait "${drivers[task]}" || { echo "task $task: status $?"; return 1; }
		[ "$task" = "$1" ] || [ "$(tail -n 1 "$task.out")" = "$line" ] || { tail -n 2 ./*.out; return 1; }
		line=$(tail -n 1 "$task.out")
	done
	"$RECORD" list "$PWD/memory" 2 >calibration.json
	# shellcheck disable=SC2053 # a pattern
	[[ $line = $pattern ]] || { echo "$line"; cat ./*.err; return 1; }
	((SECONDS - began <= bound + 60)) || { echo "after $((SECONDS - began)) s"; return 1; }
}

# wins PROFILE SECONDS start...: it is chosen; again where a busy machine had too little time, the same for all tasks
wins() {
	local i
	for i in 1 2 3; do
		NT_SIM_REALTIME=10 NT_SIM_OPTIONS="--trace $SLOW/times.csv,2x4 --auto-picks $SLOW/picks.csv --launch-else none" "${@:3}"
		! all_say "use $1" "$2" || return 0
		all_say '@(default|none undecided*)' "$2" || return 1
	done
	return 1
}

# benches: processes of the benchmark that these drivers have started
benches() {
	pgrep -P "$(IFS=,; echo "${drivers[*]}")" -f 'nccl-tune-bench --channel='
}

await() {
	local i
	for ((i = 0; i < 3000; i++)); do
		! "$@" >/dev/null 2>&1 || return 0
		sleep 0.1
	done
	echo "in vain: $*"
	return 1
}

@test "two tasks, and two of four processes: the faster profile is found, and the result says what was measured" {
	for procs in 1 4; do
		wins "wide $WIDE" 200 start 2 "$procs" 200 "calls=AllReduce:65536:10,AllGather:65536:5" "profile=wide $WIDE" \
			"profile=narrow NCCL_SOCKET_NTHREADS=1"
		[ "$(grep -c . 0.err)" = 2 ]
		[[ $(<0.err) = *'measuring launch profiles for at most 200 s before the program (once)'*'launch profile wide: calls are '*' x as fast'* ]]
		[ ! -s 1.err ]
		jq -ne --argjson procs "$procs" 'input | .v == 1 and .ranks == 2 * $procs and .nodes == 2 and .per_node == $procs and
			.nccl == 22809 and .chosen == "wide" and .gain > 1.3 and .why == "" and .mix and .laps >= 4 and .seconds > 0 and
			(.library | endswith("libnccl.so.2"))' calibration.json
		jq -se --argjson procs "$procs" --arg wide "$WIDE" '[.[1:][] | .profile] == ["default", "wide", "narrow"] and
			.[0].settings == $wide and .[0].failed == {} and
			([.[1:][].keys[] | [.[0], .[1], .[6], .[7], .[3]]] | unique) ==
			[["AllGather", 65536, 2 * $procs, 2, 5], ["AllReduce", 65536, 2 * $procs, 2, 10]] and
			([.[].keys[]? | .[5] | .[0] <= .[1] and .[1] <= .[2] and .[3] > 0] | all)' calibration.json
	done
}

@test "procs=0: a process for each GPU that a task sees" {
	NT_SIM_GPUS=2 start 2 0 20 calls=AllReduce:65536:1
	all_say '*' 20
	jq -se '.[0].ranks == 4 and .[0].per_node == 2' calibration.json
}

@test "communicators of a part of the ranks are measured, not that of all" {
	wins "wide $WIDE" 120 start 4 1 120 split=stride:2 calls=AllReduce:65536:10 "profile=wide $WIDE"
	jq -se '.[0].ranks == 4 and .[0].per_node == 2 and .[0].split == "stride:2" and
		([.[1:][].keys[] | [.[6], .[7]]] | unique) == [[2, 2]]' calibration.json
	start 4 1 60 split=block:2 calls=AllReduce:16777216:10
	all_say default 60
	jq -se '([.[1:][].keys[] | [.[6], .[7]]] | unique) == [[2, 1]]' calibration.json
}

@test "a task that dies or stops, in each phase: the others say none" {
	for signal in KILL STOP; do
		# Before it has come, in a lap.
		start 2 1 15
		kill -$signal "${drivers[1]}"
		all_say 'none task 1 *' 15 0
		start 2 1 20
		await benches
		kill -$signal "${drivers[1]}"
		all_say 'none task 1 *' 20 0
		kill -KILL "${drivers[1]}" 2>/dev/null || :
	done
}

@test "the task with the server dies or stops: the others say none" {
	for signal in KILL STOP; do
		start 2 1 15
		await benches
		# shellcheck disable=SC2046 # perhaps several
		kill -$signal "${drivers[0]}" $([ $signal = KILL ] || pgrep -P "${drivers[0]}" -x nt-calibrate)
		all_say 'none *' 15 1
		kill -KILL "${drivers[0]}" 2>/dev/null || :
	done
}

@test "nothing of a killed task is left" {
	start 2 2 30
	await benches
	mapfile -t left < <(benches; pgrep -P "${drivers[0]}" -x nt-calibrate)
	[ ${#left[@]} -ge 4 ]
	kill -KILL "${drivers[@]}"
	for pid in "${left[@]}"; do
		await eval "! kill -0 $pid"
	done
}

@test "one whose promise is not answered says exit; one that comes back for the outcome hears it" {
	# What stands for the server: it welcomes, prepares, and breaks off; at the second visit it tells the outcome, or is gone.
	for outcome in 'commit 1' 'none the others' ''; do
		cat >server.py <<-END
			import socket, sys
			hello = "welcome ${TOKEN:16}\n"
			listener = socket.socket()
			listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
			listener.bind(("127.0.0.1", int(sys.argv[1])))
			listener.listen()
			open("listens", "w").close()
			def visit(answer, reply):
			    # Of a driver that waited too long for this busy machine, the next visit counts.
			    while True:
			        with listener.accept()[0] as peer:
			            said = peer.recv(200)
			            peer.sendall((hello + answer).encode())
			            if peer.recv(200) == reply:
			                return said.decode()
			assert visit("prepare 1\n", b"ready\n").startswith("hello 1 ${TOKEN:0:16} 1 0 1 ")
			if "$outcome":
			    visit("$outcome\n", b"done\n")
		END
		port=$(port)
		rm -f listens
		timeout 100 python3 server.py "$port" 3>&- &
		server=$!
		await test -e listens
		start_second
		case $outcome in
		commit*) all_say "use wide $WIDE" 15 1 ;;
		none*) all_say "$outcome" 15 1 ;;
		*) all_say 'exit *' 15 1 ;;
		esac
		[ "$(head -n 1 1.out)" = doubt ]
		wait "$server"
	done
}

# port: the first one that a server of this step tries
port() {
	python3 -c '
import struct, sys
hash = 0x811c9dc5
for byte in struct.pack("=II", int(sys.argv[1]), int(sys.argv[2])):
    hash = (hash ^ byte) * 0x01000193 & 0xffffffff
print(61000 + hash % ((65536 - 61000) // 8) * 8)' "$SLURM_JOB_ID" "$SLURM_STEP_ID"
}

# start_second: only task 1 of two
start_second() {
	SLURM_NCCL_TUNE_CALIBRATE="v=1;seconds=20;procs=1;token=$TOKEN;address=127.0.0.1;profile=wide $WIDE" SLURM_PROCID=1 \
		SLURM_NTASKS=2 SLURM_NODEID=0 SLURM_LOCALID=1 "$DRIVER" >1.out 2>1.err </dev/null 3>&- &
	drivers=([1]=$!)
	began=$SECONDS
}

@test "ports that are taken, by what is silent or talks, and garbage on the server's port" {
	cat >taken.py <<-'END'
		import socket, sys, time
		port, held = int(sys.argv[1]), []
		for p in (port, port + 1):
		    listener = socket.socket()
		    listener.bind(("0.0.0.0", p))
		    listener.listen()
		    held.append(listener)
		held[1].settimeout(0.1)
		until = time.time() + float(sys.argv[2])
		while time.time() < until:
		    try:
		        held.append(held[1].accept()[0])
		        held[-1].sendall(b"welcome 0123456789abcdef\nrun 0 1 1 1\n" + bytes(range(256)) * 20)
		    except OSError:
		        pass
		    for text in (b"", b"\0\xff" * 3000, b"hello 1 0000000000000000 1 0 1 0\n", b"hello 1 " + b"9" * 5000, b"GET / HTTP/1.0\r\n\r\n"):
		        try:
		            held.append(socket.create_connection(("127.0.0.1", port + 2), 0.1))
		            held[-1].sendall(text)
		        except OSError:
		            pass
		    del held[2:-40]
		    time.sleep(0.2)
	END
	timeout 200 python3 taken.py "$(port)" 100 3>&- &
	taken=$!
	sleep 0.5
	start 2 1 60 calls=AllReduce:16777216:10
	all_say default 60 0 1
	jq -se '.[0].laps >= 2 and .[0].why == ""' calibration.json
}

@test "wrong results: the profile is marked and not chosen; of the default: nothing is chosen" {
	set=${WIDE// /+}
	NT_SIM_WRONG="1|$set" start 2 1 30 calls=AllReduce:16777216:10 "profile=wide $WIDE"
	all_say default 30
	jq -se '(.[2] | .profile == "wide" and .wrong and .keys == []) and (.[0].failed.wide | contains("wrong result"))' calibration.json
	NT_SIM_WRONG=1 start 2 1 30 calls=AllReduce:16777216:10
	all_say "none results were wrong with NCCL's own settings: *" 30
	jq -se '.[0].chosen == "" and (.[0].why | startswith("results were wrong")) and .[1].wrong' calibration.json
}

@test "a profile that fails or hangs is given up; with the default nothing is chosen" {
	set=${WIDE// /+}
	NT_SIM_FAIL="1|$set" start 2 1 30 calls=AllReduce:16777216:10 "profile=wide $WIDE"
	all_say default 30
	jq -se 'length == 2 and .[0].failed.wide != null' calibration.json
	NT_SIM_HANG="1|$set" start 2 1 60 calls=AllReduce:16777216:10 "profile=wide $WIDE"
	all_say default 60
	jq -se '.[0].failed.wide | contains("exceeded its share") or contains("stalled")' calibration.json
	NT_SIM_HANG=1 start 2 1 8
	all_say 'none the benchmark failed: *' 8
	NT_SIM_FAIL=1 start 2 1 20
	all_say 'none the benchmark failed: nccl-tune-bench: rank *' 20
}

@test "no GPU, no NCCL, too little time, a task that is missing: none, with the reason" {
	LD_LIBRARY_PATH='' start 2 0 20
	all_say 'none a task sees no GPU' 20
	start 2 1 20 library=/nonexistent/libnccl.so.2
	all_say 'none the benchmark failed: nccl-tune-bench: */nonexistent/libnccl.so.2*' 20
	start 2 1 1
	all_say 'none *' 1
	rm memory
	"$RECORD" memory "$PWD/memory"
	SLURM_NTASKS=3 SLURM_PROCID=0 start_one 6
	all_say 'none task 1 did not come within 5 s' 6 0
	[ ! -s calibration.json ]
	run -0 env -u SLURM_NCCL_TUNE_CALIBRATE "$DRIVER"
	[[ $output = *'none SLURM_NCCL_TUNE_CALIBRATE is not set' ]]
	SLURM_NCCL_TUNE_CALIBRATE='v=1;x=y' run -0 "$DRIVER"
	[[ $output = *'none a member is unknown or too long (want v, '* ]]
	run -2 "$DRIVER" --what
}

start_one() {
	SLURM_NCCL_TUNE_CALIBRATE="v=1;seconds=$1;procs=1;token=$TOKEN;address=127.0.0.1" SLURM_NODEID=0 SLURM_LOCALID=0 \
		"$DRIVER" >0.out 2>0.err </dev/null 3>&- &
	drivers=([0]=$!)
	began=$SECONDS
}

@test "the benchmark has none of our plugins, the user's own tuner, and writes no files of NCCL" {
	cat >libnccl.so.2.c <<-'END'
		#include <stdio.h>
		#include <stdlib.h>
		__attribute__((constructor)) static void show(void)
		{
			static const char *const names[] = { "NCCL_TUNER_PLUGIN", "NCCL_PROFILER_PLUGIN", "NCCL_TUNE_POLICY",
				"SLURM_NCCL_TUNE_CALIBRATE", "NCCL_DEBUG", "NCCL_DEBUG_FILE", "NCCL_TOPO_DUMP_FILE", "NCCL_CROSS_NIC", "NCCL_MIN_NCHANNELS",
				"NCCL_MAX_NCHANNELS" };
			FILE *f = fopen(getenv("SHOWN"), "a");

			for (int i = 0; f && i < 10; i++)
				fprintf(f, "%s ", getenv(names[i]) ? getenv(names[i]) : "-");
			if (f)
				fprintf(f, "\n");
			if (f)
				fclose(f);
		}
	END
	cc -shared -fPIC -o shown.so -x c libnccl.so.2.c
	LD_PRELOAD=$PWD/shown.so SHOWN=$PWD/shown NCCL_TUNER_PLUGIN=/ours NCCL_PROFILER_PLUGIN=/ours NCCL_TUNE_POLICY=v=1 NCCL_DEBUG=INFO \
		NCCL_TUNE_CHAINED_TUNER=theirs NCCL_DEBUG_FILE=$PWD/debug NCCL_TOPO_DUMP_FILE=$PWD/topo \
		NCCL_TUNE_LAUNCH='wide NCCL_MIN_NCHANNELS=8 NCCL_MAX_NCHANNELS=9' NCCL_MIN_NCHANNELS=8 NCCL_MAX_NCHANNELS=7 \
		start 2 1 20 calls=AllReduce:65536:1 'profile=nic NCCL_CROSS_NIC=1'
	all_say '@(default|none undecided*)' 20
	# Of a profile only what has its value is not the user's.
	grep -qx 'theirs - - - - - - - - 7 ' shown
	grep -qx 'theirs - - - - - - 1 - 7 ' shown
	[ ! -e debug ]
	[ ! -e topo ]
}
