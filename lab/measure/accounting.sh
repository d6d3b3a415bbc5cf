#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# accounting.sh - what records cost slurmctld, by its own counters (sdiag), as one JSON object
#
#   accounting.sh [STEPS [AT_ONCE [KIND...]]]   STEPS steps (200), AT_ONCE at a time (20), of all kinds or some
#
# Four kinds on a private cluster: one job with all steps, with the plugin off (off), with steps that never load NCCL
# (without_nccl), and with steps that leave a record (one_job); and as many jobs of one step each that leave a record
# (many_jobs). For each: updates of jobs and
# reads of job information that slurmctld served, what its log grew by, how many records there are and where: in
# slurmctld's text of the job, in full (whole), shortened or dropped to make room (short), waiting in the spool (waits).
# Needs root, as the tests on the mini cluster do. NT_STAGE names another installed tree.
set -euo pipefail
# shellcheck source=lab/measure/usage.bash
. "$(dirname "${BASH_SOURCE[0]}")/usage.bash"
steps=${1:-200} at_once=${2:-20}
kinds=" ${*:3} "
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
skip() { echo "accounting.sh: $*" >&2; exit 1; }
# shellcheck source=tests/lib/cluster.bash
. "$top/tests/lib/cluster.bash"
cluster_setup
work=$NT_CLUSTER/work
trap cluster_stop EXIT
cluster_start 3 -c MaxStepCount=100000
install -m 755 "$top/tests/cluster/20-record-rank.sh" "$work/rank"
cluster plugstack "$(nt_plugstack_line pmix=ask)"
spool=$NT_CLUSTER/run/spool log=$NT_CLUSTER/log/slurmctld.log

# count NAME: how often slurmctld served that request since the counters were reset
count() {
	timeout 60 sdiag | awk -v name="$1" '$1 == name { sub(".*count:", ""); sum += $1 } END { print sum + 0 }'
}

many_steps() {
	cat >"$work/script" <<-END
	#!/bin/bash
	seq $steps | xargs -P $at_once -I{} srun -N1 -n1 --overlap --mem=0 bash -c '$1'
	END
	as_user sbatch --parsable -N3 -o "$work/output" --nccl-tune="$2" script >"$work/jobs"
}

many_jobs() {
	seq "$steps" | xargs -P "$at_once" -I{} "$NT_CLUSTER_PROGRAM" exec -u "$NT_USER" \
		srun -Q -N1 -n1 --nccl-tune="$2" bash -c "$1; echo \$SLURM_JOB_ID" >"$work/jobs"
}

all_ended() {
	[ -z "$(timeout 60 squeue -h)" ]
}

# Where the records are: of each job the steps in slurmctld's text, and the spool.
find_records() {
	local job
	while read -r job; do
		comment_now "$job" | jq -c '.nccl_tune // empty'
	done <"$work/jobs" | jq -cs --argjson waits "$(find "$spool" -maxdepth 1 -name '*.json' 2>/dev/null | wc -l)" '
		def steps: to_entries[] | select(.value | type == "object") | .value;
		{ whole: ([.[] | steps | select(has("more") | not)] | length),
		  short: (([.[] | steps | select(has("more"))] | length) + ([.[].more // 0] | add // 0)), waits: $waits }'
}

# run KIND FUNCTION SCRIPT MODE: one line of JSON
run() {
	local began bytes ms
	[[ $kinds = '  ' || $kinds = *" $1 "* ]] || return 0
	rm -rf "$spool"
	timeout 60 sdiag -r >/dev/null
	bytes=$(stat -c %s "$log")
	began=${EPOCHREALTIME/./}
	"$2" "$3" "$4"
	wait_for 600 all_ended
	ms=$(((${EPOCHREALTIME/./} - began) / 1000))
	wait_for 120 no_helpers
	jq -cn --arg kind "$1" --argjson steps "$steps" --argjson at_once "$at_once" --argjson ms "$ms" \
		--argjson updates "$(count REQUEST_UPDATE_JOB)" --argjson reads "$(count REQUEST_JOB_INFO_SINGLE)" \
		--argjson log_bytes "$(($(stat -c %s "$log") - bytes))" --argjson records "$(find_records)" \
		'{$kind, $steps, $at_once, $ms, $updates, $reads, $log_bytes, $records}'
}

{
	run off many_steps './rank || true' off
	run without_nccl many_steps true bandit
	run one_job many_steps './rank committed; sleep 1' bandit
	run many_jobs many_jobs './rank committed; sleep 1' bandit
} 3>&- | jq -s .
