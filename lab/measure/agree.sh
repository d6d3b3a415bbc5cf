#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# agree.sh - what agreement over PMIx costs, on a private Slurm cluster; docs/costs.md tells what it means
#
#   agree.sh latency [ROUNDS]     30 keys on 2, 4 and 8 nodes of 1 and 2 ranks, by turns (2)
#   agree.sh idle [SECONDS]       a job that has decided everything runs on that long (60)
#   agree.sh day [COMMS [ROUNDS [MIB]]]   a job that makes that many communicators (600) and uses each for so many
#                                 rounds (100); fails above 2,000 reads of a node or a growth of a slurmstepd by more
#                                 than MIB (16)
#
# Prints one line of JSON for each job. Needs root and NT_STAGE, as the cluster tests do.
set -euo pipefail
top=$(cd "$(dirname "$(readlink -f "$0")")/../.." && pwd)
# shellcheck source=tests/lib/cluster.bash
. "$top/tests/lib/cluster.bash"
# shellcheck source=lab/measure/agree.bash
. "$top/lab/measure/agree.bash"
# shellcheck source=lab/measure/usage.bash
. "$top/lab/measure/usage.bash"

skip() {
	echo "agree.sh: $*" >&2
	exit 1
}

latency() {
	local round nodes ranks
	for ((round = 0; round < ${1:-2}; round++)); do
		for nodes in 2 4 8; do
			for ranks in 1 2; do
				agree_start "$nodes" "$ranks" bandit --coll allreduce,allgather,reducescatter,broadcast,reduce \
					--sizes 16K,64K,256K,1M,4M,16M --iters 600 --call-gap-us 100 --time-decisions
				agree_end
			done
		done
	done
}

# Everything is decided within the first seconds; then reads, and what the helper threads do, are looked at twice.
idle() {
	local seconds=${1:-60} early late threads
	agree_start 4 2 bandit --sizes 64K,256K,1M --iters $((9000 + seconds * 220)) --call-gap-us 1000 --time-decisions
	wait_for 60 agree_all_decided
	sleep 12	# the last window's end, and the last look at a key that is no longer called
	early=$(agree_fetches)
	threads=$(agree_threads "$seconds")
	late=$(agree_fetches)
	agree_end >"$agree_dir/line"
	jq -c --argjson early "$early" --argjson late "$late" --argjson threads "$threads" --argjson s "$seconds" \
		'. + {idle_s: $s, fetches_early: $early, fetches_late: $late, threads: $threads}' "$agree_dir/line"
}

# New communicators come all the time, each with keys of its own.
day() {
	local comms=${1:-600} rounds=${2:-100}
	agree_start 4 2 bandit --coll allreduce,allgather --sizes 64K,256K,1M --comms world,roll:8 \
		--iters $((rounds * comms)) --churn "${rounds}x$comms" --call-gap-us 100 --time-decisions
	agree_end >"$agree_dir/line"
	cat "$agree_dir/line"
	jq -e --argjson mib "${3:-16}" '.mismatches == 0 and (.fetches | max) <= 2000 and
		([.stepd_kib[].rss] | max) <= $mib * 1024' "$agree_dir/line" >/dev/null
}

case ${1:-} in
latency|idle|day) ;;
*) usage >&2 ;;
esac
cluster_setup
trap cluster_stop EXIT
cluster_start 8 -n -p "$(nt_plugstack_line)"
"$@"
