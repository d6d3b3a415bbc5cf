#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# noisy-jobs.sh - whole jobs with launch=auto on the mini cluster whose steps vary: where do they end?
#
#   noisy-jobs.sh run [-c CLUSTERS] [-f FIRST] [-m MIX] [-t MINUTES] [JOBS [NOISE]...] >steps.csv
#                       jobs FIRST (1) to JOBS (6) of each noise (0.03 0.09 0.15), on so many clusters (1) side by side; with
#                       one mix (0 to 3) alone; none begins after MINUTES
#   noisy-jobs.sh table <steps.csv    a row for each noise, and the truth; of several files joined, too
#
# A job has five steps and knows nothing at its start, so it calibrates for at most 60 s. The simulated NCCL has two nodes,
# times of nt-launch-trace and four mixes of calls by turns. A factor drawn for each step, and for each turn of a
# calibration, multiplies all its times: log-normal, its deviation is NOISE. Before its jobs each cluster runs a step without
# noise with each profile and mix, as job 0: the truth. Needs root. A job takes one to three minutes.
set -u -o pipefail
# shellcheck source=lab/measure/usage.bash
. "$(dirname "${BASH_SOURCE[0]}")/usage.bash"

readonly STEPS=5
readonly TRUTH_STEPS=2
readonly MIXES=("64Kx40" "64Kx8,1Mx4,16M" "64K,64Mx2" "64Kx24,1Mx8")
readonly ITERS=(250 300 100 200)
readonly PROFILES=(default threads wide sockets)

# The truth is the mean of job 0's steps. A job ends with its last step's profile; the steps after its first, when the calls are
# known, are decided. Limits are of 95 %: of shares Clopper's and Pearson's, of flips the mean's, a job being one sample.
table() {
	awk -F, '
		function least(a, b) { return a < b ? a : b }
		# P(X <= k) of n draws.
		function binomial(k, n, p,    i, term, sum) {
			if (p <= 0 || p >= 1)
				return p <= 0 || k >= n
			term = exp(n * log(1 - p))
			for (i = 0; i <= k; i++) {
				sum += term
				term *= (n - i) / (i + 1) * p / (1 - p)
			}
			return least(sum, 1)
		}
		# The p at which binomial(k, n, p) is share.
		function p_of(k, n, share,    low, high, i, p) {
			for (high = 1; i < 40; i++) {
				p = (low + high) / 2
				if (binomial(k, n, p) > share) low = p; else high = p
			}
			return p
		}
		function limits(k, n) {
			return sprintf("%.1f to %.1f", k > 0 ? 100 * p_of(k - 1, n, 0.975) : 0, k < n ? 100 * p_of(k, n, 0.025) : 100)
		}
		function row(noise, mix,    key, n, mean, error) {
			key = noise SUBSEP mix
			n = jobs[key]
			if (!n)
				return
			mean = flips[key] / n
			error = n > 1 ? sqrt((squares[key] / n - mean * mean) / (n - 1)) : 0
			printf "| %s | %s | %d | %d | %s | %d | %d | %s | %.2f ± %.2f | %.0f, %.0f |\n", noise, mix, n,
				ends[key], limits(ends[key], n), steps[key], slower[key], limits(slower[key], steps[key]),
				mean, 1.96 * error, calibrated[key] / n, most[key]
		}
		!/^[0-9]/ { next }
		$2 == 0 { samples[$3, $5]++; sum[$3, $5] += $7; next }
		{ rows[++read] = $0 }
		END {
			for (pair in sum) {
				split(pair, part, SUBSEP)
				mean = truth[pair] = sum[pair] / samples[pair]
				if (!(part[1] in best) || mean < best[part[1]])
					best[part[1]] = mean
			}
			for (r = 1; r <= read; r++) {
				split(rows[r], f, ",")
				job = f[1] SUBSEP f[2] SUBSEP f[3]
				for (mixes = 0; mixes < 2; mixes++) {
					key = f[1] SUBSEP (mixes ? f[3] : "all")
					if (!(job in last)) { jobs[key]++; flipped[job, mixes] = 0 }
					else if (f[4] > 1 && f[5] != last[job]) flipped[job, mixes]++
					steps[key] += f[4] > 0
					slower[key] += f[4] > 0 && truth[f[3], f[5]] > 1.03 * truth[f[3], "default"]
					if (f[4] == 0) { calibrated[key] += f[8]; if (f[8] > most[key]) most[key] = f[8] }
				}
				last[job] = f[5]
			}
			for (job in last) {
				split(job, part, SUBSEP)
				for (mixes = 0; mixes < 2; mixes++) {
					key = part[1] SUBSEP (mixes ? part[3] : "all")
					ends[key] += truth[part[3], last[job]] <= 1.02 * best[part[3]]
					flips[key] += flipped[job, mixes]
					squares[key] += flipped[job, mixes] ^ 2
				}
			}
			print "| noise | mix | jobs | end within 2 % of the best | of 100 | decided steps | over 3 % slower | of 100 " \
				"| flips a job | calibration, s: mean, most |"
			print "|---|---|---|---|---|---|---|---|---|---|"
			n = split("0.03 0.09 0.15", noise, " ")
			for (i = 1; i <= n; i++) {
				for (mix = 0; mix < 4; mix++)
					row(noise[i], mix)
				row(noise[i], "all")
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
		trap 'echo over >>over' EXIT
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

# Until then the job's last step may still be remembered.
no_job() {
	[ -z "$(squeue -h)" ]
}

# job NOISE NUMBER MIX STEPS LAUNCH FAKE-OPTION...: its lines as NOISE,JOB,MIX,STEP,PROFILE,FACTOR,US,CALIBRATION-S; times without the noise
job() {
	local noise=$1 number=$2 mix=$3 steps=$4 launch=$5
	shift 5
	rm -rf "$NT_CLUSTER/work/.local" "$NT_CLUSTER/work/over"
	echo "$noise $((1 + number))" >"$made/noise"
	chmod a+r "$made/noise"
	# sbatch --wait looks seldom.
	as_user sbatch -Q -N2 --ntasks-per-node=1 -t 15 -o "$NT_CLUSTER/work/log" "$made/job" "$made" "$steps" "$launch" \
		--sizes "${MIXES[mix]}" --iters "${ITERS[mix]}" "$@" && wait_for 90 test -s "$NT_CLUSTER/work/over" && wait_for 30 no_job || return 1
	[ "$(grep -c '^[0-9]*,' "$NT_CLUSTER/work/log")" = "$steps" ] || { cat "$NT_CLUSTER/work/log" >&2; return 1; }
	awk -F, -v head="$noise,$number,$mix" -v OFS=, '/^[0-9]+,/ { print head, $1, $2, $3, $4 / $3, $5 }' "$NT_CLUSTER/work/log"
}

use_cluster() {
	export NT_CLUSTER=$NT_BASE/cluster$1
	export SLURM_CONF=$NT_CLUSTER/etc/slurm.conf
	made=$NT_BASE/made$1
}

# worker NUMBER CLUSTERS FIRST JOBS SECONDS NOISE...: its share of the truth and of the jobs, on a cluster of its own
worker() {
	local worker=$1 clusters=$2 first=$3 jobs=$4 seconds=$5 turn=0 mix profile noise number
	shift 5
	use_cluster "$worker"
	for mix in "${!MIXES[@]}"; do
		for profile in "${PROFILES[@]}"; do
			[ "${only:-$mix}" = "$mix" ] || continue
			((turn++ % clusters == worker)) || continue
			job 0 0 "$mix" "$TRUTH_STEPS" "${profile/default/off}" --more 60000 --settled || return 1
		done
	done
	turn=0
	for ((number = first; number <= jobs; number++)); do
		for noise; do
			((turn++ % clusters == worker)) || continue
			[ $SECONDS -lt "$seconds" ] || return 0
			job "$noise" "$number" "${only:-$((number % ${#MIXES[@]}))}" $STEPS auto,calibrate=60 --realtime 1 || return 1
		done
	done
}

run() {
	local clusters=1 first=1 only='' minutes=100000 jobs name worker workers=() rc=0
	while getopts c:f:m:t: name; do
		case $name in
		c) clusters=$OPTARG ;;
		f) first=$OPTARG ;;
		m) only=$OPTARG ;;
		t) minutes=$OPTARG ;;
		*) usage >&2 ;;
		esac
	done
	shift $((OPTIND - 1))
	jobs=${1:-6}
	shift
	[ $# -gt 0 ] || set -- 0.03 0.09 0.15
	cluster_setup
	trap cluster_stop EXIT
	echo "noise,job,mix,step,profile,factor,us,calibration_s"
	for ((worker = 0; worker < clusters; worker++)); do
		use_cluster "$worker"
		mkdir -m 755 "$made"
		write_programs || exit 1
		cluster_start 2 -n -p "$(nt_plugstack_line "profiles=$made/profiles.conf" "command=$made/nccl-tune")" || exit 1
	done
	for ((worker = 0; worker < clusters; worker++)); do
		worker "$worker" "$clusters" "$first" "$jobs" $((minutes * 60)) "$@" &
		workers+=("$!")
	done
	for worker in "${workers[@]}"; do
		wait "$worker" || rc=1
	done
	return "$rc"
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
