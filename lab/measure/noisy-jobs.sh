#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# noisy-jobs.sh - whole jobs with launch=auto on the mini cluster whose steps vary: where do they end?
#
#   noisy-jobs.sh run [JOBS [NOISE]...] >steps.csv    so many jobs (6) of each noise (0.03 0.09 0.15)
#   noisy-jobs.sh table <steps.csv                    a row for each noise
#
# A job has five steps and knows nothing at its start, so it calibrates for at most 60 s. The simulated NCCL has two nodes,
# times of nt-launch-trace and three mixes of calls by turns. A factor drawn for each step, and for each turn of a
# calibration, multiplies all its times: log-normal, its deviation is NOISE. Before that each profile has a step without noise
# for each mix, as job 0: the truth. Needs root. A job takes one to three minutes.
set -u -o pipefail
# shellcheck source=lab/measure/usage.bash
. "$(dirname "${BASH_SOURCE[0]}")/usage.bash"

readonly STEPS=5
readonly MIXES=("64Kx40" "64Kx8,1Mx4,16M" "64K,64Mx2")
readonly ITERS=(250 300 100)
readonly PROFILES=(default threads wide sockets)

# A row for each noise. Job 0 has the truth; the last step and all after the first, when the calls are known, are compared to it.
table() {
	awk -F, '
		/^[0-9]/ && $2 == 0 { truth[$3, $5] = $7; if (!($3 in best) || $7 < best[$3]) best[$3] = $7; next }
		/^[0-9]/ {
			job = $1 SUBSEP $2
			if (!(job in last)) { jobs[$1]++; if (!noises[$1]++) order[++count] = $1 }
			else if ($5 != last[job] && $4 > 1) flips[$1]++
			last[job] = $5; mix[job] = $3
			steps[$1] += $4 > 0
			slower[$1] += $4 > 0 && truth[$3, $5] > 1.03 * truth[$3, "default"]
			if ($4 == 0) { calibrated[$1] += $8; if ($8 > most[$1]) most[$1] = $8 }
		}
		END {
			for (job in last) {
				split(job, part, SUBSEP)
				ends[part[1]] += truth[mix[job], last[job]] <= 1.02 * best[mix[job]]
			}
			print "| noise | jobs | end within 2 % of the best | decided steps | over 3 % slower | flips a job | calibration, s: mean, most |"
			print "|---|---|---|---|---|---|---|"
			for (i = 1; i <= count; i++) {
				n = order[i]
				printf "| %s | %d | %d | %d | %d | %.2f | %.0f, %.0f |\n", n, jobs[n], ends[n], steps[n], slower[n],
					flips[n] / jobs[n], calibrated[n] / jobs[n], most[n]
			}
		}'
}

# The two programs of a job: a step, and what stands for nccl-tune-bench in a turn of a calibration.
write_programs() {
	local profile
	cat >"$made/profiles.conf" <<-'END'
		[threads]
		fabric = socket
		NCCL_SOCKET_NTHREADS = 4
		NCCL_NSOCKS_PERTHREAD = 4
		[wide]
		fabric = socket
		NCCL_MIN_NCHANNELS = 8
		NCCL_SOCKET_NTHREADS = 2
		NCCL_NSOCKS_PERTHREAD = 4
		[sockets]
		fabric = socket
		NCCL_NSOCKS_PERTHREAD = 2
	END
	"$NT_TESTS/nt-launch-trace" --best wide --topology 2x1 --picks "$made/picks.csv" >"$made/trace.csv" || return 1
	cat >"$made/factor" <<-'END'
		#!/bin/bash
		# The same in all tasks of a step.
		awk -v noise="$1" -v seed="$2$(printf %03d "$SLURM_STEP_ID")" 'BEGIN {
			srand(seed)
			for (i = 0; i < 20; i++)
				u = rand()
			printf "%.4f", exp(noise * sqrt(-2 * log(1 - rand())) * cos(6.283185 * u))
		}'
	END
	cat >"$made/fake" <<-END
		#!/bin/bash
		read -r noise seed <"$made/noise"
		exec "$NT_TESTS/nt-fake-nccl" --trace "$made/trace.csv" --auto-picks "$made/picks.csv" --launch-else none \\
			--slow-after "0:\$("$made/factor" "\$noise" "\$seed")" --seed "\$((seed * 1000 + SLURM_STEP_ID))" "\$@"
	END
	cat >"$made/program" <<-END
		#!/bin/bash
		exec "$made/fake" --call-gap-us 100 --iters 500 --more 120000 --settled --sizes 64K,1M,16M,64M
	END
	cat >"$made/nccl-tune" <<-END
		#!/bin/bash
		exec "$NT_STAGE/bin/nccl-tune" "\$@" -- "$made/program"
	END
	cat >"$made/job" <<-'END'
		#!/bin/bash
		# made STEPS LAUNCH FAKE-OPTION...: a line a step: STEP,PROFILE,FACTOR,US,CALIBRATION-S
		made=$1 steps=$2 launch=$3
		shift 3
		read -r noise seed <"$made/noise"
		for ((step = 0; step < steps; step++)); do
			began=$(date +%s)
			srun -v --mpi=pmix --nccl-tune="bandit,channels=on,launch=$launch" "$made/fake" "$@" >out 2>err ||
				{ cat out err >&2; exit 1; }
			id=$(sed -n 's/.*launching StepId=[0-9]*\.\([0-9]*\).*/\1/p' err | tail -n 1)
			took=0
			! grep -q 'calibrating launch profiles' err || took=$(($(date +%s) - began))
			profile=$(sed -n 's/.*nccl-tune: launch profile \([a-z]*\).*/\1/p' err | tail -n 1)
			echo "$step,${profile:-default},$(SLURM_STEP_ID=${id:-0} "$made/factor" "$noise" "$seed"),$(
				jq .rounds.last_us out),$took"
		done
	END
	chmod 755 "$made"/{factor,fake,program,nccl-tune,job}
	chmod a+r "$made"/*
}

# job NOISE NUMBER MIX STEPS LAUNCH FAKE-OPTION...: its lines as NOISE,JOB,MIX,STEP,PROFILE,FACTOR,US,CALIBRATION-S; times without the noise
job() {
	local noise=$1 number=$2 mix=$3 steps=$4 launch=$5
	shift 5
	rm -rf "$NT_CLUSTER/work/.local"
	echo "$noise $((1 + number))" >"$made/noise"
	chmod a+r "$made/noise"
	as_user sbatch -Q -W -N2 --ntasks-per-node=1 -t 15 -o "$NT_CLUSTER/work/log" "$made/job" "$made" "$steps" "$launch" \
		--sizes "${MIXES[mix]}" --iters "${ITERS[mix]}" "$@" || { cat "$NT_CLUSTER/work/log" >&2; return 1; }
	awk -F, -v head="$noise,$number,$mix" -v OFS=, '/^[0-9]+,/ { print head, $1, $2, $3, $4 / $3, $5 }' "$NT_CLUSTER/work/log"
}

run() {
	local jobs=${1:-6} mix profile noise number
	shift
	[ $# -gt 0 ] || set -- 0.03 0.09 0.15
	cluster_setup
	trap cluster_stop EXIT
	made=$NT_BASE/made
	mkdir -m 755 "$made"
	write_programs || exit 1
	cluster_start 2 -p "$(nt_plugstack_line "profiles=$made/profiles.conf command=$made/nccl-tune")" || exit 1
	echo "noise,job,mix,step,profile,factor,us,calibration_s"
	for mix in "${!MIXES[@]}"; do
		for profile in "${PROFILES[@]}"; do
			job 0 0 "$mix" 1 "${profile/default/off}" --more 60000 --settled || exit 1
		done
	done
	for ((number = 1; number <= jobs; number++)); do
		for noise; do
			job "$noise" "$number" $((number % 3)) $STEPS auto,calibrate=60 --realtime 1 || exit 1
		done
	done
}

# shellcheck source=tests/lib/cluster.bash
. "$(dirname "$0")/../../tests/lib/cluster.bash"

skip() {
	echo "noisy-jobs: $1" >&2
	exit 77
}

case ${1:-} in
run) shift; run "$@" ;;
table) table ;;
*) usage >&2 ;;
esac
