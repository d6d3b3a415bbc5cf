#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# Why something was not tuned or not decided: jobs of the simulated NCCL that make each reason, their record as
# nt-recordd makes it, and the line that nccl-tune report prints of it. What no such job makes is in unit/reason-lines.
# shellcheck disable=SC2030,SC2031,SC2034,SC2086,SC2154 # what bats and four_ranks set; several words
bats_require_minimum_version 1.5.0
load ../lib/policy

setup_file() {
	alone_environment
	export RECORD=$TESTS/nt-record SCHEMA=$BATS_TEST_DIRNAME/../../docs/schema
}

readonly WARM='v=1 nccl=22809 fabric=any fingerprint=0000000000000001 4r1n.AllReduce.4194304='
# A busy machine gets through more calls until all is decided.
readonly FAST='--sizes 4M --arm TREE/SIMPLE=0.5 --iters 500 --more 60000'
readonly SHORT='--sizes 4M --iters 200'

# job 'SETTING=VALUE...' [option]...: four ranks in one process; in $mode. Again, and longer, where it was over before the
# ranks had found each other, which takes as long as the machine is busy.
job() {
	local iters
	for iters in '' 800 3200 12800 51200; do
		four_ranks "$@" ${iters:+--iters $iters}
		jq -es 'any(.[].comms[]; .state == "joining" and .why == "")' "$dir"/rank.*.json >/dev/null || break
	done
	nodes=("$dir")
	keep
}

# tasks SED [option]...: four processes, on two nodes where the options say so; what SED makes of NCCL_TUNE_POLICY.
# %r, %n: rank, node.
tasks() {
	local policy iters
	for iters in '' 800 3200 12800 51200; do
		dir=$BATS_TEST_TMPDIR/nodes.$RANDOM
		mkdir -m 700 "$dir" "$dir"/{0,1}
		policy=$(task_policy "${mode:-bandit}" "$dir/%n" join_timeout=1 | sed "s/node=n1/node=n%n/; $1")
		run -0 --separate-stderr timeout 300 "$FAKE" --fork 4 --noise lognormal:0.03 --call-gap-us 20 \
			--env "NCCL_TUNE_POLICY=$policy" "${@:2}" ${iters:+--iters $iters}
		jq -e '.mismatches == 0' <<<"$output"
		jq -es 'any(.[].comms[]; .state == "joining" and .why == "")' "$dir"/?/rank.*.json >/dev/null || break
		# Without PMIx those of two nodes never find each other.
		[[ " $* " != *' --nodes 2 '* ]] || break
	done
	nodes=("$dir/0")
	[ -z "$(ls "$dir/1")" ] || nodes+=("$dir/1")
	keep
}

# keep: the job's record, in $dir/record; it and the ranks' are as the schemas say.
keep() {
	local step node
	step=$("$RECORD" step "${nodes[0]}" "${mode:-bandit}" "${nodes[@]:1}" 2>"$dir/read")
	printf '{"nccl_tune":{"v":1,"0":%s}}\n' "$step" >"$dir/record"
	"$RECORD" check "$SCHEMA/job.schema.json" "$dir/record"
	for node in "${nodes[@]}"; do
		"$RECORD" check "$SCHEMA/rank.schema.json" "$node"/rank.*.json
	done
}

# says CODE SENTENCE ADVICE [TEXT]: so the report says, in the form for programs and in that for people, which has TEXT
# as well. In SENTENCE and TEXT * stands for anything.
says() {
	local text reason says advice found=''
	while IFS=$'\t' read -r reason says advice; do
		# shellcheck disable=SC2053 # a pattern
		[[ $reason = "$1" && $says = $2 && $advice = "$3" ]] && found=$says
	done < <("$SHOW" report --json --file "$dir/record" | jq -r '.[] | [.reason, .says, .advice] | @tsv')
	text=$("$SHOW" report --file "$dir/record" | tr -s ' \n' '  ')
	[[ -n $found && $text = *"$found"* && $text = *"$3"* && $text = *${4:-}* ]] ||
		{ "$SHOW" report --file "$dir/record"; return 1; }
}

# tells CODE SENTENCE ADVICE: the same of what accounting only counts.
tells() {
	local text
	text=$("$SHOW" report --file "$dir/record" | tr -s ' \n' '  ')
	[[ $text = *"$2 -> $3"* ]] || { "$SHOW" report --file "$dir/record"; return 1; }
	jq -e --arg rest "1 $1" '.nccl_tune["0"].rest | any(. == $rest)' "$dir/record" >/dev/null || { cat "$dir/record"; return 1; }
}

readonly LONGER='Run longer; or explore once in a short step with --nccl-tune=profile,launch=auto and use what it found with --nccl-tune=policy,launch=auto.'
readonly NCCLS="NCCL's choice (RING/LL128)"

@test "decided: nothing faster, too small a gain, nothing else to try" {
	job '' --sizes 4M --arm RING/LL128=0.5 --iters 500 --more 60000
	says screened "$NCCLS is the fastest: in a first round no other one was faster." \
		"Other settings at NCCL's start may be faster: --nccl-tune=bandit,launch=auto tries some." 'nothing to gain at 4M'
	local gain
	for gain in 38 37 39 36 40 35 41 38.5 37.5 39.5 38 37; do
		job min_gain=$gain $FAST --noise none
		! grep -q '"why":"small"' "$dir/record" || break
	done
	says small "$NCCLS stays: TREE/SIMPLE is the best of the others, by * %, but in the fastest quarter of its calls, which is what counts, it gains less than min_gain asks for (3 %, unless it was set)." \
		'To take smaller gains: --nccl-tune=bandit,min_gain=1.'
	job 'algorithms=ring protocols=ll128' $SHORT
	says alone "NCCL's choice is RING/LL128. NCCL has no other algorithm or protocol for it here, or none that may be tried." \
		'If NCCL_ALGO or NCCL_PROTO is set, unset it; algorithms= and protocols= of --nccl-tune may be too narrow.'
}

@test "decided: too few samples, too dear, no longer faster" {
	job 'screen_blocks=4 confirm_blocks=8' $FAST --drop-kernelch 1
	says samples "$NCCLS stays: too few of its calls could be timed for a decision." "$LONGER" 'too few calls could be timed: AllReduce 4M'
	job max_calls=100 $FAST
	says budget "$NCCLS stays: exploring on would have cost more than it may, or could bring." \
		'To let it cost more: --nccl-tune=bandit,max_calls=5000 (also budget=, max_extra=).' 'would have cost too much: AllReduce 4M'
	job recheck=1 $FAST --arm TREE/SIMPLE=4@2000 --iters 12000
	says back "$NCCLS is back: TREE/SIMPLE was used for a while, and was no longer faster when it was looked at again. Looked at again * times, and given up 1 time." \
		'Nothing needs to be done; it is looked at again while the step runs.'
}

@test "decided: by an earlier step" {
	mode=policy NCCL_TUNE_WARM=${WARM}TREE/SIMPLE job '' $FAST
	says known "TREE/SIMPLE in place of NCCL's RING/LL128. An earlier step found it; it was taken over, and not measured here." \
		'To measure it again: --nccl-tune=bandit,launch=auto.'
	NCCL_TUNE_WARM=${WARM}AUTO job min_calls=100000 $SHORT
	says best "$NCCLS stays: an earlier step found nothing better." \
		'To look anew: nccl-tune memory forget --all, then --nccl-tune=bandit,launch=auto.'
}

@test "not decided: no call by itself would have changed that" {
	job '' --sizes 4M --iters 1000 --capture 4x5
	says graphs "NCCL's choice is RING/LL128. The program captures CUDA graphs on it: calls in a graph cannot be timed, and a graph keeps what it was captured with." \
		'Explore in a step without graphs, with launch=auto; then capture with --nccl-tune=policy,launch=auto.' \
		'Left alone, since the program captures CUDA graphs: AllReduce 4M.'
	job '' --sizes 4M --iters 2000 --probe --nccl 2.30.7
	says symmetric "NCCL's choice is RING/LL128. NCCL may run its symmetric kernels on it, which no plugin chooses." \
		"Nothing is lost: NCCL's choice stays. NCCL_WIN_ENABLE=0 switches these kernels off." "symmetric kernels instead: AllReduce 4M."
	job '' --sizes 4M --iters 2000 --ras 0x2@20 --nccl 2.32.6
	says ras "NCCL's choice is RING/LL128. NCCL's RAS service has taken over the profiler, so that calls cannot be timed." \
		'Let ncclras leave the profiler alone, or set NCCL_RAS_ENABLE=0.' 'has taken over the profiler: AllReduce 4M.'
	mode=observe job '' $SHORT
	says observed "NCCL's choice is RING/LL128. Only measured: mode observe changes nothing." \
		'To try other choices: --nccl-tune=bandit.' 'Only measured, as mode observe does: AllReduce 4M.'
}

@test "not decided: too few calls, or too little of the time" {
	job min_calls=100000 $SHORT
	says counted "NCCL's choice is RING/LL128. It was not explored: it was called too seldom, or its turn had not come when the step ended." \
		'Run longer, or begin earlier: --nccl-tune=bandit,min_calls=8.' 'its turn did not come: AllReduce 4M.'
	job min_share=20 --sizes 64Mx4,4K --iters 200
	tells little 'Left alone, since it takes too little of the communication time: 1 collective and size.' \
		'To explore everything: --nccl-tune=bandit,min_share=0.'
	# Longer, where it was over before exploring had begun.
	local iters
	for iters in 200 300 400 600 800 1200; do
		job 'screen_blocks=64 max_calls=100000' --sizes 4M --iters $iters --call-gap-us 500
		! grep -q '"why":"open"' "$dir/record" || break
	done
	says open "*Unfinished: the step ended while others were still being tried." "$LONGER" \
		'Unfinished when the step ended: AllReduce 4M'
}

@test "not decided: what is remembered cannot be used" {
	mode=policy job '' $SHORT
	says new "NCCL's choice is RING/LL128. Mode policy explores nothing, and no earlier step has found anything for it with this NCCL, network and hardware." \
		'Explore in a step with --nccl-tune=profile,launch=auto; later ones of mode policy use what it found.' \
		'and nothing is remembered: AllReduce 4M.'
	mode=policy NCCL_TUNE_WARM=${WARM}NVLS/SIMPLE job '' $SHORT
	says illegal '*What an earlier step found better NCCL does not allow here.' 'To look anew: --nccl-tune=bandit,launch=auto.'
	mode=policy NCCL_TUNE_WARM=${WARM}TREE/SIMPLE job algorithms=ring $SHORT
	says forbidden '*What an earlier step found better is not among the algorithms and protocols that may be used.' \
		'Leave out algorithms= and protocols= of --nccl-tune; nccl-tune config says who sets them.'
	mode=policy NCCL_TUNE_WARM=${WARM}TREE/SIMPLE job '' $FAST --iters 2500 --capture 2x3
	says captured '*The program captured it in a CUDA graph before its ranks had agreed on what an earlier step found better; a graph keeps what it was captured with.' \
		'Let the program make some 20 plain calls of it before it captures.'
}

readonly HERE='Not tuned, a communicator of 4 ranks on 1 node: '
readonly APART='Not tuned, a communicator of 4 ranks on 2 nodes: '

@test "communicators: NCCL does not let them be tuned" {
	job '' $SHORT --nccl 2.26.2
	says rank 'This NCCL does not tell plugins which rank they are.' 'Use NCCL 2.28 or newer.' "$HERE"
	job '' $SHORT --nccl 2.27.7
	says api 'This NCCL tells plugins neither how long the GPU took nor which call is which; 2.28 and newer do.' \
		'Use NCCL 2.28 or newer; 2.27, if the program captures no CUDA graphs: --nccl-tune=bandit,graphs=never.' "$HERE"
	local half
	for half in NCCL_TUNER_PLUGIN NCCL_PROFILER_PLUGIN; do
		tasks '' $SHORT --env $half=none
		says half 'NCCL loaded nccl-tune only as profiler or only as tuner; it takes both.' \
			'Unset NCCL_TUNER_PLUGIN and NCCL_PROFILER_PLUGIN in the job and in nccl.conf; NCCL_DEBUG=INFO shows what is loaded.' "$HERE"
	done
}

@test "communicators: ranks that differ, or are not there" {
	tasks 's/fingerprint=1/fingerprint=1%l/' $SHORT
	says hardware 'Rank * on this node has other hardware: 000000000000001?, others 000000000000001?.' \
		"Compare nccl-tune fingerprint of the two nodes; it also says whether a node's number is out of date." "$HERE"
	tasks 's/min_gain=3/min_gain=1%l/' $SHORT
	says policy 'Rank * on this node has other settings of nccl-tune: *, others *.' \
		'Make plugstack.conf and nccl-tune.conf alike on all nodes; let the job leave NCCL_TUNE_POLICY alone.' "$HERE"
	tasks '' $SHORT --env "NCCL_TUNE_WARM=${WARM}RING/SIMPLE/1%rch"
	says warm 'Rank * on this node was given other remembered choices: *.' 'Let the job leave NCCL_TUNE_WARM alone.' "$HERE"
	tasks '' $SHORT --nodes 2
	says joining 'The step ended before its ranks had found each other, or some could not be heard: ranks on other nodes are heard over PMIx alone.' \
		'If the step was started without it: srun --mpi=pmix; else let it run longer.' "$APART"
}

@test "steps: what the user has set, and what is no record" {
	tasks s/flags=0/flags=15/ $SHORT
	says tuner 'NCCL_TUNER_PLUGIN was none, or too long a name, so that nccl-tune was not loaded as tuner.' \
		'Unset NCCL_TUNER_PLUGIN; a tuner that it names is loaded as well.' 'Not tuned: NCCL_TUNER_PLUGIN'
	says profiler 'NCCL_PROFILER_PLUGIN was none, or too long a name, so that nccl-tune was not loaded as profiler.' \
		'Unset NCCL_PROFILER_PLUGIN; a profiler that it names is loaded as well.' 'Not tuned: NCCL_PROFILER_PLUGIN'
	says algo 'NCCL_ALGO is set in the job: what it forbids is not tried.' 'Unset NCCL_ALGO, also in nccl.conf.' 'Note: NCCL_ALGO'
	says proto 'NCCL_PROTO is set in the job: what it forbids is not tried.' 'Unset NCCL_PROTO, also in nccl.conf.' 'Note: NCCL_PROTO'
	NCCL_TUNE_CHAINED_TUNER=/nonexistent/libmine.so job '' $SHORT
	says noload 'The tuner plugin that the job asks for could not be loaded, and the job ran without it: */nonexistent/libmine.so*No such file or directory.' \
		'Mend or unset what names it: NCCL_TUNER_PLUGIN, NCCL_PROFILER_PLUGIN.' 'Note: The tuner plugin'
	echo '{"v":1' >"$dir/rank.77.7.json"
	nodes=("$dir")
	printf '{"nccl_tune":{"v":1,"0":%s}}\n' "$("$RECORD" step "$dir" bandit)" >"$dir/record"
	says unusable 'What a process left could not be read (rank.77.7.json): *.' \
		'Look with nccl-tune show on the node while such a step runs; is the same nccl-tune installed on all nodes?'
}
