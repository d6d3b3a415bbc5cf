#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# results.sh DIR [SYNC] - make again what docs/results/agreement holds: runs.json, sizes.json, mutants.txt, versions.txt
#
# Takes some ten minutes of one processor; NT_SHARE=10 makes a tenth of the runs. SYNC holds a directory pmix-sync (default: this tree).
set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
[ $# -ge 1 ] || { sed -n '5,9s/^# \{0,1\}//p' "$0"; exit 2; }
out=$1
sync=$(cd "${2:-$top}" && pwd)
mkdir -p "$out"
out=$(cd "$out" && pwd)
work=$(mktemp -d /tmp/nt-results.XXXXXX)
trap 'rm -rf "$work"' EXIT
"$top/lab/sim/build.sh" "$work/nt-agree-sim" "$sync"

# sim FILE ARG...: a line with its command; a run that is wrong is a line like the others, and says so.
sim() {
	local file=$1 line
	shift
	line=$("$work/nt-agree-sim" "$@") || echo "results.sh: nt-agree-sim $* found something" >&2
	printf '{"command":"nt-agree-sim %s",%s\n' "$*" "${line#\{}" >>"$file"
}

{
	date -u +%Y-%m-%d
	git -C "$top" describe --always --dirty
	echo "pmix-sync, sha256 of all its files in order: $(cat "$sync"/pmix-sync/*.[ch] | sha256sum | cut -c 1-16)"
	"${CC:-cc}" --version | head -n 1
} >"$out/versions.txt"

share=${NT_SHARE:-1}	# the runs are divided by this
few() {
	echo $(($1 / share > 0 ? $1 / share : 1))
}

rm -f "$out/runs.json" "$out/sizes.json"
sim "$out/runs.json" --mix --runs "$(few 40000)" --seed 1
sim "$out/runs.json" --nodes 2 --ranks-per-node 2 --runs "$(few 20000)" --seed 2
sim "$out/runs.json" --nodes 4 --ranks-per-node 2 --runs "$(few 20000)" --seed 3
sim "$out/runs.json" --nodes 11 --ranks-per-node 1 --runs "$(few 4000)" --seed 4
sim "$out/runs.json" --nodes 64 --ranks-per-node 8 --runs "$(few 20)" --seed 5
sim "$out/runs.json" --nodes 4 --ranks-per-node 2 --runs "$(few 5000)" --seed 6 --faults none
for nodes in 2 4 8 16 32 64 128 256 512 1024; do
	runs=$((nodes > 128 ? 1 : 256 / nodes))
	sim "$out/sizes.json" --plain --nodes "$nodes" --ranks-per-node 2 --runs "$(few "$runs")" --faults none
	sim "$out/sizes.json" --plain --nodes "$nodes" --ranks-per-node 2 --runs "$(few $((4 * runs)))" --faults all
done
"$top/lab/sim/mutants.sh" -a -s 12 -l "$sync" >"$out/mutants.txt"
