# shellcheck shell=bash
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# What runs side by side in ./dev test. Part of dev; reads $scratch.
#
#   job_add KIND SECONDS NAME CMD [ARG]...   to be run by run_jobs
#   run_jobs                                 all of them, those that take longest first
#
# KIND is `work`, which needs a processor all the time, or `wait`, which mostly waits: a private cluster. SECONDS are a guess,
# for the order only. CMD runs in a subshell with $job_dir, an empty directory, as a place for its files, and leaves
# "PASSED FAILED SKIPPED" in $job_dir/tally; without that file, or where CMD fails, it has failed. What it prints is shown
# when it has ended. What fails beside others runs once more after all of them, alone, and that run counts; say_again lists
# the tests that failed before.

# Enough that no processor waits, and few enough that a test is not starved: some start eight ranks or two compilers.
JOBS_WORK=$(($(nproc) + 1))
JOBS_WAIT=$(($(nproc) + 2))
readonly JOBS_WORK JOBS_WAIT
# A cluster's daemons answer soon, and others on this machine do not stop all work. What takes LONG_S or more goes before
# the rest.
readonly WORK_NICE=5 LONG_NICE=3 LONG_S=200

job_names=()
declare -A job_kind=() job_seconds=() job_command=()
declare -A job_of=() job_place=() job_began=()	# by the process that runs it
jobs_again=()	# failed beside others
failed_once=()	# "NAME: not ok ..." of these
load_peak=0.00	# of the averages of a minute when a job ended

job_add() {
	job_names+=("$3")
	job_kind[$3]=$1 job_seconds[$3]=$2 job_command[$3]=${*:4}
}

run_jobs() {
	local queue=() pid
	mapfile -t queue < <(for name in "${job_names[@]}"; do
		echo "${job_seconds[$name]} $name"
	done | sort -k1,1nr -k2 | cut -d' ' -f2-)
	job_names=()
	jobs_again=()
	while start_jobs && [ ${#job_of[@]} -gt 0 ]; do
		wait -n -p pid "${!job_of[@]}" || :
		job_ended "$pid"
	done
	run_again
}

run_again() {
	local name pid
	for name in "${jobs_again[@]}"; do
		start_job "$name"
		wait -n -p pid "${!job_of[@]}" || :
		job_ended "$pid" alone
	done
}

say_again() {
	[ ${#failed_once[@]} -gt 0 ] || return 0
	say "failed beside others, ran again alone"
	printf '%s\n' "${failed_once[@]}"
}

note_load() {
	local load
	read -r load _ </proc/loadavg
	[ "${load/./}" -le "${load_peak/./}" ] || load_peak=$load
}

say_load() {
	[ "$load_peak" = 0.00 ] || say "the load was $load_peak at most, on $(nproc) processors"
}

# start_jobs: as many as there is room for. Takes them from $queue.
start_jobs() {
	local name later=()
	for name in "${queue[@]}"; do
		if job_has_room "${job_kind[$name]}"; then
			start_job "$name"
		else
			later+=("$name")
		fi
	done
	queue=("${later[@]}")
}

job_has_room() {
	local pid n=0
	for pid in "${!job_of[@]}"; do
		[ "${job_kind[${job_of[$pid]}]}" != "$1" ] || n=$((n + 1))
	done
	case $1 in
	work) [ "$n" -lt "$JOBS_WORK" ] ;;
	wait) [ "$n" -lt "$JOBS_WAIT" ] ;;
	esac
}

start_job() {
	local job_dir
	job_dir=$(mktemp -d "$scratch/XXX")
	chmod 1777 "$job_dir"
	job_process "$1" </dev/null >"$job_dir.log" 2>&1 &
	job_of[$!]=$1 job_place[$!]=$job_dir job_began[$!]=$SECONDS
}

job_process() {
	local words
	trap - EXIT INT TERM
	if [ "${job_kind[$1]}" = work ]; then
		renice -n $((job_seconds[$1] < LONG_S ? WORK_NICE : LONG_NICE)) -p "$BASHPID" >/dev/null
	fi
	read -ra words <<<"${job_command[$1]}"
	"${words[@]}" || touch "$job_dir/failed"
	times >"$job_dir/times"
}

# job_ended PID [alone]: shows what it said and counts it, or puts it down to run again.
job_ended() {
	local name=${job_of[$1]} place=${job_place[$1]} seconds=$((SECONDS - job_began[$1])) tally='0 0 0'
	unset "job_of[$1]"
	note_load
	[ ! -s "$place/tally" ] || tally=$(<"$place/tally")
	if [ -e "$place/failed" ] || [ ! -s "$place/tally" ]; then
		[[ $tally = *' '[1-9]*' '* ]] || tally="${tally%% *} 1 ${tally##* }"
	fi
	say "$name"
	cat "$place.log"
	[ ! -s "$place/times" ] || say "$name: $seconds s; processor time, user and system: $(sed -n 2p "$place/times")"
	if [[ $tally != *' 0 '* && ${2:-} != alone ]]; then
		say "$name: failed beside others; it will run again alone"
		jobs_again+=("$name")
		mapfile -t -O ${#failed_once[@]} failed_once < <(sed -n "s|^not ok|$name: &|p" "$place.log")
	else
		note_skipped "$name" "$place.log"
		# shellcheck disable=SC2086 # three numbers
		count $tally "$name" "$seconds"
	fi
	end_clusters "$place"
	rm -rf "$place" "$place.log"
}

# end_jobs: those that still run
end_jobs() {
	local pid
	for pid in "${!job_of[@]}"; do
		end_tree "$pid"
	done
	job_of=()
}

# end_tree PID: it and what it has started. Stopped first: a shell whose child has ended would start the next.
end_tree() {
	local child
	kill -STOP "$1" 2>/dev/null
	for child in $(pgrep -P "$1"); do
		end_tree "$child"
	done
	kill "$1" 2>/dev/null
	kill -CONT "$1" 2>/dev/null
}
