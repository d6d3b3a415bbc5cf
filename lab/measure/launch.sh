#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# launch.sh - what the start and the end of a step take longer with the plugin, on the mini cluster
#
#   launch.sh [-o FILE] [ROUNDS [NODES]...]   default: 50 rounds on 1 and on 4 nodes
#
# A round has a step of each kind, in an order drawn for it: without a plugin, with it and no option, off, observe, bandit,
# bandit with a record of a rank, the same with a long form, and with that where the site wants no findings. Prints medians, quartiles, and the median of the differences to the same round's step
# without a plugin, in ms. The whole cluster runs before other processes of the machine (SCHED_RR), so that their load counts
# little. -o: each step as a line nodes,round,kind,start_us,end_us.
set -u -o pipefail
raw=
[ "${1:-}" != -o ] || { raw=${2:?}; shift 2; }
# shellcheck source=lab/measure/usage.bash
. "$(dirname "${BASH_SOURCE[0]}")/usage.bash"
rounds=${1:-50}
shift
[ $# -gt 0 ] || set -- 1 4

if [ -z "${NT_FIRST:-}" ]; then
	first=()
	chrt -r 1 true 2>/dev/null && first=(chrt -r 1)
	NT_FIRST=${first[*]:-none} exec "${first[@]}" "$0" ${raw:+-o "$raw"} "$rounds" "$@"
fi

# shellcheck source=tests/lib/cluster.bash
. "$(dirname "$0")/../../tests/lib/cluster.bash"

skip() {
	echo "launch: $1" >&2
	exit 77
}

kinds=(none "no-option" off observe bandit record long "no-findings")

# step KIND NODES: sets line
step() {
	local option=() plugin=() record='' long=none
	case $1 in
	none) ;;
	no-option) plugin=("$plugstack") ;;
	record) plugin=("$plugstack") option=(--nccl-tune=bandit) record=1 ;;
	long) plugin=("$plugstack") option=(--nccl-tune=bandit) record=1 long=$records ;;
	no-findings) plugin=("$unasked") option=(--nccl-tune=bandit) record=1 long=$records ;;
	*) plugin=("$plugstack") option=("--nccl-tune=$1") ;;
	esac
	cluster plugstack "${plugin[@]}"
	wait_for 60 quiet || return 1
	line=$(as_user env ${record:+RECORD=1} NCCL_TUNE_RECORD_DIR="$long" ./launch srun --jobid "$job" --overlap -N"$2" --ntasks-per-node=1 \
		"${option[@]}")
}

quiet() {
	no_helpers && [ -z "$(stepds '')" ]
}

# Of raw lines: a row a kind and number of nodes.
summary() {
	jq -rR -n '
	def at(q): sort | .[((length - 1) * q) | round];
	def ms: . / 10 | round / 100 | tostring;
	def row(k; rows; base; what): (rows | map(.[what])) as $all
		| [range(rows | length) | rows[.][what] - base[.][what]] as $more
		| [(what | rtrimstr("_us")), (rows[0].nodes | tostring), k, ($all | at(.25) | ms), ($all | at(.5) | ms),
		   ($all | at(.75) | ms), ($more | at(.5) | ms), (($all | at(.5)) / (base | map(.[what]) | at(.5)) * 1000 | round / 1000
		   | tostring)];
	[inputs | select(test("^[0-9]")) | split(",")
	 | { nodes: (.[0] | tonumber), round: (.[1] | tonumber), kind: .[2], start_us: (.[3] | tonumber),
	     end_us: (.[4] | tonumber) }] as $all
	| ["of", "nodes", "kind", "p25", "median", "p75", "more", "ratio"],
	  (("start_us", "end_us") as $what | $all | group_by(.nodes)[] | . as $one
	   | ([$one[] | select(.kind == "none")] | sort_by(.round)) as $base
	   | ($ARGS.positional[]) as $kind | ([$one[] | select(.kind == $kind)] | sort_by(.round)) as $rows
	   | select(($rows | length) > 0 and (($kind | IN("record", "long", "no-findings") | not) or $what == "end_us")) | row($kind; $rows; $base; $what))
	| join(" ")' --args "${kinds[@]}" <"$1" | column -t
}

cluster_setup
work=$NT_CLUSTER/work
trap cluster_stop EXIT
raw=${raw:-$NT_BASE/raw.csv}
most=$(printf '%s\n' "$@" | sort -n | tail -n 1)
cluster_start "$most" || exit 1
install -m 755 "$(dirname "$0")/launch-task.sh" "$work/launch"
install -m 755 "$(dirname "$0")/../../tests/cluster/20-record-rank.sh" "$work/rank"
plugstack=$(nt_plugstack_line pmix=ask)
printf '[site]\nfindings = none\n' >"$NT_BASE/unasked.conf.lines"
unasked=$(nt_plugstack_line pmix=ask "conf=$NT_BASE/unasked.conf")
records=$NT_BASE/records
install -d -o "$NT_USER" "$records"
job=$(as_user salloc -Q --no-shell -N"$most" --exclusive 2>&1; squeue -h -o %A | tail -n 1)

echo "nodes,round,kind,start_us,end_us" >"$raw"
load=$(cut -d' ' -f1-3 /proc/loadavg)
for nodes; do
	step none "$nodes" && step record "$nodes" || exit 1 # what is read for the first time
	for ((round = 0; round < rounds; round++)); do
		mapfile -t order < <(shuf -e "${kinds[@]}")
		for kind in "${order[@]}"; do
			step "$kind" "$nodes" || exit 1
			echo "$nodes,$round,$kind,${line/ /,}" >>"$raw"
		done
	done
done
scancel "$job"
echo "ms; $rounds rounds; $(slurmd -V), Linux $(uname -r), $(nproc) processors, load $load before, \
$(cut -d' ' -f1-3 /proc/loadavg) after, scheduled by: $NT_FIRST; \
$(date -u +%F)"
summary "$raw"
