#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# crowd.sh - many tuned steps at once, some of them killed: what is left behind, and what slurmctld was asked
#
#   crowd.sh [STEPS [AT_ONCE [JOBS]]]   default: 200 sruns, 20 at a time, shared by 4 jobs that run at once
#
# Of each ten steps one is killed by its own task, one by scancel, one loses its srun, and one never loads NCCL; the others leave
# the record of a rank. Steps run in Slurm's cgroups where these can be made. Prints one line of JSON, with slurmctld's
# own counters (sdiag); ends with 1 where a process, a directory, a mount or a group is left, or a record is neither in its job
# nor in the spool.
set -u -o pipefail
# shellcheck source=lab/measure/usage.bash
. "$(dirname "${BASH_SOURCE[0]}")/usage.bash"
steps=${1:-200} at_once=${2:-20} jobs=${3:-4}

# shellcheck source=tests/lib/cluster.bash
. "$(dirname "$0")/../../tests/lib/cluster.bash"

skip() {
	echo "crowd: $1" >&2
	exit 77
}

make_cluster() {
	local confined=() controller
	groups=
	for controller in freezer memory; do
		[ -w "/sys/fs/cgroup/$controller/cgroup.procs" ] && groups+="$controller "
	done
	[ "$groups" != "freezer memory " ] || confined=(-g ConstrainRAMSpace=yes -c ProctrackType=proctrack/cgroup
		-c TaskPlugin=task/cgroup -c "FirstJobId=$((100000 + $$ % 1000000 * 10))")
	cluster_start 2 "${confined[@]}" || exit 1
	install -m 755 "$(dirname "$0")/../../tests/cluster/20-record-rank.sh" "$work/rank"
	cluster plugstack "$(nt_plugstack_line pmix=ask)"
	mkdir -m 1777 "$work/done"
}

# step JOB NUMBER: its step's id goes into a file named by what is expected of it
step() {
	local run=(as_user srun -Q --jobid "$1" --overlap -N1 -n1 --nccl-tune=bandit)
	local note='echo $SLURM_JOB_ID $SLURM_STEP_ID >done/' lone='echo $$ >"done/srun.$0"; exec "$@"'
	case $(($2 % 10)) in
	1) "${run[@]}" ./rank committed bash -c "${note}record.$2; kill -9 \$\$" ;;
	2) "${run[@]}" ./rank committed bash -c "${note}record.$2; scancel \$SLURM_JOB_ID.\$SLURM_STEP_ID; sleep 60" ;;
	3) as_user bash -c "$lone" "$2" "${run[@]:1}" \
		./rank committed bash -c "${note}record.$2; kill -9 \$(cat done/srun.$2); sleep 2" ;;
	4) "${run[@]}" bash -c "${note}plain.$2" ;;
	*) "${run[@]}" ./rank committed bash -c "${note}record.$2" ;;
	esac
}

rpcs() {
	as_root sdiag | awk '/^Remote Procedure Call statistics by message type/ { on = 1; next } /^Remote/ { on = 0 }
		on && match($0, /count:[0-9]+/) { print $1, substr($0, RSTART + 6, RLENGTH - 6) }'
}

rpc_count() {
	awk -v name="$1" '$1 == name { n = $2 } END { print n + 0 }'
}

no_steps() {
	[ -z "$(stepds '')" ]
}

left_behind() {
	pgrep -f "nt-recordd .*$NT_CLUSTER/"
	step_shms '*'
	[ -z "${ids[*]}" ] || for id in "${ids[@]}"; do
		compgen -G "/sys/fs/cgroup/*/slurm_n*/uid_*/job_$id"
	done
}

# The steps that should have a record and have none, in their job or in the spool; a job's text has room for some, and counts
# the others.
lost() {
	local file job step
	local -A missing
	for file in "$work"/done/record.*; do
		read -r job step <"$file"
		[ -e "$NT_CLUSTER/run/spool/nt.$job.$step.json" ] ||
			jq -e --arg s "$step" 'has($s)' <<<"${text[$job]}" >/dev/null || missing[$job]+=" $job.$step"
	done
	for job in "${!missing[@]}"; do
		(($(wc -w <<<"${missing[$job]}") <= $(jq '.more // 0' <<<"${text[$job]}"))) || echo "${missing[$job]}"
	done
}

cluster_setup
work=$NT_CLUSTER/work
trap cluster_stop EXIT
make_cluster
declare -A text
ids=()
for ((i = 0; i < jobs; i++)); do
	as_user salloc -Q --no-shell -N1 -n1 --overcommit -t 60 >/dev/null 2>&1
done
mapfile -t ids < <(as_root squeue -h -t R -o %A)
[ "${#ids[@]}" = "$jobs" ] || { echo "crowd: ${#ids[@]} of $jobs jobs run" >&2; exit 1; }
as_root sdiag --reset >/dev/null
before=$(rpcs)
began=$SECONDS
for ((n = 0; n < steps; n++)); do
	while (($(jobs -rp | wc -l) >= at_once)); do
		wait -n
	done
	step "${ids[n % jobs]}" "$n" &
done >"$NT_BASE/out" 2>&1
wait
took_s=$((SECONDS - began))
wait_for 60 no_steps
wait_for 60 no_helpers
after=$(rpcs)
for id in "${ids[@]}"; do
	text[$id]=$(comment_now "$id" | jq -c '.nccl_tune // {}')
	[ -n "${text[$id]}" ] || text[$id]='{}'
done
mapfile -t lost < <(lost)
as_root scancel "${ids[@]}"
wait_for 60 no_steps
mapfile -t left < <(left_behind)
shopt -s nullglob
spooled=("$NT_CLUSTER"/run/spool/*.json) recorded=("$work"/done/record.*)
updates=$(($(rpc_count REQUEST_UPDATE_JOB <<<"$after") - $(rpc_count REQUEST_UPDATE_JOB <<<"$before")))
reads=$(($(rpc_count REQUEST_JOB_INFO_SINGLE <<<"$after") - $(rpc_count REQUEST_JOB_INFO_SINGLE <<<"$before")))
jq -nc --argjson steps "$steps" --argjson at_once "$at_once" --argjson jobs "$jobs" --argjson s "$took_s" \
	--argjson updates "$updates" --argjson reads "$reads" --argjson records "${#recorded[@]}" \
	--argjson spooled "${#spooled[@]}" --argjson bytes "$(stat -c %s "$NT_CLUSTER/log/slurmctld.log")" \
	--arg groups "$groups" --arg left "${left[*]}" --arg lost "${lost[*]}" --arg load "$(cut -d' ' -f1-3 /proc/loadavg)" \
	'{ steps: $steps, at_once: $at_once, jobs: $jobs, s: $s, records: $records, spooled: $spooled, lost: ($lost | split(" ")),
	   left: ($left | split(" ")), updates: $updates, reads: $reads, updates_a_step: ($updates / $steps), reads_a_step: ($reads /
	   $steps), slurmctld_log_bytes: $bytes, groups: $groups, load: $load }'
[ "${#left[@]}" = 0 ] && [ "${#lost[@]}" = 0 ]
