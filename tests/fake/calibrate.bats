#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# nccl-tune calibrate with a made-up srun: which steps it starts, when it ends, and what it says. What steps really leave is
# tested in cluster/77-calibrate.bats.
# shellcheck disable=SC2154 # bats sets stderr
bats_require_minimum_version 1.5.0
load ../lib/policy

setup_file() {
	alone_environment
	mkdir -p "$BATS_FILE_TMPDIR/bin"
	ln -s "$BATS_TEST_DIRNAME/calibrate-srun" "$BATS_FILE_TMPDIR/bin/srun"
	export PATH=$BATS_FILE_TMPDIR/bin:$PATH
}

setup() {
	export FAKE_WORLD=$BATS_TEST_TMPDIR/world MEMORY=$BATS_TEST_TMPDIR/memory
	export SLURM_JOB_ID=12 SLURM_JOB_NUM_NODES=2 SLURM_NTASKS_PER_NODE=1 SLURM_JOB_NODELIST='n[1-2]'
	: >"$FAKE_WORLD"
	cat >"$BATS_TEST_TMPDIR/profiles.conf" <<-END
		[big]
		summary = wide
		fabric = socket
		NCCL_MIN_NCHANNELS = 8
		[other]
		summary = medium
		fabric = socket
		NCCL_MIN_NCHANNELS = 4
		[bad]
		summary = slow
		fabric = socket
		NCCL_SOCKET_NTHREADS = 4
		[fabric]
		summary = for another network
		fabric = ib
		NCCL_IB_QPS_PER_CONNECTION = 4
	END
}

# world LINE...: what profiles do.
world() {
	printf '%s\n' "$@" >"$FAKE_WORLD"
}

calibrate() {
	timeout -k 2 1000 "$NT_STAGE/bin/nccl-tune" calibrate --memory "$MEMORY" --profile-file "$BATS_TEST_TMPDIR/profiles.conf" "$@"
}

memory() {
	timeout -k 2 60 "$NT_STAGE/bin/nccl-tune" memory "$@" --memory "$MEMORY"
}

# The profiles of the steps in their order.
steps() {
	cut -d' ' -f1 "$FAKE_WORLD.calls" | tr '\n' ' '
}

@test "the best profile is found, profiles that cannot win run once, the order rotates, and the table and the choice are printed" {
	world 'big 0.8 0.4' 'other 0.9 0.5' 'bad 1.8 1.6'
	run -0 --separate-stderr calibrate --time 60s
	[[ $(steps) = 'default big other bad big other default '* ]]
	[ "$(steps | tr ' ' '\n' | grep -c bad)" = 1 ]
	[ "$(steps | tr ' ' '\n' | grep -c big)" -gt "$(steps | tr ' ' '\n' | grep -c other)" ]
	[[ $output = *'Calibration in job 12: 2 x 1, socket, NCCL 2.28.9; '*'steps in '*'no job'?'s calls are known'* ]]
	[[ $output =~ 'default '+'big '+'other '+'bad' ]]
	[[ $output =~ 'AllReduce 64K '+'100.0 '+'1.25 '+'1.11 '+'0.56' ]]
	[[ $output =~ 'AllReduce 16M '+'6000.0 '+'2.50 '+'2.00 '+0.6[23] ]]
	[[ $output = *'launch profile big (calibrated '*' on 2 x 1: all sizes alike '*' x)'* ]]
	[[ $output = *'bad '*'the mix of calls is unknown, and it is slower at some size'* ]]
	[[ $output = *'It took '*'pays off in steps that spend '* ]]
	[[ $output != *fabric* && $(steps) != *fabric* ]]
	[[ $stderr = *'calibrate: bad: '*' x, given up; at most '*' s left'* ]]
	# A file a step, and one with an entry for each profile that ran more than once.
	[ "$(find "$MEMORY" -name '*.jsonl' | wc -l)" = $(($(steps | wc -w) + 1)) ]
	[ "$(cat "$MEMORY"/*.jsonl | jq -c 'select(.turns) | [.profile, .turns >= 2, .deviation < 0.01]' | sort | tr -d '\n')" = \
		'["big",true,true]["default",true,true]["other",true,true]' ]
	run -0 memory show --profile-file "$BATS_TEST_TMPDIR/profiles.conf"
	[[ $output = *': 4 entries in '* ]]
	[[ $output =~ 'big '+'1 '+calibrate' '.*' 0.0 ' ]]
}

@test "if nothing is better the default stays, which is not a failure, and no time is wasted" {
	world 'big 1.8 1.6' 'other 1.7 1.5' 'bad 2 1.8'
	run -0 --separate-stderr calibrate --time 20s
	[ "$(steps)" = 'default big other bad ' ]
	[[ $output = *'launch profile default (no profile is better than the default)'* ]]
	[[ $output = *'It took '*"; later steps start with NCCL's own settings"* ]]
}

@test "the job's mix is measured and decides" {
	world 'big 2 0.5' 'other 0.6 1' 'bad 1.5 1.3'
	mkdir "$MEMORY"
	entry 12 3 '["AllReduce",65536,"AUTO",100000,[90,100,110,24],[90,100,110,24]]' >"$MEMORY/a.jsonl"
	run -0 --separate-stderr calibrate --time 20s
	[[ $output = *'calls of step 12.3'* ]]
	[[ $output = *'launch profile other (calibrated '*"this job's mix 1.67 x)"* ]]
	grep -q -- '--coll=allreduce --sizes=65536 ' "$FAKE_WORLD.calls"
	run -0 --separate-stderr calibrate --time 20s --sizes 16M
	[[ $output = *"no job's calls are known"* ]]
	tail -n 1 "$FAKE_WORLD.calls" | grep -q -- '--sizes=16777216 '
}

# entry JOB STEP KEY: a step of a job with the default.
entry() {
	printf '{"v":1,"id":"%024x","fingerprint":"00f3000000000001","fabric":"socket","nodes":2,"per_node":1,"nccl":22809,' "$2"
	printf '"driver":"570.1","profile":"default","origin":"job","job":%d,"step":%d,"when":%d,' "$1" "$2" "$(($(date +%s) - 60))"
	printf '"added":%d000000,"keys":[%s]}\n' "$(($(date +%s) - 60))" "$3"
}

@test "if the default's run is too short for a size, it is repeated with a longer run, and so are the others" {
	world 'big 0.8 0.4'
	export FAKE_MOST=4194304
	run -0 --separate-stderr calibrate --time 40s --profiles big
	[[ $(steps) = 'default default big '* ]]
	[ "$(grep -o -- '--seconds=[0-9]*' "$FAKE_WORLD.calls" | sort -u | wc -l)" = 2 ]
	[[ $(sed -n 3p "$FAKE_WORLD.calls") = *"$(sed -n 2p "$FAKE_WORLD.calls" | grep -o -- '--seconds=[0-9]*')"* ]]
	[[ $output != *'AllReduce 16M'* && $output = *'AllReduce 4M'* ]]
}

@test "if the default's run ends before its ranks have compared their hardware, it is repeated with a longer run" {
	world 'default 1 1 short' 'big 0.8 0.4'
	run -0 --separate-stderr calibrate --time 60s --profiles big
	[[ $(steps) = 'default default big '* ]]
	[ "$(head -n 2 "$FAKE_WORLD.calls" | grep -o -- '--seconds=[0-9]*' | sort -u | wc -l)" = 2 ]
	[[ $output = *'launch profile big'* && $stderr != *'no result'* ]]
	rm -r "$FAKE_WORLD.calls" "$MEMORY"
	world 'default 1 1 silent'
	run -1 --separate-stderr calibrate --time 60s
	[ "$(steps)" = 'default default ' ]
}

@test "a step that fails is reported and counts against its profile" {
	world 'big 0.8 0.4 fail' 'other 0.85 0.42' 'bad 1.5 1.3'
	run -0 --separate-stderr calibrate --time 20s -- prog -x
	[ "$(steps | tr ' ' '\n' | grep -c big)" = 1 ]
	[[ $stderr = *'nccl-tune calibrate: big: exit status 1: nccl-tune-bench: rank 0: no GPU of prog'* ]]
	[[ $output = *' failed '* && $output = *'launch profile other'* ]]
	grep -q -- 'launch=other prog -x$' "$FAKE_WORLD.calls"
}

@test "a step that hangs is ended after its share of the time, and counts against its profile" {
	world 'big 0.8 0.4 hang' 'other 0.85 0.42' 'bad 1.5 1.3'
	run -0 --separate-stderr calibrate --time 20s
	[[ $stderr = *'calibrate: big: it exceeded its share of the time'* ]]
	[[ $output = *'launch profile other'* ]]
}

@test "a step without measurements: with the default it is an error, with a profile it counts against it" {
	world 'default 1 1 silent'
	run -1 --separate-stderr calibrate --time 20s -- prog
	[ "$(steps)" = 'default ' ]
	[[ $stderr = *"default: nothing of it was remembered in $MEMORY"* && -z $output ]]
	[[ $stderr = *'spank_nccl_tune'*'nt-recordd'*'nccl-tune report 12 '* ]]
	world 'big 0.8 0.4 silent' 'other 0.85 0.42' 'bad 1.5 1.3'
	run -0 --separate-stderr calibrate --time 20s
	[[ $output = *'launch profile other'* && $stderr = *"big: nothing of it was remembered"* ]]
}

@test "without a GPU the default fails: its reason is printed, and nothing is claimed" {
	world 'default 1 1 fail'
	run -1 --separate-stderr calibrate --time 20s
	[ "$(steps)" = 'default ' ]
	[[ $stderr = *'default: exit status 1: nccl-tune-bench: rank 0: no GPU'*'no step with NCCL'?'s default succeeded'* ]]
	[ -z "$output" ]
}

@test "no step starts that would not fit into the time" {
	local -x FAKE_LATE_S
	world 'big 0.8 0.4' 'default 1 1 late'
	# A busy machine takes its time for a step: again with more.
	for FAKE_LATE_S in 2 8 32; do
		rm -f "$FAKE_WORLD.calls"
		run -1 --separate-stderr calibrate --time $((2 * FAKE_LATE_S - 1))s
		[ "$(steps)" = 'default ' ]
		[[ $output != *'AllReduce 16M'*'no time'* ]] || break
	done
	[[ $output = *'AllReduce 16M'*'no time'* ]]
	[[ $stderr = *'too little time for a profile: at least two steps of '*'--time'* ]]
	rm "$FAKE_WORLD.calls"
	world 'default 1 1 late' 'big 0.8 0.4 late' 'other 1 1 late'
	FAKE_LATE_S=2 run calibrate --time 5s
	[ "$status" -le 1 ]	# 1, and the first alone, where the machine is slow
	[[ $(steps) = 'default '?('big ') ]]
}

@test "interrupted: the step is ended, and the results so far are printed" {
	world 'big 0.8 0.4' 'other 0.85 0.42 hang' 'bad 1.5 1.3'
	"$NT_STAGE/bin/nccl-tune" calibrate --memory "$MEMORY" --profile-file "$BATS_TEST_TMPDIR/profiles.conf" --time 60s \
		>"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" &
	local pid=$! i rc=0
	for ((i = 0; i < 3000; i++)); do
		! grep -q '^other' "$FAKE_WORLD.calls" || break
		sleep 0.1
	done
	sleep 0.3
	kill -TERM "$pid"
	wait "$pid" || rc=$?
	[ "$rc" = 1 ]
	grep -q 'launch profile big (calibrated' "$BATS_TEST_TMPDIR/out"
	grep -q 'interrupted: results so far' "$BATS_TEST_TMPDIR/err"
	[ "$(steps)" = 'default big other ' ]
	run -1 kill -0 "$(cat "$FAKE_WORLD.pid")"
}

@test "an invalid command line, and a shell outside of a job" {
	run -2 calibrate --time soon
	[[ $output = *"bad time 'soon' (want 1 to 3600 seconds, as in 30, 30s or 2m)"* ]]
	run -2 calibrate --sizes 64K -- prog
	run -2 calibrate prog
	[[ $output = *"unknown argument 'prog' (put a program after --)"* ]]
	run -2 calibrate --nodes 0
	run -1 calibrate --sizes 64K,,1M
	[[ $output = *"bad sizes '64K,,1M'"* ]]
	run -1 calibrate --profiles big,biggest
	[[ $output = *biggest*big* ]]
	run -1 calibrate --nodes 1
	[[ $output = *'one task: two or more are needed (--ntasks-per-node)'* ]]
	unset SLURM_JOB_ID
	run -1 calibrate
	[[ $output = *'not in a Slurm job: run it in an sbatch script or an salloc shell'* ]]
	[ ! -e "$FAKE_WORLD.calls" ]
}

@test "only the named profiles, on the requested nodes and tasks" {
	world 'big 0.8 0.4' 'other 0.85 0.42'
	run -0 calibrate --profiles other,default --nodes 4 --ntasks-per-node 8 --mpi pmix_v4 --overlap -q
	[[ $(steps) = 'default other '* && $(steps) != *big* ]]
	grep -q -- '--nodes=4 --ntasks=32 --ntasks-per-node=8 --mpi=pmix_v4 .*--overlap ' "$FAKE_WORLD.calls"
}

# on FABRIC: the profiles that a calibration tries there.
on() {
	rm -rf "$FAKE_WORLD.calls" "$MEMORY"
	FAKE_FABRIC=$1 run -0 --separate-stderr calibrate --time 20s
	cut -d' ' -f1 "$FAKE_WORLD.calls" | sort -u | tr '\n' ' '
}

@test "each network has its own profiles, and one that is not known has none" {
	local fabric found
	: >"$BATS_TEST_TMPDIR/profiles.conf"
	for fabric in socket ib efa cxi tcpx pcie; do
		printf '[for-%s]\nfabric = %s\nNCCL_MIN_NCHANNELS = 8\n' "$fabric" "$fabric" >>"$BATS_TEST_TMPDIR/profiles.conf"
	done
	for fabric in socket ib efa cxi tcpx pcie; do
		world "for-$fabric 0.8 0.4"
		found=$(on "$fabric")
		[ "$found" = "default for-$fabric " ] || { echo "$fabric: $found"; return 1; }
	done
	[ "$(on any)" = 'default ' ]
	FAKE_FABRIC=any run -0 --separate-stderr calibrate --time 20s
	[[ $output = *'2 x 1, network unknown, NCCL'*'launch profile default'* ]]
}

@test "a profile for sends and receives alone is measured only if it is named" {
	printf '[sends]\nfabric = socket\nNCCL_NCHANNELS_PER_NET_PEER = 4\n' >>"$BATS_TEST_TMPDIR/profiles.conf"
	world 'big 0.8 0.4'
	run -0 --separate-stderr calibrate --time 20s
	[[ $(steps) != *sends* && $output = *'sends: only for sends and receives, which these programs do not make'* ]]
	rm "$FAKE_WORLD.calls"
	run -0 --separate-stderr calibrate --time 20s --profiles sends
	[[ $(steps) = *sends* ]]
}

@test "what a job sends and receives is measured with all its sizes, and so are profiles for it" {
	printf '[sends]\nfabric = socket\nNCCL_NCHANNELS_PER_NET_PEER = 4\n' >>"$BATS_TEST_TMPDIR/profiles.conf"
	mkdir -p "$MEMORY"
	cat >"$MEMORY/0123456789abcdef0123456700000000.jsonl" <<-END
		{"v":1,"id":"0123456789abcdef01234567","fingerprint":"00f3000000000001","fabric":"socket","nodes":2,"per_node":1,"nccl":22809,"driver":"570.1","profile":"default","origin":"job","job":12,"step":0,"when":$(date +%s),"added":$(date +%s)000000,"keys":[["AllReduce",1048576,"AUTO",100,[0,0,0,0],[290,300,310,24]],["AllToAll",65536,"AUTO",500,[0,0,0,0],[200,200,200,32]],["Send",4194304,"AUTO",90,[0,0,0,0],[900,900,900,32]]]}
	END
	world 'sends 0.8 0.4'
	run -0 --separate-stderr calibrate --time 20s
	[[ $output = *'calls of step 12.0'* && $(steps) = *sends* ]]
	grep -q -- '--coll=alltoall,sendrecv,allreduce --sizes=65536,1048576,4194304 ' "$FAKE_WORLD.calls"
}

@test "a calibration of an unknown place is neither shown nor exported" {
	mkdir "$MEMORY"
	printf '{"v":1,"fingerprint":"%016x","fabric":"%s","nodes":2,"per_node":4,"profile":"default","when":%d,%s%s"added":%d,"keys":[]}\n' \
		0 any "$(date +%s)" '"origin":"calibrate","job":12,"step":0,"nccl":0,"driver":"",' '"id":"000000000000000000000001",' \
		"$(date +%s)000000" >"$MEMORY/note.jsonl"
	run -0 memory show --profile-file "$BATS_TEST_TMPDIR/profiles.conf"
	[[ $output = *"0 entries in 1 file,"*"nothing is remembered"* && $output != *'ignored:'* ]]
	run -0 memory export -
	[[ $output != *'{'* ]]
}
