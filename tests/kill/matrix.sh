#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# matrix.sh - every target killed at every step, many times; one CSV line a run
#
#   --times N      runs of each target and step with the plugin (50)
#   --off N        runs of each target and step with --nccl-tune=off (3)
#   --parallel N   clusters at once (2)
#   --targets LIST --steps LIST   of kill.bash, separated by commas
#   --out FILE     the CSV; lines are added as they come (standard output)
#
# Each cluster lives in namespaces of its own: all that is in its /tmp, /dev/shm and process table is the job's or
# Slurm's. Needs root and NT_STAGE, as the cluster tests do. KILL_CLUSTER_OPTIONS: more words for tests/lib/cluster up.
set -u
top=$(cd "$(dirname "$(readlink -f "$0")")/../.." && pwd)
# shellcheck source=tests/lib/cluster.bash
. "$top/tests/lib/cluster.bash"
# shellcheck source=tests/kill/kill.bash
. "$top/tests/kill/kill.bash"

usage() {
	sed -n '5,/^[^#]/{s/^# \{0,1\}//p}' "$0" >&2
	exit 2
}

skip() {
	echo "matrix.sh: $*" >&2
	exit 1
}

# The next line of the list of runs, or nothing. One of several workers takes it.
next_run() {
	local lock number
	exec {lock}<>"$work/next"
	flock "$lock"
	number=$(cat "$work/next")
	echo $((number + 1)) >"$work/next"
	exec {lock}>&-
	sed -n "${number}p" "$work/runs"
}

start_cluster() {
	# shellcheck disable=SC2086 # words
	cluster_start 8 -n -p "$(nt_plugstack_line)" ${KILL_CLUSTER_OPTIONS:-}
}

# In namespaces of its own. What others have in /tmp is seen at $work/tmp.
worker() {
	local line
	mount --rbind /tmp "$work/tmp" && mount -t tmpfs -o mode=1777 none /tmp &&
		mount -t tmpfs -o mode=1777 none /dev/shm && ip link set lo up || exit 1
	ip address add 192.0.2.1/32 dev lo	# getaddrinfo() knows no IPv4 with 127.0.0.1 alone
	export NT_STAGE=${NT_STAGE/#\/tmp\//$work/tmp/}
	cluster_setup
	start_cluster || exit 1
	while line=$(next_run) && [ -n "$line" ]; do
		# shellcheck disable=SC2086 # words of the list
		kill_run $line
		(flock 9 && kill_values >&9) 9>>"$work/csv"
		keep_odd
		if [ "$k_admin" = lost ]; then
			cluster_stop
			cluster_setup
			start_cluster || exit 1
		fi
	done
	cluster_stop
}

# The output of runs that need to be looked at.
keep_odd() {
	((k_hang || k_mismatches)) || [[ $k_others = lost || $k_before = none ]] || return
	cp -R "$k_dir" "$work/odd.$k_tune.$k_target.$k_step.$k_run"
	cp "$NT_CLUSTER/log/slurmctld.log" "$NT_CLUSTER/log/$k_node.log" "$work/odd.$k_tune.$k_target.$k_step.$k_run/"
}

list_runs() {
	local run target step
	for ((run = 0; run < times || run < off; run++)); do
		for step in $steps; do
			for target in $targets; do
				((run < times)) && echo "on $target $step $run"
				((run < off)) && [ "$target" != stop ] && echo "off $target $step $run"
			done
		done
	done
}

if [ "${1:-}" = --worker ]; then
	work=$2
	worker
	exit
fi

times=50 off=3 parallel=2 targets=$KILL_TARGETS steps=$KILL_STEPS out=/dev/stdout
while [ $# -gt 0 ]; do
	[ $# -gt 1 ] || usage
	case $1 in
	--times) times=$2 ;;
	--off) off=$2 ;;
	--parallel) parallel=$2 ;;
	--targets) targets=${2//,/ } ;;
	--steps) steps=${2//,/ } ;;
	--out) out=$2 ;;
	*) usage ;;
	esac
	shift 2
done
NT_STAGE=${NT_STAGE:-$NT_TOP/build/stage}
[ -d "$NT_STAGE" ] || skip "no installed tree at $NT_STAGE"
export NT_STAGE

work=$(mktemp -d /var/tmp/nt-kill.XXXXXX) || exit 1
chmod 755 "$work"
mkdir "$work/tmp"
echo 1 >"$work/next"
list_runs >"$work/runs"
echo "$kill_columns" >"$work/csv"
workers=()
for ((i = 0; i < parallel; i++)); do
	unshare --mount --net --pid --fork --kill-child --mount-proc "$0" --worker "$work" >>"$work/log.$i" 2>&1 &
	workers+=($!)
done

echo "matrix.sh: $(wc -l <"$work/runs") runs; outputs of odd ones and logs in $work" >&2
tail -n +1 -f --pid=$$ "$work/csv" >"$out" &
trap 'kill -9 $(jobs -p) 2>/dev/null' EXIT	# unshare takes no other signal
wait "${workers[@]}"
sleep 1
compgen -G "$work/odd.*" >/dev/null || rm -rf --one-file-system "$work"
