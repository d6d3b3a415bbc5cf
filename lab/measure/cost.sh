#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# cost.sh - what the plugin costs a process beside its decisions, as one JSON object; docs/costs.md tells what it means
#
#   cost.sh [ROUNDS [IDLE_S]]   ROUNDS runs of each kind, taken in turn (5); IDLE_S in each idle state (60, 0: none)
#
# NT_COST names another nt-cost, NT_PLUGIN another libnccl-tune.so. The shared memory lies in memory, as in a job.
set -euo pipefail
# shellcheck source=lab/measure/usage.bash
. "$(dirname "${BASH_SOURCE[0]}")/usage.bash"
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
program=${NT_COST:-$top/build/lab/measure/nt-cost}
plugin=${NT_PLUGIN:-$top/build/stage/lib/nccl-tune/libnccl-tune.so}
rounds=${1:-5} idle_s=${2:-60}
scratch=$(mktemp -d /dev/shm/nt-cost.XXXXXX)
trap 'rm -rf "$scratch"' EXIT

# cost LABEL [ARG of nt-cost]...: one line of JSON
cost() {
	local label=$1
	shift
	mkdir "$scratch/now"
	TMPDIR=$scratch/now timeout $((3 * idle_s + 600)) "$program" "$plugin" "$@" | jq -c --arg kind "$label" '{kind: $kind} + .'
	rm -rf "$scratch/now"
}

for ((round = 0; round < rounds; round++)); do
	cost one 1 1
	cost many 200 1
	cost one_of_8 1 8
	cost many_of_8 200 8
done >"$scratch/lines"
[ "$idle_s" = 0 ] || cost idle 1 2 "$idle_s" >>"$scratch/lines"
jq -cs --argjson rounds "$rounds" '
	def spread: { median: (sort | .[(length - 1) / 2 | floor]), least: min, most: max };
	def ranks($kind): [.[] | select(.kind == $kind).ranks[]];
	def memory($kind): { rss: ([ranks($kind)[].rss] | spread), pss: ([ranks($kind)[].pss] | spread) };
	{ rounds: $rounds, threads_added: ([.[].ranks[].threads_added] | max),
	  init: { first_us: ([ranks("one")[].first_us] | spread), many_us: ([ranks("many")[].init_us] | spread),
		many_of_8_us: ([ranks("many_of_8")[].init_us] | spread) },
	  finalize_us: ([ranks("many")[].finalize_us] | spread),
	  kib: { one: memory("one"), many: memory("many"), one_of_8: memory("one_of_8"), many_of_8: memory("many_of_8") },
	  idle: [ranks("idle")[] | { speaks, created_cpu_ms, called_cpu_ms, decided_cpu_ms }] }' "$scratch/lines"
