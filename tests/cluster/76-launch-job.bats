#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# A job of several steps with launch=auto, from a memory that knows nothing: it calibrates before its first step, once, and
# no step of the program is an experiment. Times are the simulated NCCL's, by the launch variables in its environment.
# shellcheck disable=SC2016,SC2030,SC2031,SC2154 # expressions for the shell of the job; what bats sets
bats_require_minimum_version 1.5.0
load ../lib/cluster

setup_file() {
	cluster_setup
	export MADE=$NT_BASE/made
	mkdir -m 755 "$MADE"
	cat >"$MADE/profiles.conf" <<-'END'
		[threads]
		fabric = socket
		NCCL_SOCKET_NTHREADS = 4
		[wide]
		fabric = socket
		NCCL_MIN_NCHANNELS = 8
		NCCL_SOCKET_NTHREADS = 2
		NCCL_NSOCKS_PERTHREAD = 4
	END
	local best
	for best in wide none; do
		"$NT_TESTS/nt-launch-trace" --light --best "$best" --topology 2x1 --picks "$MADE/picks.csv" \
			--profile threads=NCCL_SOCKET_NTHREADS=4 >"$MADE/$best.csv" || return 1
	done
	# What stands for nccl-tune-bench, with lines of shell before and after it.
	cat >"$MADE/program" <<-END
		#!/bin/bash
		trap 'exit 3' TERM
		. "$MADE/before"
		"$NT_TESTS/nt-fake-nccl" --trace "\$(cat "$MADE/best").csv" --auto-picks "$MADE/picks.csv" \\
			--launch-else none --call-gap-us 100 --iters 500 --more 120000 --settled --sizes 64K,64M || exit
		. "$MADE/after"
	END
	cat >"$MADE/nccl-tune" <<-END
		#!/bin/bash
		exec "$NT_STAGE/bin/nccl-tune" "\$@" -- "$MADE/program"
	END
	cat >"$MADE/step" <<-END
		#!/bin/bash
		exec srun -v --mpi=pmix --nccl-tune=bandit,channels=on,launch=auto\$(cat "$MADE/calibrate") "$NT_TESTS/nt-fake-nccl" \\
			--sizes 64K,64Mx2 --iters 150 --realtime 1 --trace "\$(cat "$MADE/best").csv" --auto-picks "$MADE/picks.csv"
	END
	chmod 755 "$MADE"/{program,nccl-tune,step}
	touch "$MADE"/{before,after}
	chmod a+r "$MADE"/*
	cluster_start 2 -p "$(nt_plugstack_line "profiles=$MADE/profiles.conf" "command=$MADE/nccl-tune" calibrate_max=1200)"
	need_pmix
}

setup() {
	rm -rf "$NT_CLUSTER/work/.local"
	: >"$MADE/before"
	: >"$MADE/after"
	calibrate_takes ,calibrate=600
}

# calibrate_takes [,calibrate=VALUE]: what the steps say of it
calibrate_takes() {
	echo "${1:-}" >"$MADE/calibrate"
}

# job BEST STEPS: of $minutes minutes; a line a step: "NUMBER WHAT-SRUN-SAYS|LAST-US-OF-THE-LARGE-CALLS"; $id, $NT_CLUSTER/work/err.N.
job() {
	echo "$MADE/$1" >"$MADE/best"
	cat >"$NT_CLUSTER/work/job" <<-END
		#!/bin/bash
		for ((step = 0; step < $2; step++)); do
			"$MADE/step" >out 2>err.\$step || { cat out err.\$step; exit 1; }
			echo "\$step \$(sed -n 's/.*nccl-tune: launch profile //p' err.\$step)|\$(jq '.keys[] | select(.bytes > 65536) | .last_us' out)"
		done
	END
	id=$(as_user sbatch --parsable -W -N2 --ntasks-per-node=1 -t "${minutes:-50}" -o "$NT_CLUSTER/work/log" job) || { cat "$NT_CLUSTER/work/log" >&2; return 1; }
	mapfile -t lines <"$NT_CLUSTER/work/log"
	cat "$NT_CLUSTER/work/log" "$NT_CLUSTER"/work/err.* >&2
}

# us LINE: what the large calls took
us() {
	echo "${lines[$1]##*|}"
}

# calibrated N: how often step N of the job said that it calibrates
calibrated() {
	grep -c 'calibrating launch profiles for at most' "$NT_CLUSTER/work/err.$1" || :
}

entries() {
	cat "$NT_CLUSTER"/work/.local/state/nccl-tune/memory/*.jsonl | jq -rc "select(.profile) | $1"
}

@test "the first step has the best profile, and so do all later ones; no step tries a profile" {
	job wide 4
	[ "$(calibrated 0) $(calibrated 1) $(calibrated 2) $(calibrated 3)" = "1 0 0 0" ]
	grep -q 'for at most 600 s before the step (once; Ctrl-C skips it; the job has 0:[0-9]*:[0-9]* of its time left)' \
		"$NT_CLUSTER/work/err.0"
	local line
	for line in "${lines[@]}"; do
		[[ $line = [0-3]' wide (calibrated '*' on 2 x 1: '*' x)|'* ]]
	done
	run -0 entries 'select(.origin == "job") | [.profile, .program, .asked // false] | join(" ")'
	[ "$(sort -u <<<"$output")" = 'wide nt-fake-nccl false' ]
	# The next job knows it.
	calibrate_takes
	job wide 1
	[ "$(calibrated 0)" = 0 ]
	[[ ${lines[0]} = "0 wide (calibrated "*" on 2 x 1: this job's mix "* ]]
}

@test "if no profile is better the default stays, and no step calibrates again" {
	job none 2
	[ "$(calibrated 0) $(calibrated 1)" = "1 0" ]
	[[ ${lines[0]} = '0 default (no profile is better than the default)'* && ${lines[1]} = '1 default ('* ]]
}

@test "calibrate=auto takes 1 % of the remaining time, and nothing if that is too little; off takes nothing" {
	calibrate_takes
	minutes=8 job wide 1
	[ "$(calibrated 0)" = 0 ]
	grep -q "no calibration: it would take over 1 % of the job's time" "$NT_CLUSTER/work/err.0"
	[[ ${lines[0]} = '0 default ('* ]]
	calibrate_takes ,calibrate=off
	job wide 1
	[ "$(calibrated 0)" = 0 ]
	run ! grep -q 'calibration' "$NT_CLUSTER/work/err.0"
	echo "$MADE/none" >"$MADE/best"
	# 20 minutes: 12 s at most. What comes of it in so little time does not matter here.
	calibrate_takes
	run -0 as_user salloc -Q -N2 --ntasks-per-node=1 -t 20 "$MADE/step"
	[[ $output =~ 'for at most '1[12]' s before the step (once; Ctrl-C skips it; the job has 0:'(19|20) ]]
}

@test "one task of an array calibrates; the others have NCCL's own settings and say why" {
	echo "$MADE/wide" >"$MADE/best"
	# The calibration goes on until all others have been told.
	echo '[ -z "$NCCL_TUNE_CALIBRATION" ] || until [ "$(grep -l "is calibrating such nodes" array.* | wc -l)" = 3 ]; do sleep 0.2; done' \
		>"$MADE/before"
	printf '#!/bin/bash\nexec "%s/step" 2>&1\n' "$MADE" >"$NT_CLUSTER/work/job"
	as_user sbatch -W -a 0-3 -N2 -s --ntasks-per-node=1 -t 60 --mem=0 -o array.%a "$NT_CLUSTER/work/job" || { cat "$NT_CLUSTER"/work/array.*; false; }
	run -0 grep -l 'calibrating launch profiles for at most' "$NT_CLUSTER"/work/array.0 "$NT_CLUSTER"/work/array.1 \
		"$NT_CLUSTER"/work/array.2 "$NT_CLUSTER"/work/array.3
	[ "${#lines[@]}" = 1 ]
	grep -q 'launch profile wide (calibrated' "${lines[0]}"
	run -0 grep -c "no calibration: job [0-9]* is calibrating such nodes, for at most [0-9]* s more; the step uses NCCL's own settings" \
		"$NT_CLUSTER"/work/array.{0,1,2,3}
	[ "$(grep -c ':1$' <<<"$output")" = 3 ]
	run -0 grep -c 'launch profile default (' "$NT_CLUSTER"/work/array.{0,1,2,3}
	[ "$(grep -c ':1$' <<<"$output")" = 3 ]
}

@test "Ctrl-C ends the calibration and not the step, which has NCCL's own settings" {
	echo "$MADE/wide" >"$MADE/best"
	# The first run of the calibration lasts until it is ended, whatever else this machine does.
	echo "[ -z \"\$NCCL_TUNE_CALIBRATION\" ] || { touch '$NT_CLUSTER/work/runs'; exec sleep 1200; }" >"$MADE/before"
	calibrate_takes ,calibrate=1200
	# A terminal of its own, and its Ctrl-C.
	as_user salloc -Q -N2 --ntasks-per-node=1 -t 60 script -qefc "exec $MADE/step" typed \
		< <(for ((i = 0; i < 6000; i++)); do [ ! -e "$NT_CLUSTER/work/runs" ] || break; sleep 0.2; done
			printf '\003'; exec sleep 1200 3>&-) \
		>"$NT_CLUSTER/work/shown" 2>&1 || { tr '\r' '\n' <"$NT_CLUSTER/work/typed" | grep -v 's left$'; false; }
	cat "$NT_CLUSTER/work/typed" >&2
	grep -q 'the calibration was interrupted' "$NT_CLUSTER/work/typed"
	grep -q 'launch profile default (' "$NT_CLUSTER/work/typed"
	tr -d '\r' <"$NT_CLUSTER/work/typed" | grep -q '"keys"'
	run -0 as_root squeue -h -s -o %j
	[[ $output != *nccl-tune-calibrate* ]]
}

@test "a profile with wrong results is never chosen, however fast; memory, report and slurmd's log say so" {
	echo 'if [ -n "$NCCL_MIN_NCHANNELS" ]; then echo "wrong result: AllReduce 64M: 17 elements differ" >&2; exit 3; fi' >"$MADE/after"
	job wide 2
	[[ ${lines[0]} != '0 wide'* && ${lines[1]} != '1 wide'* ]]
	grep -q 'calibrate: wide: .* failed: wrong results; it is not used on this hardware again: wrong result: AllReduce 64M' \
		"$NT_CLUSTER/work/err.0"
	run -0 entries 'select(.wrong) | [.profile, .origin, (.keys | length)] | join(" ")'
	[ "$output" = 'wide calibrate 0' ] || { echo "$output"; entries .; false; }
	run -0 as_user "$NT_STAGE/bin/nccl-tune" memory show --profile-file "$MADE/profiles.conf"
	[[ $output = *'not wide: it gave wrong results here'* ]] || { echo "$output"; false; }
	run -0 as_root grep -h 'results are wrong with launch profile wide; it is not used on this hardware again' "$NT_CLUSTER"/log/n1.log
	wait_record "$id"
	run -0 as_user "$NT_STAGE/bin/nccl-tune" report "$id"
	[[ $(tr -s ' \n' ' ' <<<"$output") = *'results are wrong with launch profile wide: it is not used on this hardware again'* ]]
	# Nor is it tried again, where a user asks for a calibration.
	: >"$MADE/after"
	run -0 as_user salloc -Q -N2 --ntasks-per-node=1 -t 60 "$MADE/nccl-tune" calibrate --time 600s --profile-file "$MADE/profiles.conf"
	[[ $output = *'Not tried: wide: it gave wrong results here'* ]]
}

@test "if forced choices give wrong results none is forced" {
	echo 'if [[ $NCCL_TUNE_POLICY = *bandit* ]]; then echo "wrong result" >&2; exit 3; fi' >"$MADE/after"
	job wide 1
	grep -q 'results are wrong with forced algorithms and protocols' "$NT_CLUSTER/work/err.0"
	[[ ${lines[0]} = '0 default ('* ]]
	job wide 1
	[ "$(calibrated 0)" = 0 ]
	[[ ${lines[0]} = '0 default (forced algorithms and protocols gave wrong results on this hardware: none is forced)'* ]]
	wait_record "$id"
	run -0 sacct_field "$id" admincomment
	[ "$(jq -r '.nccl_tune["0"].mode' <<<"$output")" = observe ] || { echo "$output"; false; }
}
