#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# summary.sh - what nccl-tune summary takes over many jobs, as one JSON object
#
#   summary.sh [JOBS [DAYS]]   so many made-up jobs (100000) that have ended in the last DAYS (30)
#
# They are written into the accounting database of a private cluster by SQL (made-up-jobs.sh). Then nccl-tune summary over all
# of them, and sacct asked for the same in one question: seconds, those of processor time (of its sacct's, too, where they were
# waited for), and the most memory that each process had (VmHWM, KiB), slurmdbd's likewise after each. NT_SUMMARY_TEXT names a
# file for the text. Needs root, as the tests on the mini cluster do. NT_STAGE names another installed tree.
set -euo pipefail
# shellcheck source=lab/measure/usage.bash
. "$(dirname "${BASH_SOURCE[0]}")/usage.bash"
jobs=${1:-100000} days=${2:-30}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
skip() { echo "summary.sh: $*" >&2; exit 1; }
# shellcheck source=tests/lib/cluster.bash
. "$here/../../tests/lib/cluster.bash"
cluster_setup
trap cluster_stop EXIT
cluster_start 1
now=$(date +%s)
sql() { mariadb --no-defaults -S "$NT_CLUSTER/run/mysql.sock" slurm_acct "$@"; }

# peak PID: VmHWM, 0 where it is gone
peak() {
	awk '$1 == "VmHWM:" { kib = $2 } END { print kib + 0 }' "/proc/$1/status" 2>/dev/null || echo 0
}

daemon_peak() {
	local pid
	read -r pid _ <"$NT_CLUSTER/run/$1.pid"
	peak "$pid"
}

# ticks PID: its processor time and that of its children, in clock ticks; nothing where it is gone
ticks() {
	local stat='' fields
	read -r -d '' stat 2>/dev/null <"/proc/$1/stat" || :
	[ -n "$stat" ] || return 0
	read -ra fields <<<"${stat##*) }"
	echo "$((fields[11] + fields[12])) $((fields[13] + fields[14]))"
}

# watch_peaks PID: its own memory, that of its children, and ticks, as they were last seen.
watch_peaks() {
	local pid=$1 own=0 child=0 kib children now spent='0 0'
	while [ -e "/proc/$pid/status" ]; do
		kib=$(peak "$pid")
		[ "$kib" -le "$own" ] || own=$kib
		read -r children 2>/dev/null <"/proc/$pid/task/$pid/children" || :
		for kib in ${children:-}; do
			kib=$(peak "$kib")
			[ "$kib" -le "$child" ] || child=$kib
		done
		now=$(ticks "$pid")
		spent=${now:-$spent}
		sleep 0.02
	done
	echo "$own $child $spent"
}

# measure KIND CMD...: one line of JSON
measure() {
	local kind=$1 began ms own child cpu child_cpu
	shift
	began=${EPOCHREALTIME/./}
	"$@" >"$NT_BASE/out" &
	read -r own child cpu child_cpu < <(watch_peaks $!)
	wait $!
	ms=$(((${EPOCHREALTIME/./} - began) / 1000))
	jq -cn --arg kind "$kind" --argjson ms "$ms" --argjson own "$own" --argjson child "$child" \
		--argjson slurmdbd "$(daemon_peak slurmdbd)" --argjson bytes "$(stat -c %s "$NT_BASE/out")" \
		--argjson cpu "$cpu" --argjson child_cpu "$child_cpu" --argjson hz "$(getconf CLK_TCK)" \
		'{$kind, seconds: ($ms / 1000), cpu_seconds: ($cpu / $hz), child_cpu_seconds: ($child_cpu / $hz),
		  kib: $own, child_kib: $child, slurmdbd_kib: $slurmdbd, out_bytes: $bytes}'
}

columns=JobID,Cluster,Partition,User,NNodes,ElapsedRaw,State,AdminComment,End
{
	began=${EPOCHREALTIME/./}
	"$here/../../tests/fake/made-up-jobs.sh" "$jobs" "$now" "$days" | sql
	jq -cn --argjson ms $(((${EPOCHREALTIME/./} - began) / 1000)) '{kind: "fill", seconds: ($ms / 1000)}'
	measure summary "$NT_STAGE/bin/nccl-tune" summary --since "now-$((days + 1))days"
	cp "$NT_BASE/out" "$NT_BASE/text"
	measure sacct sacct -a -n -P -X -S "uts$((now - days * 86400))" -E "uts$((now + 60))" --format="$columns"
} >"$NT_BASE/lines"
[ -z "${NT_SUMMARY_TEXT:-}" ] || cp "$NT_BASE/text" "$NT_SUMMARY_TEXT"
jq -cs --argjson jobs "$jobs" --argjson days "$days" --argjson text_bytes \
	"$(sql -N -e 'select coalesce(sum(length(admin_comment)), 0) from nt_job_table')" \
	--argjson found "$(sed -n '1s/ jobs ended from .*//p' "$NT_BASE/text")" \
	'{$jobs, $days, record_bytes: $text_bytes, $found, runs: .}' "$NT_BASE/lines"
