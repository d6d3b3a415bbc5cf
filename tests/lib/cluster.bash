# shellcheck shell=bash
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# What a bats file needs for tests on the mini cluster. tests/README.md shows a whole file.
#
#   setup_file() { cluster_setup; cluster_start 2; }
#
# At a file's end its clusters are stopped; one that has more to do there defines teardown_file after the load.
#
# Set for the tests: NT_CLUSTER (its directory), NT_STAGE (the installed tree under test, readable to
# NT_USER), NT_TESTS (test programs), NT_USER (the unprivileged user).

NT_TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
NT_CLUSTER_PROGRAM=$NT_TOP/tests/lib/cluster
export NT_TOP NT_CLUSTER_PROGRAM
# shellcheck source=records.bash
. "$NT_TOP/tests/lib/records.bash"
export NT_USER=${NT_USER:-nt-test}
export NT_TIMEOUT_S=${NT_TIMEOUT_S:-600}	# for one command of a test; a hang guard, as all bounds here are
readonly NT_WAIT_LEAST_S=300

cluster() {
	"$NT_CLUSTER_PROGRAM" "$@"
}

# Skip the file where a cluster cannot be had; else take a directory for it and the tree under test.
cluster_setup() {
	local missing
	[ "$(id -u)" = 0 ] || skip "jobs of another user need root"
	id "$NT_USER" >/dev/null 2>&1 || skip "no user $NT_USER (./dev setup makes it)"
	missing=$(missing_programs slurmctld slurmd slurmdbd srun sacct munged mariadbd)
	[ -z "$missing" ] || skip "not installed: $missing (./dev setup installs it)"
	scrub_environment
	export NCCL_TUNE_RECORD_DIR=none # who tests records in full says where
	NT_BASE=$(mktemp -d "${TMPDIR:-/tmp}/nt-test.XXXXXX")
	chmod 755 "$NT_BASE"
	export NT_BASE NT_CLUSTER=$NT_BASE/cluster
	use_stage
}

missing_programs() {
	local program
	for program; do
		PATH=$PATH:/usr/sbin command -v "$program" >/dev/null || printf '%s ' "$program"
	done
}

# A test must not depend on the job, the site or the shell it is started from.
scrub_environment() {
	local name
	for name in $(compgen -e); do
		case $name in
		SLURM*|SBATCH*|SALLOC*|SPANK*|PMI*|NCCL*|OMPI*) unset "$name" ;;
		esac
	done
}

# cluster_start N [option of `cluster up`]...
cluster_start() {
	cluster_up "$NT_CLUSTER" "$@" || return 1
	export SLURM_CONF=$NT_CLUSTER/etc/slurm.conf
}

# cluster_up DIR N [option]...: for tests that have more than one cluster.
cluster_up() {
	local directory=$1 nodes=$2
	shift 2
	timeout 900 "$NT_CLUSTER_PROGRAM" up "$nodes" -d "$directory" "$@" >/dev/null
}

# The installed tree; a copy of it where NT_USER may not read the original (a checkout under /root).
use_stage() {
	NT_STAGE=${NT_STAGE:-$NT_TOP/build/stage}
	if [ -d "$NT_STAGE" ] && ! setpriv --reuid "$NT_USER" --clear-groups test -r "$NT_STAGE/lib"; then
		cp -R "$NT_STAGE" "$NT_BASE/stage" || return 1
		chmod -R a+rX "$NT_BASE/stage"
		NT_STAGE=$NT_BASE/stage
	fi
	export NT_STAGE NT_TESTS=$NT_STAGE/libexec/nccl-tune/tests
}

# cluster_start_tuned N [option of `cluster up`]...: cluster_setup too, with the plugin, and PMIx for steps across nodes.
cluster_start_tuned() {
	cluster_setup
	cluster_start "$@" -p "$(nt_plugstack_line)"
	need_pmix
}

# Skip the file or the test where Slurm was built without PMIx; the cluster must run.
need_pmix() {
	timeout 60 srun --mpi=list 2>&1 | grep -q pmix || skip "this Slurm was built without PMIx"
}

# slurm_is_at_least YEAR.MONTH
slurm_is_at_least() {
	{ echo "$1"; PATH=$PATH:/usr/sbin slurmd -V | awk '{ print $2 }'; } | sort -V -C
}

# nt_plugstack_line [KEY=VALUE]...: the line under test, with a file of the site's: [site] has these keys, of which a later
# one wins, and what the cluster needs. default=MODE[,KEY=VALUE]... stands for several. conf=FILE: that one, as site_file has
# written it.
nt_plugstack_line() {
	local word file='' lines=()
	site_keys "$@" >"$NT_BASE/site.keys"
	for word in "$@"; do
		[[ $word != conf=* ]] || file=${word#conf=}
	done
	if [ -n "$file" ]; then
		[ ! -e "$file.lines" ] || mapfile -t lines <"$file.lines"
		site_file "$file" "${lines[@]}"
	else
		file=$NT_BASE/site.$(cksum <"$NT_BASE/site.keys" | tr ' ' .).conf
		{ echo '[site]'; cat "$NT_BASE/site.keys"; } >"$file.new"
		mv "$file.new" "$file"
	fi
	echo "optional $NT_STAGE/lib/slurm/spank_nccl_tune.so conf=$file"
}

# site_keys [KEY=VALUE]...
site_keys() {
	local word
	for word in "plugin=$NT_STAGE/lib/nccl-tune/libnccl-tune.so" "recordd=$NT_STAGE/libexec/nccl-tune/nt-recordd" \
		"rundir=$NT_CLUSTER/run/nccl-tune" "spooldir=$NT_CLUSTER/run/spool" pmix=default "$@"; do
		case $word in
		conf=*) ;;
		default=*) tr , '\n' <<<"mode=${word#default=}" ;;
		*) echo "$word" ;;
		esac
	done | tac | awk -F= '!seen[$1]++' | tac
}

# site_file FILE [LINE]...: a site's file of these lines and, at the end of [site], of the keys of the last
# nt_plugstack_line that the lines do not have.
site_file() {
	local file=$1
	shift
	printf '%s\n' "$@" >"$file.lines"
	{
		sed '/^\[partition/,$d' "$file.lines"
		grep -qxF '[site]' "$file.lines" || echo '[site]'
		sed '/^\[partition/,$d' "$file.lines" | sed -n 's/^\([a-z0-9_]*\) *=.*/^\1=/p' | grep -vEf - "$NT_BASE/site.keys" || :
		sed -n '/^\[partition/,$p' "$file.lines"
	} >"$file"
}

# All nodes ready for jobs.
cluster_wait() {
	wait_for 120 nodes_ready
}

nodes_ready() {
	! timeout 60 sinfo -h -N -o %t | grep -qvxE 'idle|mix|alloc'
}

# records_are_valid: all records of this file's cluster and its users, for teardown_file; each part of a long form, too.
records_are_valid() {
	records_of_jobs && records_below "$NT_BASE"
}

# The same, and then cluster_stop, whatever that says.
cluster_check_and_stop() {
	local rc=0
	records_are_valid || rc=1
	cluster_stop && return "$rc"
}

teardown_file() {
	cluster_stop
}

# End every cluster of this file; fails if something stays behind.
cluster_stop() {
	local settings rc=0
	[ -d "${NT_BASE:-}" ] || return 0
	for settings in "$NT_BASE"/*/run/settings; do
		[ -e "$settings" ] || continue
		cluster_down "${settings%/run/settings}" || rc=1
	done
	rm -rf "$NT_BASE"
	return "$rc"
}

cluster_down() {
	timeout 240 "$NT_CLUSTER_PROGRAM" down -d "$1" && no_leftovers "$1"
}

# no_leftovers DIR: fails, and lists them, if processes, ports or files of that cluster exist.
no_leftovers() {
	local process found
	found=$(find /tmp -maxdepth 1 -lname "$1"; ls -d "$1" 2>/dev/null || :)
	for process in /proc/[0-9]*; do
		belongs_to "$process" "$1" && found+=" ${process#/proc/}:$(tr '\0' ' ' <"$process/cmdline")"
	done
	[ -z "$found" ] || { echo "left behind: $found" >&2; return 1; }
}

# A daemon has the directory in its command line or SLURM_CONF, a slurmstepd its node's log open; a task has SLURM_CONF
# and SLURMD_NODENAME.
belongs_to() {
	local words=() vars=() conf=$2/etc/slurm.conf
	mapfile -d '' words 2>/dev/null <"$1/cmdline"
	mapfile -d '' vars 2>/dev/null <"$1/environ"
	case "${words[*]##*/}" in
	slurmstepd*) has_log_of "${1#/proc/}" "$2" ;;
	slurm*|munged*|mariadbd*|srun*) [[ " ${words[*]} ${vars[*]}" = *"$2/"* ]] ;;
	*) [[ " ${vars[*]} " = *" SLURM_CONF=$conf "* && " ${vars[*]} " = *" SLURMD_NODENAME="* ]] ;;
	esac
}

# has_log_of PID DIR: is a log of that cluster open? From 24.11 on slurmstepd shows no environment.
has_log_of() {
	readlink "/proc/$1/fd"/* 2>/dev/null | grep -qF "$2/log/"
}

# stepds [STEP]: the slurmstepds of this cluster, of one step ("12.0", "12.batch") or all.
stepds() {
	local pid step=${1:-}
	for pid in $(pgrep -f "^slurmstepd: \\[${step/./[.]}${step:+\\]}"); do
		! has_log_of "$pid" "$NT_CLUSTER" || echo "$pid"
	done
}

# What srun says where it has to wait for nodes or for a step before it, as on a busy machine.
readonly SRUN_WAITS='^srun: (job [0-9]+ (queued and waiting for|has been allocated) resources|Step created for |Job .*step creation )'

# without_waits: standard input without such lines.
without_waits() {
	sed -uE "/$SRUN_WAITS/d"
}

# step_shms PATTERN: paths of this cluster's memories of running steps, <node>.<job>.<step>; a memory has several.
step_shms() {
	local fd
	while IFS= read -r fd; do
		! grep -qsF "$NT_CLUSTER/" "${fd%/fd/*}/environ" || echo "$fd"
	done < <(find /proc/[0-9]*/fd -lname "/memfd:nccl-tune-shm.*.$1 *" 2>/dev/null)
}

# step_shm JOB [STEP [NODE]]: a path of one of them.
step_shm() {
	step_shms "${3:-*}.$1.${2:-0}" | head -n 1 | grep .
}

# step_names PATTERN: the memories, each once, by their names.
step_names() {
	step_shms "$1" | while IFS= read -r fd; do readlink "$fd" || :; done | sort -u
}

# step_records JOB [STEP]: the rank records that its processes on all nodes have left so far, one a line.
step_records() {
	local fd link
	local -A seen=()
	while IFS= read -r fd; do
		link=$(readlink "$fd") && [ -z "${seen[$link]:-}" ] || continue
		seen[$link]=1
		"$NT_TESTS/nt-record" list "$fd"
	done < <(step_shms "*.$1.${2:-0}")
}

# In a task: the tool, and a text from stdin as the record of another process. put_record TASK PID
# shellcheck disable=SC2016,SC2034 # for the task's shell
in_task='shm=${NCCL_TUNE_POLICY##*,shm=}; put_record() { "$NT_TESTS/nt-record" put "$shm" "$@"; }
'

# as_user CMD...: run CMD as NT_USER on the cluster, bounded in time; without what srun says of its waiting.
as_user() {
	local rc=0 said sieve out=1
	exec {said}> >(exec 3>&-; trap '' INT; without_waits >&2)
	sieve=$!
	# Where both go to one place their order is kept.
	[ ! /proc/self/fd/1 -ef /proc/self/fd/2 ] || out=$said
	timeout -k 5 "$NT_TIMEOUT_S" "$NT_CLUSTER_PROGRAM" exec -u "$NT_USER" "$@" >&"$out" 2>&"$said" {said}>&- || rc=$?
	exec {said}>&-
	wait "$sieve"
	return "$rc"
}

# as_root CMD...: the same as the administrator.
as_root() {
	timeout -k 5 "$NT_TIMEOUT_S" "$NT_CLUSTER_PROGRAM" exec "$@"
}

# wait_for SECONDS CMD...: poll CMD until it succeeds; says what it waited for when it does not. SECONDS are a quiet
# machine's; a busy one is given ten times as many, and NT_WAIT_LEAST_S at least.
wait_for() {
	local seconds=$(($1 * 10 > NT_WAIT_LEAST_S ? $1 * 10 : NT_WAIT_LEAST_S)) deadline
	deadline=$((SECONDS + seconds))
	shift
	until "$@" >/dev/null 2>&1; do
		if [ "$SECONDS" -ge "$deadline" ]; then
			echo "not within $seconds s: $*" >&2
			return 1
		fi
		sleep 0.1
	done
}

# wait_sacct JOBID: until accounting has the job's end, and its start, which a busy slurmdbd may store after it. Takes some
# seconds for the first job of a cluster.
wait_sacct() {
	wait_for 120 job_is_accounted "$1"
}

job_is_accounted() {
	timeout 60 sacct -n -X -P -j "$1" -o state,end,partition |
		grep -qE '^(COMPLETED|FAILED|CANCELLED|TIMEOUT|NODE_FAIL)[^|]*\|[0-9][^|]*\|.'
}

# wait_record JOBID: until accounting has the job's end and what nt-recordd says of it: on a busy host that is seconds
# later. What slurmctld was too slow for waits in the spool, and is brought from there as a site's timer brings it.
wait_record() {
	wait_sacct "$1" && wait_for 120 no_helpers || return 1
	if compgen -G "$NT_CLUSTER/run/spool/nt.$1.*.json" >/dev/null; then
		# Not among the output of the test's own command.
		NT_TIMEOUT_S=120 as_root "$NT_STAGE/bin/nccl-tune" backfill --spool "$NT_CLUSTER/run/spool" \
			>>"$NT_BASE/backfill.log" 2>&1 || :
	else
		wait_for 60 record_is_accounted "$1"
	fi
}

# observed_job NODES TASKS-PER-NODE SCRIPT [srun-option]... -- [option]...: calls of a program, observed, which each task's
# shell starts after SCRIPT; its id is in $job.
observed_job() {
	local nodes=$1 tasks=$2 script=$3 options=()
	shift 3
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	run -0 --separate-stderr as_user srun -N"$nodes" --ntasks-per-node="$tasks" -t 20 --nccl-tune=observe "${options[@]}" bash -c \
		'[ "$SLURM_PROCID" != 0 ] || echo "$SLURM_JOB_ID" >&2; '"$script"'; exec "$@" >/dev/null' - "$NT_TESTS/nt-fake-nccl" \
		--sizes 1M --iters 120 --noise lognormal:0.03 "${@:2}"
	job=$(grep -m1 -xE '[0-9]+' <<<"$stderr")
	wait_record "$job"
	wait_for 60 no_helpers
}

# job_report [option]...: of $job, as its user; $output is one line if it is prose
job_report() {
	run -0 as_user "$NT_STAGE/bin/nccl-tune" report "$@" "$job"
	[[ " $* " = *" --json "* || " $* " = *" --prometheus "* ]] || output=$(tr -s ' \n' ' ' <<<"$output")
}

no_helpers() {
	! pgrep -f "nt-recordd record .*dir=$NT_CLUSTER/"
}

record_is_accounted() {
	[ "$(sacct_field "$1" admincomment)" = "$(comment_now "$1")" ]
}

# What slurmctld has as the job's text.
comment_now() {
	timeout 60 scontrol show job "$1" | sed -n 's/^ *AdminComment=\(.*[^ ]\) *$/\1/p'
}

# sacct_field JOBID FIELD: one value of the job.
sacct_field() {
	timeout 60 sacct -n -X -P -j "$1" -o "$2"
}
