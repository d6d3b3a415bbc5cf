# shellcheck shell=bash disable=SC2154
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# Processes of the mini cluster: started apart from the caller, named by pid and start time, ended by pid.
# Part of tests/lib/cluster; reads $dir, $ME and $READY_S.

# Field 22 of stat is the start time: a pid and its start time name a process for good.
start_time() {
	local stat='' fields
	read -r -d '' stat 2>/dev/null <"/proc/$1/stat"
	[ -n "$stat" ] || return 1
	read -ra fields <<<"${stat##*) }"
	[ "${fields[0]}" != Z ] && echo "${fields[19]}"
}

# running NAME: the pid of the daemon if it is the process that was started here.
running() {
	local pid born
	read -r pid born 2>/dev/null <"$dir/run/$1.pid" || return 1
	[ "$(start_time "$pid")" = "$born" ] && echo "$pid"
}

# launch NAME USER CMD...: start a daemon in its foreground mode, away from our terminal and our pipes.
launch() {
	local name=$1 user=$2 pid fd as=()
	shift 2
	running "$name" >/dev/null && return 0
	[ "$user" = "$ME" ] || as=(setpriv --reuid "$user" --regid "$(id -g "$user")" --init-groups --)
	(
		for fd in /proc/self/fd/*; do
			fd=${fd##*/}
			[ "$fd" -gt 2 ] && eval "exec $fd>&-"
		done
		cd / || exit 1
		exec setsid "${as[@]}" "$@"
	) </dev/null >>"$dir/log/$name.out" 2>&1 &
	pid=$!
	echo "$pid $(start_time "$pid")" >"$dir/run/$name.pid"
	disown "$pid" 2>/dev/null
	return 0
}

# wait_until SECONDS CMD...: poll CMD until it succeeds.
wait_until() {
	local deadline=$((SECONDS + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ "$SECONDS" -lt "$deadline" ] || return 1
		sleep 0.05
	done
}

# wait_ready NAME CMD...: poll CMD until it succeeds, the daemon is gone or its time is up.
wait_ready() {
	local name=$1 deadline=$((SECONDS + READY_S))
	shift
	until "$@" >/dev/null 2>&1; do
		running "$name" >/dev/null || return 1
		[ "$SECONDS" -lt "$deadline" ] || return 1
		sleep 0.05
	done
}

# end_pids SECONDS SIGNAL PID...: signal, wait, then KILL what is left.
end_pids() {
	local polls=$(($1 * 20)) signal=$2 pid left
	shift 2
	[ $# -gt 0 ] || return 0
	kill -s "$signal" "$@" 2>/dev/null
	while [ "$polls" -gt 0 ]; do
		left=()
		for pid; do
			start_time "$pid" >/dev/null && left+=("$pid")
		done
		[ ${#left[@]} -eq 0 ] && return 0
		set -- "${left[@]}"
		sleep 0.05
		polls=$((polls - 1))
	done
	kill -s KILL "$@" 2>/dev/null
	wait_until 5 gone "$@"
}

gone() {
	local pid
	for pid; do
		start_time "$pid" >/dev/null && return 1
	done
	return 0
}

# has_log PID: is it a slurmstepd of this cluster? From 24.11 on it shows no environment, but has its node's log open.
has_log() {
	local name=''
	read -r name 2>/dev/null <"/proc/$1/comm"
	[[ $name = slurmstepd* ]] && readlink "/proc/$1/fd"/* 2>/dev/null | grep -qF "$dir/log/"
}

# is_ours PID KIND: was it started with this cluster's SLURM_CONF, and is it of that kind? Steps are slurmstepds,
# their tasks (only these have SLURMD_NODENAME) and the clients that wait for them; rest is Slurm's daemons.
is_ours() {
	local vars=() exe
	mapfile -d '' vars 2>/dev/null <"/proc/$1/environ"
	[[ " ${vars[*]} " = *" SLURM_CONF=$dir/etc/slurm.conf "* ]] || has_log "$1" || return 1
	exe=$(readlink "/proc/$1/exe")
	case $2:${exe##*/} in
	steps:slurmstepd*|steps:srun|steps:sbatch|steps:salloc) return 0 ;;
	steps:*) [[ " ${vars[*]} " = *" SLURMD_NODENAME="* ]] ;;
	rest:slurm*) return 0 ;;
	*) return 1 ;;
	esac
}

# our_pids KIND: what is_ours and all that descends from it, but neither this process nor those above it.
our_pids() {
	local stat text pid ppid p spared=" $BASHPID "
	local -A parent=() ours=()
	for stat in /proc/[0-9]*/stat; do
		text=
		read -r -d '' text 2>/dev/null <"$stat"
		[ -n "$text" ] || continue
		pid=${text%% *}
		read -r _ ppid _ <<<"${text##*) }"
		parent[$pid]=$ppid
		is_ours "$pid" "$1" && ours[$pid]=1
	done
	for ((p = $$; p > 1; p = ${parent[$p]:-0})); do
		spared+="$p "
	done
	for pid in "${!parent[@]}"; do
		for ((p = pid; p > 1; p = ${parent[$p]:-0})); do
			[ -n "${ours[$p]:-}" ] || continue
			[[ $spared = *" $pid "* ]] || echo "$pid"
			break
		done
	done
}
