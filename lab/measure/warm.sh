#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# warm.sh - calls and time until a key is decided, from cold, with remembered arms, and with these as a policy
#
#   warm.sh run [SEEDS] >runs.csv      eight ranks of the simulated NCCL on each shipped trace, so many seeds (3); a cold
#                                      step, and two with what it found: mode bandit and mode policy
#   warm.sh table <runs.csv            medians over keys, as docs/results/warm has them
#
# Needs NT_STAGE, and neither Slurm nor root. The GPU's time passes in real time: some minutes.
set -euo pipefail
top=$(cd "$(dirname "$(readlink -f "$0")")/../.." && pwd)
BATS_TEST_DIRNAME=$top/lab/measure
# shellcheck source=tests/lib/policy.bash
. "$top/tests/lib/policy.bash"
# shellcheck source=lab/measure/usage.bash
. "$top/lab/measure/usage.bash"

# file:topology:mode
readonly TRACES=(h200-2x4-seq:2x4:seq h200-2x4-ovl:2x4:ovl h200-2x4-10gbit:2x4:seq h200-1x8-seq:1x8:seq)
readonly FIELDS='bytes,from,state,arm,decided,spent_calls,spent_ms,auto_us,arm_us'

# step MODE TRACE SEED WARM: eight ranks in one process; their records are in $dir.
step() {
	local file topology mode
	IFS=: read -r file topology mode <<<"$2"
	rm -rf "$dir"
	mkdir -m 700 "$dir"
	NCCL_TUNE_POLICY=$(task_policy "$1" "$dir" recheck=0) NCCL_TUNE_WARM=$4 timeout 500 "$FAKE" --ranks-in-process 8 \
		--nodes "${topology%x*}" --trace "$top/tests/traces/$file.csv,$topology,$mode" \
		--auto-picks "$top/tests/traces/h200-auto-picks.csv" --sizes 64K,256K,1M,4M,16M --sync never \
		--realtime 1 --seed "$3" --iters 450 >"$dir/out" 2>"$dir/err" || { cat "$dir/err" >&2; return 1; }
	jq -e '.mismatches == 0' "$dir/out" >/dev/null
}

# What the step found, as the next one is told it.
remembered() {
	printf 'v=1 nccl=22809 fabric=any fingerprint=0000000000000001'
	jq -r '.comms[0] as $c | [$c.keys[] | select(.state == "committed" or .state == "kept")] | sort_by(.bytes)[] |
		" \($c.ranks)r\($c.nodes)n.\(.coll).\(.bytes)=\(if .state == "committed" then .arm else "AUTO" end)"' \
		"$dir"/rank.0.*.json | tr -d '\n'
}

# rows KIND TRACE SEED: a line for each key of rank 0.
rows() {
	jq -r --arg kind "$1" --arg trace "${2%%:*}" --arg seed "$3" '.comms[0].keys | sort_by(.bytes)[] | [$trace, $seed, $kind,
		.bytes, .from // "", .state, .arm // "", .decided, .spent_calls, .spent_ms, .us[0], .us[1]] | @csv' \
		"$dir"/rank.0.*.json | tr -d '"'
}

run() {
	local trace seed warm
	alone_environment
	dir=$(mktemp -d)/step
	trap 'rm -rf "${dir%/step}"' EXIT
	echo "trace,seed,kind,$FIELDS"
	for trace in "${TRACES[@]}"; do
		for ((seed = 1; seed <= ${1:-3}; seed++)); do
			step bandit "$trace" "$seed" ''
			rows cold "$trace" "$seed"
			warm=$(remembered)
			# Other noise than that in which it was found.
			step bandit "$trace" $((seed + 100)) "$warm"
			rows warm "$trace" "$seed"
			step policy "$trace" $((seed + 200)) "$warm"
			rows policy "$trace" "$seed"
		done
	done
}

# Medians over the keys that were committed from cold; and sums over the others, of which there is nothing but a cost.
table() {
	awk -F, '
		function median(text, part, n, i, j, t) {
			n = split(text, part, " ")
			if (n == 0)
				return 0
			for (i = 2; i <= n; i++)
				for (j = i; j > 1 && part[j] + 0 < part[j - 1] + 0; j--) {
					t = part[j]; part[j] = part[j - 1]; part[j - 1] = t
				}
			return n % 2 ? part[(n + 1) / 2] : (part[n / 2] + part[n / 2 + 1]) / 2
		}
		function print_won(trace, kind, of) {
			of = trace SUBSEP kind
			if (count[of])
				printf "| %s | %s | %d | %d | %d | %g | %g | %.1f | %.2f |\n", trace, kind, count[of], committed[of],
					same[of], median(calls[of]), median(spent[of]), median(time[of]), median(extra[of])
		}
		function print_kept(trace, kind, of) {
			of = trace SUBSEP kind
			if (kept[of])
				printf "| %s | %s | %d | %d | %.1f |\n", trace, kind, kept[of], kept_calls[of], kept_ms[of]
		}
		NR == 1 { next }
		{ key = $1 SUBSEP $2 SUBSEP $4 }
		$3 == "cold" { arm[key] = $6 == "committed" ? $7 : ""; auto[key] = $11 }
		!seen[$1]++ { order[++traces] = $1 }
		{
			split($1 " all", name, " ")
			for (i = 1; i <= 2; i++) {
				of = name[i] SUBSEP $3
				if (arm[key] == "") {
					kept[of]++
					kept_calls[of] += $9
					kept_ms[of] += $10
					continue
				}
				count[of]++
				if ($6 == "committed") {
					committed[of]++
					same[of] += $7 == arm[key]
					calls[of] = calls[of] " " $8
					spent[of] = spent[of] " " $9
					time[of] = time[of] " " $8 * auto[key] / 1000 + $10
					extra[of] = extra[of] " " $10
				}
			}
		}
		END {
			order[++traces] = "all"
			print "| trace | start | keys | committed | to the same arm | calls until then | explored | ms until then | ms beyond AUTO |"
			print "|---|---|---|---|---|---|---|---|---|"
			for (i = 1; i <= traces; i++) {
				print_won(order[i], "cold"); print_won(order[i], "warm"); print_won(order[i], "policy")
			}
			print ""
			print "| trace | start | keys on AUTO | calls explored | ms beyond AUTO |"
			print "|---|---|---|---|---|"
			for (i = 1; i <= traces; i++) {
				print_kept(order[i], "cold"); print_kept(order[i], "warm"); print_kept(order[i], "policy")
			}
		}'
}

case ${1:-} in
run|table) "$@" ;;
*) usage >&2 ;;
esac
