#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# touch.sh [SECONDS [FILES [KEYS [PAUSE]]]] - what it costs the node that a step touches its records all the time
#
# One step on one node; default 60 s of 240 records of 250 KiB, touched every 0.3 s. Prints what nt-recordd and its
# readers took of a processor, the largest memory of one of them, and the groups that a reader was in.
set -u -o pipefail
# shellcheck source=lab/measure/usage.bash
. "$(dirname "${BASH_SOURCE[0]}")/usage.bash"

# shellcheck source=tests/lib/cluster.bash
. "$(dirname "$0")/../../tests/lib/cluster.bash"

skip() {
	echo "touch: $1" >&2
	exit 77
}

# Ticks of a process and of its children that have ended.
ticks() {
	local line fields
	line=$(cat "/proc/$1/stat") || return 1
	read -ra fields <<<"${line##*) }"
	echo $((fields[11] + fields[12] + fields[13] + fields[14]))
}

watch_helper() {
	local pid child kib most=0 used=0 now
	until pid=$(pgrep -o -f "nt-recordd record .*dir=$NT_CLUSTER/"); do
		sleep 0.05
	done
	while now=$(ticks "$pid" 2>/dev/null); do
		used=$now
		for child in "$pid" $(pgrep -P "$pid"); do
			kib=$(awk '/^VmHWM/ { print $2 }' "/proc/$child/status" 2>/dev/null)
			((${kib:-0} > most)) && most=$kib
		done
		sleep 0.05
	done
	awk -v t="$used" -v hz="$(getconf CLK_TCK)" -v m="$most" 'BEGIN {
		printf "processor %.2f s, largest process %.1f MiB\n", t / hz, m / 1024 }'
}

cluster_setup
work=$NT_CLUSTER/work
trap cluster_stop EXIT
# slurm_nN is the node's name in groups that all clusters of a machine share.
cluster_start 1 -n -g ConstrainRAMSpace=yes -c ProctrackType=proctrack/cgroup -c TaskPlugin=task/cgroup \
	-c "FirstJobId=$((100000 + $$))" || exit 1
cluster plugstack "$(nt_plugstack_line pmix=ask)"
install -m 755 "$(dirname "$0")/../../tests/fake/touch-task.sh" "$work/task"
watch_helper &
as_user srun --nccl-tune=observe ./task "${1:-60}" "${2:-240}" "${3:-1000}" "${4:-0.3}"
wait $!
