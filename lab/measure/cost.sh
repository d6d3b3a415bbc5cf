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
	cost populated 200 1 0 --populate
	cost one_of_8 1 8
	cost many_of_8 200 8
done >"$scratch/lines"
if [ "$idle_s" -gt 0 ]; then
	cost idle 1 2 "$idle_s"
	cost joining 1 1 "$idle_s"
fi >"$scratch/idle"
jq -cs --argjson rounds "$rounds" --slurpfile idle "$scratch/idle" '
	def median: sort | .[(length - 1) / 2 | floor];
	def spread: { median: median, least: min, most: max };
	def ranks($kind): [.[] | select(.kind == $kind).ranks[]];
	def init($kind): ranks($kind) as $r | { first_us: ([$r[].first_us] | spread), p50_us: ([$r[].init_p50_us] | spread),
		p99_us: ([$r[].init_p99_us] | spread), faults: ([$r[].init_faults_p50] | median),
		without_place_us: ([$r[].unseated_p50_us] | median) };
	# Of the whole node: private memory of all, and the shared memory once.
	def node($kind): [.[] | select(.kind == $kind)] | map([.ranks[].kib.all.pss] | add) | spread;
	def memory($kind): ranks($kind) as $r | { rss: ([$r[].kib.all.rss] | spread), pss: ([$r[].kib.all.pss] | spread),
		private_dirty: ([$r[].kib.all.private_dirty] | spread), heap: ([$r[].kib.heap.private_dirty] | median),
		shm_rss: ([$r[].kib.shm.rss] | median), pss_of_all: node($kind) };
	{ rounds: $rounds, shm_kib: .[0].shm_kib, threads_added: ([.[].ranks[].threads_added] | max),
	  init: { one: { first_us: ([ranks("one")[].first_us] | spread) }, many: init("many"), populated: init("populated"),
		many_of_8: init("many_of_8") },
	  finalize_us: { p50: ([ranks("many")[].finalize_p50_us] | spread), p99: ([ranks("many")[].finalize_p99_us] | spread) },
	  kib: { loaded: ([ranks("one")[].kib_loaded.all.pss] | spread), one: memory("one"), many: memory("many"),
		one_of_8: memory("one_of_8"), many_of_8: memory("many_of_8") },
	  idle: ($idle | map({ (.kind): [.ranks[] | { speaks } + .idle] }) | add) }' "$scratch/lines"
