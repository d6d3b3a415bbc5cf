#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# rules.sh OUT - what each rule chooses, how often it errs and what it costs, on the measured cells and on made-up
# ones: OUT/rules.json has every cell, the table goes to stdout. Of measured cells only arms count that a job could
# choose (tests/traces/h200-auto-picks.csv). Needs jq and an installed tree (NT_STAGE).
# TRIALS: of each cell for identical arms and for one that is 10 % faster (default 1000).
set -euo pipefail
out=${1:?usage: rules.sh OUT}
stage=${NT_STAGE:?where nccl-tune is installed}
trials=${TRIALS:-1000}
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
traces=$top/tests/traces
# shellcheck disable=SC2034 # by name, in of()
measured=("$traces"/h200-1x8-seq.csv "$traces"/h200-2x4-{10gbit,ovl,seq}.csv)
picks=$traces/h200-auto-picks.csv
rules=(nccl-tune race paper-online paper-offline ucb1)
noises=(lognormal-3 lognormal-8 bimodal-3 bimodal-8 drift tail)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$out"

# of DATA RULE CELLS DRAWN: one object. CELLS are replayed, DRAWN are drawn from.
of() {
	local replay=("$stage/libexec/nccl-tune/tests/nt-replay" "$2" --json --picks "$picks") choice aa power
	local -n cells=$3 drawn=$4
	choice=$("${replay[@]}" "${cells[@]}")
	aa=$("${replay[@]}" --aa "$trials" "${drawn[@]}")
	power=$("${replay[@]}" --power 10 --trials "$trials" "${drawn[@]}")
	jq -nc --arg data "$1" --arg rule "$2" --argjson cells "$choice" --argjson aa "$aa" --argjson power "$power" \
		'{data: $data, rule: $rule, cells: $cells, aa: $aa, power: $power}'
}

# shellcheck disable=SC2034 # by name, in of()
for rule in "${rules[@]}"; do
	of measured "$rule" measured measured
	for noise in "${noises[@]}"; do
		# Drift is drawn from a stretch as long as an exploration: a draw knows no order.
		"$stage/libexec/nccl-tune/tests/nt-noise" -c 40 -n 400 "$noise" >"$scratch/cells.csv"
		samples=1000
		[ "$noise" != drift ] || samples=12
		"$stage/libexec/nccl-tune/tests/nt-noise" -c 4 -n "$samples" "$noise" >"$scratch/drawn.csv"
		cells_of_noise=("$scratch/cells.csv")
		drawn_of_noise=("$scratch/drawn.csv")
		of "$noise" "$rule" cells_of_noise drawn_of_noise
	done
done | jq -sc . >"$out/rules.json"

jq -r '
	def percent: . * 1000 | round / 10;
	def mean: add / length;
	"| data | rule | cells | within 2 % of the best, % | slower than AUTO by over 1 %, cells | calls | beyond AUTO, s | false overrides %, mean (worst cell) | 10 % found %, mean (worst) | within 40 calls an arm % |",
	"|---|---|---|---|---|---|---|---|---|---|",
	(sort_by(.data != "measured")[] | "| \(.data) | \(.rule) | \(.cells | length)" +
	" | \([.cells[] | if .chosen_us <= 1.02 * .best_us then 1 else 0 end] | mean | percent)" +
	" | \([.cells[] | select(.chosen_us > 1.01 * .auto_us)] | length)" +
	" | \([.cells[].calls] | mean | round)" +
	" | \([.cells[].extra_us] | add / 1e5 | round / 10)" +
	" | \([.aa[].rate] | mean * 100 | . * 100 | round / 100) (\([.aa[].rate] | max * 100 | . * 100 | round / 100))" +
	" | \([.power[].rate] | mean | percent) (\([.power[].rate] | min | percent))" +
	" | \([.power[].rate_within_40] | mean | percent) |")' "$out/rules.json"
