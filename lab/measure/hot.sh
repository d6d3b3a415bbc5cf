#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# hot.sh - what one decision costs, as one JSON line; with valgrind also in instructions
#
#   hot.sh [CALLS]    timed calls of each state (1000000); docs/costs.md tells what it means
set -euo pipefail
# shellcheck source=lab/measure/usage.bash
. "$(dirname "${BASH_SOURCE[0]}")/usage.bash"
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
plugin=$top/build/stage/lib/nccl-tune/libnccl-tune.so
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export TMPDIR=$scratch
timeout 600 "$top/build/lab/measure/nt-hot" "$plugin" "${1:-1000000}"
if command -v valgrind >/dev/null; then
	for calls in 1000 11000; do
		timeout 600 valgrind --tool=callgrind --callgrind-out-file="$scratch/$calls" --toggle-collect=nt_comm_decide \
			"$top/build/lab/measure/nt-hot" "$plugin" "$calls" >/dev/null 2>"$scratch/log" ||
			{ cat "$scratch/log" >&2; exit 1; }
	done
	count() { sed -n 's/^\(summary\|totals\): //p' "$scratch/$1" | head -n 1; }
	# Per size of run three states are timed, each twice over its calls, and a tenth as many with all callbacks.
	awk -v a="$(count 1000)" -v b="$(count 11000)" 'BEGIN { if (a && b) printf "{\"instructions_per_decision\":%.1f}\n", (b - a) / 61000 }'
fi
