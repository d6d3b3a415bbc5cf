#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# Why something was not tuned or not decided: jobs of the simulated NCCL that make each reason, their record as
# nt-recordd makes it, and the line that nccl-tune report prints of it. What no such job makes is in unit/reason-lines.
# shellcheck disable=SC2034,SC2086 # what bats and four_ranks set; several words
bats_require_minimum_version 1.5.0
load ../lib/policy

setup_file() {
	alone_environment
}

readonly WARM='v=1 nccl=22809 fabric=any fingerprint=0000000000000001 4r1n.AllReduce.4194304='
# A busy machine gets through more calls until all is decided.
readonly FAST='--sizes 4M --arm TREE/SIMPLE=0.5 --iters 500 --more 60000'
readonly SHORT='--sizes 4M --iters 200'

# job 'SETTING=VALUE...' [option]...: four ranks in one process; in $mode.
job() {
	four_ranks "$@"
	nodes=("$dir")
	keep
}

# tasks SED [option]...: four processes, on two nodes where the options say so; what SED makes of NCCL_TUNE_POLICY.
# %r, %n: rank, node.
tasks() {
	local policy iters
	for iters in '' 800 3200 12800 51200; do
		dir=$(mktemp -d "$BATS_TEST_TMPDIR/nodes.XXXXXX")
		mkdir -m 700 "$dir"/{0,1}
		policy=$(task_policy "${mode:-bandit}" "$dir/%n" join_timeout=1 | sed "s/node=n1/node=n%n/; $1")
		run -0 --separate-stderr timeout 1000 "$FAKE" --fork 4 --noise lognormal:0.03 --call-gap-us 20 \
			--env "NCCL_TUNE_POLICY=$policy" "${@:2}" ${iters:+--iters $iters}
		jq -e '.mismatches == 0' <<<"$output"
		still_joining "$dir"/? || break
		# Without PMIx those of two nodes never find each other.
		[[ " $* " != *' --nodes 2 '* ]] || break
	done
	nodes=("$dir/0")
	[ ! -e "$dir/1/shm" ] || nodes+=("$dir/1")
	keep
}

# keep: the job's record, in $dir/record; it and the ranks' are as the schemas say.
keep() {
	local step node
	step=$("$RECORD" step "${nodes[0]}" "${mode:-bandit}" "${nodes[@]:1}" 2>"$dir/read")
	printf '{"nccl_tune":{"v":1,"0":%s}}\n' "$step" >"$dir/record"
	"$RECORD" check "$SCHEMA/job.schema.json" "$dir/record"
	for node in "${nodes[@]}"; do
		"$RECORD" check "$SCHEMA/rank.schema.json" <(rank_records "$node")
	done
}

# says CODE SENTENCE ADVICE [TEXT]: so the report says, in the form for programs and in that for people, which has TEXT
# as well. In SENTENCE and TEXT * stands for anything.
says() {
	local text reason says advice found=''
	while IFS=$'\t' read -r reason says advice; do
		# shellcheck disable=SC2053 # a pattern
		[[ $reason = "$1" && $says = $2 && $advice = "$3" ]] && found=$says
	done < <("$SHOW" report --json --file "$dir/record" | jq -r '.. | objects | select(.says and .why) | [.why, .says, .advice] | @tsv')
	text=$("$SHOW" report --full --file "$dir/record" | tr -s ' \n' '  ')
	[[ -n $found && $text = *"$found"* && $text = *"$3"* && $text = *${4:-}* ]] ||
		{ "$SHOW" report --file "$dir/record"; return 1; }
}

# tells CODE SENTENCE ADVICE: the same of what accounting only counts.
tells() {
	local text
	text=$("$SHOW" report --full --file "$dir/record" | tr -s ' \n' '  ')
	[[ $text = *"$2 -> $3"* ]] || { "$SHOW" report --full --file "$dir/record"; return 1; }
	jq -e --arg rest "1 $1" '.nccl_tune["0"].rest | any(. == $rest)' "$dir/record" >/dev/null || { cat "$dir/record"; return 1; }
}

readonly LONGER='Run longer; or explore once in a short step with --nccl-tune=profile,launch=auto and use the result with --nccl-tune=policy,launch=auto.'
readonly NCCLS="NCCL's choice (RING/LL128)"

@test "decided: nothing faster, too small a gain, nothing else to try" {
	job '' --sizes 4M --arm RING/LL128=0.5 --iters 500 --more 60000
	says screened "$NCCLS is the fastest: no other choice was faster in the first round." \
		"Other start-up settings may be faster: --nccl-tune=bandit,launch=auto measures some before the step." '(screened)'
	# Few samples in the first round let it look better than it is, and all of them show a gain; with hardly any seed they do not.
	local seed
	for seed in {1..12}; do
		job 'min_gain=50 screen_blocks=4' $FAST --noise lognormal:0.5 --seed $seed
		! "$SHOW" report --full --file "$dir/record" | tr -s ' \n' '  ' | grep -q 'TREE/SIMPLE is the best other choice, by' || break
	done
	says small "$NCCLS stays: TREE/SIMPLE is the best other choice, by * %, but gains less than min_gain (default 3 %) at the lower quartile of the times, which decides." \
		'To take smaller gains: --nccl-tune=bandit,min_gain=1.'
	job 'algorithms=ring protocols=ll128' $SHORT
	says alone "NCCL's choice is RING/LL128. NCCL has no other algorithm or protocol for it here, or none that is allowed." \
		'Unset NCCL_ALGO and NCCL_PROTO if they are set; allow more with algorithms= and protocols= of --nccl-tune.'
}

@test "decided: too few samples, too expensive, no longer faster" {
	job 'screen_blocks=4 confirm_blocks=8' $FAST --drop-kernelch 1
	says samples "$NCCLS stays: too few calls could be timed." "$LONGER" ': NCCL'"'"'s choice stays: too few calls could be timed.'
	job max_calls=100 $FAST
	says budget "$NCCLS stays: exploring further would have exceeded its budget, or cost more than it could save." \
		'To raise the budget: --nccl-tune=bandit,max_calls=5000 (also budget=, max_extra=).' 'exploring further would have exceeded its budget'
	job recheck=1 $FAST --arm TREE/SIMPLE=4@2000 --iters 12000
	says back "$NCCLS is used again: TREE/SIMPLE was in use, but was not faster when it was measured again. Rechecked * times, rolled back 1 time." \
		'Nothing needs to be done; it is measured again while the step runs.'
}

@test "decided: by an earlier step" {
	mode=policy NCCL_TUNE_WARM=${WARM}TREE/SIMPLE job '' $FAST
	says known "TREE/SIMPLE instead of NCCL's RING/LL128. An earlier step chose it; this step did not measure it." \
		'To measure it again: --nccl-tune=bandit,launch=auto.'
	NCCL_TUNE_WARM=${WARM}AUTO job min_calls=100000 $SHORT
	says best "$NCCLS stays: an earlier step found nothing better." \
		'To measure it again: nccl-tune memory forget --all, then --nccl-tune=bandit,launch=auto.'
}

@test "not decided: more calls would not have helped" {
	job '' --sizes 4M --iters 1000 --capture 4x5
	says graphs "NCCL's choice is RING/LL128. The program captures CUDA graphs: calls in a graph cannot be timed, and a graph keeps what it was captured with." \
		'Explore in a step without graphs, with launch=auto; then capture with --nccl-tune=policy,launch=auto.' \
		'AllReduce 4M*: The program captures CUDA graphs'
	job '' --sizes 4M --iters 2000 --probe --nccl 2.30.7
	says symmetric "NCCL's choice is RING/LL128. NCCL may run symmetric kernels for it, which no plugin can choose." \
		"Nothing is lost: NCCL's choice stays. NCCL_WIN_ENABLE=0 turns these kernels off." 'AllReduce 4M*: NCCL may run symmetric kernels'
	job '' --sizes 4M --iters 2000 --ras 0x2@20 --nccl 2.32.6
	says ras "NCCL's choice is RING/LL128. NCCL's RAS service uses the profiler, so calls cannot be timed." \
		'Do not let ncclras change the profiler, or set NCCL_RAS_ENABLE=0.' "AllReduce 4M*: NCCL's RAS service"
	mode=observe job '' $SHORT
	says observed "NCCL's choice is RING/LL128. Only measured: mode observe changes nothing." \
		'To explore: --nccl-tune=bandit.' 'AllReduce 4M*: Only measured: mode observe'
}

@test "not decided: too few calls, or too little of the time" {
	job min_calls=100000 $SHORT
	says counted "NCCL's choice is RING/LL128. Not explored: it was called too rarely, or the step ended before its turn." \
		'Run longer, or start earlier: --nccl-tune=bandit,min_calls=8.' 'AllReduce 4M*: Not explored'
	job min_share=20 --sizes 64Mx4,4K --iters 200
	tells little 'little: Not explored: it takes too little of the communication time.' \
		'To explore everything: --nccl-tune=bandit,min_share=0.'
	# Longer, where it was over before exploring had begun.
	local iters
	for iters in 200 300 400 600 800 1200 2400; do
		job 'screen_blocks=64 max_calls=100000' --sizes 4M --iters $iters --call-gap-us 500
		! grep -q '"why":"open"' "$dir/record" || break
	done
	says open "*Not decided: the step ended while other choices were still being measured." "$LONGER" \
		'Not decided: the step ended'
}

@test "not decided: the memory cannot be used" {
	mode=policy job '' $SHORT
	says new "NCCL's choice is RING/LL128. Not explored: mode policy only uses results of earlier steps, and there are none for it with this NCCL, network and hardware." \
		'Explore in a step with --nccl-tune=profile,launch=auto; later steps in mode policy use the result.' \
		'AllReduce 4M*: Not explored: mode policy'
	mode=policy NCCL_TUNE_WARM=${WARM}NVLS/SIMPLE job '' $SHORT
	says illegal '*NCCL does not allow the choice that an earlier step found.' 'To measure it again: --nccl-tune=bandit,launch=auto.'
	mode=policy NCCL_TUNE_WARM=${WARM}TREE/SIMPLE job algorithms=ring $SHORT
	says forbidden '*The settings do not allow the choice that an earlier step found.' \
		'Leave out algorithms= and protocols= of --nccl-tune; --nccl-tune=help shows who set them.'
	mode=policy NCCL_TUNE_WARM=${WARM}TREE/SIMPLE job '' $FAST --iters 2500 --capture 2x3
	says captured '*It was captured in a CUDA graph before its ranks had agreed on the choice that an earlier step found; a graph keeps what it was captured with.' \
		'Make about 20 plain calls of it before capturing.'
}

readonly ALLOW='If LL128 is known to work here, an administrator can allow it: ll128 = on in nccl-tune.conf.'
# LL128 is legal, and not what NCCL chooses.
readonly LARGE='--sizes 64M --ll128'

@test "LL128: not tried and not used from memory if it may give wrong results" {
	NCCL_NET_PLUGIN=ofi job '' $LARGE --nodes 2 --iters 500 --more 60000
	says ll128 'LL128 is not tried: NCCL uses an external network plugin, and LL128 gives wrong results on some such systems.' \
		"$ALLOW" 'Tuned with limits: LL128'
	NT_FAKE_ARM=1:1 job '' $LARGE --iters 500 --more 60000
	says ll128c2c 'LL128 is not tried: the GPUs are connected to their CPUs by NVLink-C2C, and LL128 gives wrong results on some such systems.' \
		"$ALLOW" 'Tuned with limits: LL128'
	mode=policy NT_FAKE_ARM=1:1 NCCL_TUNE_WARM=${WARM/4194304=/67108864=}RING/LL128 job '' $LARGE --iters 200
	says ll128arm '*An earlier step chose LL128, which may give wrong results with this network or hardware.' "$ALLOW"
}

readonly HERE='Not tuned, a communicator of 4 ranks on 1 node: '
readonly APART='Not tuned, a communicator of 4 ranks on 2 nodes: '

@test "seen: sends, receives and all-to-alls, and how much of the time they take" {
	job '' $SHORT --p2p alltoall:4M --p2p send:256K
	says p2p 'Seen and not tuned: NCCL asks no tuner how to send and receive.' \
		'Start-up settings may make sends and receives faster: --nccl-tune=bandit,launch=auto measures some before the step.' \
		'All*% of the time?: Seen and not tuned'
}

@test "communicators: NCCL does not let them be tuned" {
	local settings
	for settings in '' graphs=never; do
		job "$settings" $SHORT --nccl 2.26.2
		says rank 'This NCCL is too old: 2.26 and older tell plugins neither their rank nor GPU times.' \
			'Use NCCL 2.28 or newer.' "$HERE"
	done
	job '' $SHORT --nccl 2.27.7
	says api 'This NCCL gives plugins no GPU times or no sequence numbers; NCCL 2.28 and newer do.' \
		'Use NCCL 2.28 or newer; or 2.27, if the program captures no CUDA graphs: --nccl-tune=bandit,graphs=never.' "$HERE"
	# As Slurm's TaskProlog sets them, after slurmstepd.
	local half='NCCL loaded nccl-tune as tuner only or as profiler only; it needs both.'
	local unset='Unset NCCL_TUNER_PLUGIN and NCCL_PROFILER_PLUGIN in the job and in nccl.conf; NCCL_DEBUG=INFO shows what is loaded.'
	tasks '' $SHORT --env NCCL_TUNER_PLUGIN=none
	says half "$half" "$unset" "$HERE"
	says othertuner "nccl-tune is not loaded as tuner: Slurm's TaskProlog, or the program, has set NCCL_TUNER_PLUGIN after nccl-tune." \
		'Set NCCL_TUNER_PLUGIN in the job, before srun: then nccl-tune loads that plugin as well.' 'Not tuned: nccl-tune is not loaded as tuner'
	tasks '' $SHORT --env NCCL_PROFILER_PLUGIN=none
	says half "$half" "$unset" "$HERE"
	says otherprof "nccl-tune is not loaded as profiler: Slurm's TaskProlog, or the program, has set NCCL_PROFILER_PLUGIN after nccl-tune." \
		'Set NCCL_PROFILER_PLUGIN in the job, before srun: then nccl-tune loads that plugin as well.' 'Not tuned: nccl-tune is not loaded as profiler'
}

@test "communicators: ranks that differ or are missing" {
	tasks 's/fingerprint=[0-9]*/fingerprint=000000000000001%l/' $SHORT
	says hardware 'Rank * on this node has different hardware: 000000000000001?, others 000000000000001?.' \
		"Compare what nccl-tune check-config prints on the two nodes; it also says if a node's number is out of date." "$HERE"
	tasks 's/min_gain=3/min_gain=1%l/' $SHORT
	says policy 'Rank * on this node has different settings of nccl-tune: *, others *.' \
		'Use the same plugstack.conf and nccl-tune.conf on all nodes; do not change NCCL_TUNE_POLICY in the job.' "$HERE"
	tasks '' $SHORT --env "NCCL_TUNE_WARM=${WARM}RING/SIMPLE/1%rch"
	says warm 'Rank * on this node was given different remembered choices: *.' 'Do not change NCCL_TUNE_WARM in the job.' "$HERE"
	tasks '' $SHORT --nodes 2
	says joining 'The step ended before its ranks had found each other, or PMIx, which connects the nodes, is not in use.' \
		'If the step ran without PMIx: srun --mpi=pmix; otherwise run longer.' "$APART"
}

@test "steps: variables that the user has set, and invalid records" {
	tasks s/flags=0/flags=15/ $SHORT
	says tuner "nccl-tune is not loaded as tuner: NCCL_TUNER_PLUGIN is 'none' or too long." \
		'Unset NCCL_TUNER_PLUGIN; a tuner that it names is loaded as well.' 'Not tuned: nccl-tune is not loaded as tuner'
	says profiler "nccl-tune is not loaded as profiler: NCCL_PROFILER_PLUGIN is 'none' or too long." \
		'Unset NCCL_PROFILER_PLUGIN; a profiler that it names is loaded as well.' 'Not tuned: nccl-tune is not loaded as profiler'
	says algo 'NCCL_ALGO is set in the job: algorithms that it excludes are not tried.' 'Unset NCCL_ALGO, also in nccl.conf.' 'Note: NCCL_ALGO'
	says proto 'NCCL_PROTO is set in the job: protocols that it excludes are not tried.' 'Unset NCCL_PROTO, also in nccl.conf.' 'Note: NCCL_PROTO'
	NCCL_TUNE_CHAINED_TUNER=/nonexistent/libmine.so job '' $SHORT
	says noload "The job's own tuner plugin /nonexistent/libmine.so could not be loaded, and the job ran without it: *No such file or directory." \
		'Correct or unset the variable that names it: NCCL_TUNER_PLUGIN, NCCL_PROFILER_PLUGIN.' "Note: The job's own tuner plugin"
	NCCL_TUNE_CHAINED_TUNER=$TESTS/nt-google-tuner.so job '' $SHORT
	says plugfail "The job's own tuner plugin tcpxo tuner (v5) failed to start, with NCCL's error 4, and the job ran without it." \
		"NCCL_DEBUG=INFO shows what it says. Google's tuner needs NCCL_TUNER_CONFIG_PATH." "Note: The job's own tuner plugin"
	"$RECORD" put "$dir" 77 7 <<<'{"v":1'
	nodes=("$dir")
	printf '{"nccl_tune":{"v":1,"0":%s}}\n' "$("$RECORD" step "$dir" bandit)" >"$dir/record"
	says unusable '1 of the rank records could not be read: 77.7: *.' \
		'Is the same nccl-tune installed on all nodes, and in all containers?'
}
