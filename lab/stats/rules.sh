#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# rules.sh OUT - how often the rule errs and what it costs, on made-up noise (OUT/*.txt) and on the measured cells
# (OUT/*.json); two tables go to stdout. Of measured cells only arms count that a job could choose
# (tests/traces/h200-auto-picks.csv). Needs jq and an installed tree (NT_STAGE), of this commit or of another.
# TRIALS: of each family and cell for a gain of 10 %; twice as many for identical arms (default 1500).
set -euo pipefail
out=${1:?usage: rules.sh OUT}
stage=${NT_STAGE:?where nccl-tune is installed}
trials=${TRIALS:-1500}
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cells=("$top"/tests/traces/h200-{1x8-seq,2x4-10gbit,2x4-ovl,2x4-seq}.csv)
tests=$stage/libexec/nccl-tune/tests
mkdir -p "$out"

# sim NAME TRIALS ARG...: made-up noise, into OUT/NAME.txt
sim() {
	"$tests/nt-engine-sim" -s 11 -n "$2" "${@:3}" >"$out/$1.txt"
}

# replay NAME ARG...: the measured cells, into OUT/NAME.json
replay() {
	"$tests/nt-replay" --json --picks "$top/tests/traces/h200-auto-picks.csv" "${@:2}" "${cells[@]}" >"$out/$1.json"
}

sim found "$trials" power=10
sim overridden $((2 * trials)) aa
sim stalls "$trials" stalls=15
replay cells
replay cells-found --power 10 --trials "$trials"
replay cells-overridden --aa $((2 * trials))

echo '| family | found %, of gains of 10 % | calls | identical arms overridden % | calls | 15 % stalls accepted % |'
echo '|---|---|---|---|---|---|'
awk '
	FNR == 1 { file++; next }
	{
		name = substr($0, 1, 16)
		sub(/ *$/, "", name)
		split(substr($0, 17), field)
		found[file, name] = field[1]
		wrong[file, name] = field[2]
		calls[file, name] = field[3]
		if (file == 1)
			order[++n] = name
	}
	END {
		for (i = 1; i <= n; i++)
			printf "| %s | %s | %s | %s | %s | %s |\n", order[i], found[1, order[i]], calls[1, order[i]],
				wrong[2, order[i]], calls[2, order[i]], found[3, order[i]]
	}' "$out/found.txt" "$out/overridden.txt" "$out/stalls.txt"
echo
echo '| cells | within 2 % of the best | slower than AUTO by over 1 % | calls | beyond AUTO, s | overridden %, mean (worst) | 10 % found %, mean (worst) |'
echo '|---|---|---|---|---|---|---|'
jq -rn --slurpfile cells "$out/cells.json" --slurpfile aa "$out/cells-overridden.json" \
	--slurpfile power "$out/cells-found.json" '
	def mean: add / length;
	def percent: . * 1e4 | round / 100;
	$cells[0] as $c | [$aa[0][].rate] as $aa | [$power[0][].rate] as $power |
	"| \($c | length) | \([$c[] | select(.chosen_us <= 1.02 * .best_us)] | length)" +
	" | \([$c[] | select(.chosen_us > 1.01 * .auto_us)] | length) | \([$c[].calls] | mean | round)" +
	" | \([$c[].extra_us] | add / 1e5 | round / 10) | \($aa | mean | percent) (\($aa | max | percent))" +
	" | \($power | mean | percent) (\($power | min | percent)) |"'
