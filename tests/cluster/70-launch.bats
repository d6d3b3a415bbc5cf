#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# Every way to launch a job, and every way a job ends: with the plugin as without it. The process that loads the plugin
# is an MPI program, Python, or tests/launch/*.c, which loads the simulated NCCL as a library. Steps without PMIx are in
# 50-job.bats.
bats_require_minimum_version 1.5.0
load ../lib/cluster

SURVIVORS_S=20	# Slurm kills a step about a second after it lost a PMIx client; a busy one takes longer

# AUTO is TREE/SIMPLE here; the other arm is found within a few hundred calls.
JOB=(--arm RING/SIMPLE=0.4 --sizes 256K --iters 8000 --more 40000 --settled --call-gap-us 100)

# All nodes of the mini cluster are one host: shared memory and host names would tell MPI so.
MPI_ON_ONE_HOST=(OMPI_MCA_pml=ob1 "OMPI_MCA_btl=tcp,self" OMPI_MCA_btl_tcp_if_include=lo
	OMPI_MCA_mpi_yield_when_idle=1)

setup_file() {
	local program
	export bin library runs
	cluster_setup
	bin=$NT_BASE/bin library=$NT_TESTS/nt-fake-job.so runs=$NT_BASE/runs
	mkdir "$bin" "$runs"
	for program in ends children mpi-order; do
		compile cc "$program" || return 1
	done
	if command -v mpicc >/dev/null; then
		compile mpicc mpi-job || return 1
	fi
	cp "$NT_TOP/tests/launch/job.py" "$bin"
	chmod -R a+rX "$bin"
	cluster_start 6 -p "$(nt_plugstack_line)"
	need_pmix
}

teardown_file() {
	cluster_check_and_stop
}

setup() {
	out=$BATS_TEST_TMPDIR/out
	err=$BATS_TEST_TMPDIR/err
}

# A test that fails leaves its batch job to nobody.
teardown() {
	[ -z "${job:-}" ] || end_job "$job"
}

end_job() {
	timeout 60 scancel -f "$1" 2>/dev/null || :
	wait_for 30 is_gone "$1"
}

is_gone() {
	[ -z "$(squeue -h -j "$1" 2>/dev/null)" ]
}

# compile CC NAME: tests/launch/NAME.c
compile() {
	"$1" -std=c11 -D_GNU_SOURCE -O1 -Wall -Wextra -Werror -I"$NT_TOP" -o "$bin/$2" "$NT_TOP/tests/launch/$2.c" -pthread -ldl
}

# launch SRUN-OPTION... -- CMD...: a tuned step of four tasks ($tasks a node) on two nodes; its output is in $out and $err.
launch() {
	local options=()
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	as_user srun -N2 --ntasks-per-node="${tasks:-2}" -t 30 --mpi=pmix --nccl-tune=bandit "${options[@]}" "$@" \
		>"$out" 2>"$err" ||
		{ echo "exit status $?"; cat "$out" "$err"; return 1; }
}

# launch_mpi SRUN-OPTION... -- CMD...: the same for programs that say when MPI has started. Open MPI 4.1 at times crashes in
# MPI_Init where its messages go over TCP and the machine is busy (docs/hosts.md): that step is started again.
launch_mpi() {
	local try
	for try in 1 2 3; do
		launch "$@" >"$err.launch" && return
		if ! grep -q 'Signal: Segmentation fault' "$err" ||
			[ "$(grep -o '^task [0-3]: MPI has started$' "$err" | sort -u | wc -l)" = 4 ]; then
			break
		fi
		echo "# Open MPI crashed in MPI_Init, try $try" >&3
	done
	cat "$err.launch"
	return 1
}

# The faster arm was found and taken, and no rank ever differed, in all jobs of $1 (default: $out).
tuned() {
	jq -se 'length > 0 and all(.[]; .mismatches == 0 and .keys[0].arm == "RING/SIMPLE" and .keys[0].overridden > 100)' \
		"${1:-$out}" >/dev/null || { cat "${1:-$out}"; return 1; }
}

record_of() {
	wait_record "$1" && sacct_field "$1" admincomment
}

# ---- Other users of PMIx in the process

need_mpi() {
	[ -x "$bin/mpi-job" ] || skip "no mpicc (./dev setup installs it)"
}

need_mpi4py() {
	/usr/bin/python3 -c 'import mpi4py' 2>/dev/null || skip "no mpi4py (./dev setup installs it)"
}

# Open MPI 5 and later abort in a process that is a client before them.
mpi_joins_a_client() {
	[[ $(mpicc --showme:version) =~ Open\ MPI\ ([0-9]+) && ${BASH_REMATCH[1]} -lt 5 ]]
}

# left_alone JOB: nothing was changed in it.
left_alone() {
	jq -e '.mismatches == 0 and .keys[0].arm == "TREE/SIMPLE" and .keys[0].overridden == 0' <<<"$1"
}

# Of two jobs of the same processes.
first_is_left_alone() {
	[ "$(wc -l <"$out")" = 2 ]
	left_alone "$(head -n 1 "$out")"
	tuned <(tail -n 1 "$out")
}

# mpi_job ORDER: every task has used one libpmix, and is no client of it any more when it exits.
mpi_job() {
	launch_mpi -- env "${MPI_ON_ONE_HOST[@]}" "$bin/mpi-job" "$1" "$library" "${JOB[@]}" || return 1
	if [ "$(grep -c '^task [0-3]: libpmix 1, client in the end 0$' "$err")" != 4 ] || grep -E 'errhandler|error:' "$err"; then
		cat "$err"
		return 1
	fi
}

@test "an MPI program: MPI starts before the plugin and ends before it" {
	need_mpi
	mpi_job around
	tuned
}

@test "an MPI program: MPI starts while the plugin is working" {
	need_mpi
	mpi_job late
	[ "$(wc -l <"$out")" = 2 ]
	if mpi_joins_a_client; then
		tuned
	else
		first_is_left_alone
	fi
}

@test "an MPI program: MPI ends after the plugin" {
	need_mpi
	mpi_job last
	tuned
}

@test "an MPI program: its collectives run beside those of NCCL" {
	need_mpi
	mpi_job beside
	tuned
}

@test "mpi4py, before and after the plugin's start" {
	need_mpi4py
	local way tasks=2
	for way in mpi mpi-late; do
		[ "$way" = mpi ] || mpi_joins_a_client || tasks=1
		launch_mpi -- env "${MPI_ON_ONE_HOST[@]}" /usr/bin/python3 "$bin/job.py" "$way" "$library" "${JOB[@]}"
		tuned
		[ "$(grep -c '^ended' "$err")" = $((2 * tasks)) ]
		run ! grep -E 'errhandler|error:' "$err"
	done
}

# order ORDER [VERSION]: with the library that stands in for MPI, whose MPI_Init aborts as Open MPI 5's in a process
# that is a client of PMIx already. No task of it may.
order() {
	local meet=$NT_CLUSTER/work/order try
	for try in 1 2 3; do
		rm -rf "$meet"
		mkdir -m 1777 "$meet"
		if launch -- env NT_FAKE_MPI_VERSION="${2:-Open MPI v5.0.7}" "$bin/mpi-order" "$1" \
			"$NT_TESTS/libmpi-fake.so" "$library" "$meet" "${JOB[@]}" >"$err.launch"; then
			! grep -E 'errhandler|error:|fake MPI' "$err"
			return
		fi
		pmix_crashed_at_the_end || break
		echo "# PMIx crashed in its last PMIx_Finalize, try $try" >&3
	done
	cat "$err.launch"
	return 1
}

# PMIx does where a process becomes a client while another thread's PMIx_Finalize is not over (docs/hosts.md); all work is done
# by then.
pmix_crashed_at_the_end() {
	grep -q 'Segmentation fault' "$err" &&
		[ "$(grep -c 'aside after' "$err")" = 2 ] && [ "$(grep -c ': played, client 1$' "$err")" = 4 ]
}

# clients COUNT: of so many jobs of a task it was said that the process was a client when it ended.
clients() {
	[ "$(grep -c 'played, client 1$' "$err")" = "$1" ] || { cat "$err"; return 1; }
}

@test "an MPI that must be the first PMIx client: the plugin waits until MPI has started" {
	order linked
	# The first job is left alone; the second is tuned: all four are clients then, by MPI.
	clients 4
	first_is_left_alone
}

# One task a node: where there are more, nothing helps (docs/hosts.md).
@test "an MPI that must be the first PMIx client starts after the plugin: the plugin stands aside" {
	tasks=1 order loaded
	tuned
	[ "$(wc -l <"$out")" = 2 ]
}

@test "an MPI that must be the first PMIx client and never starts: the job is left alone" {
	order never
	clients 0
	left_alone "$(cat "$out")"
}

@test "the plugin does not wait for an MPI that can join a PMIx client" {
	order linked "Open MPI v4.1.4"
	tuned
	[ "$(wc -l <"$out")" = 2 ]
}

# ---- Children

@test "ranks that fork children while exploring" {
	launch -- "$bin/children" "$library" "${JOB[@]}" --call-gap-us 300
	tuned
	# Many, and all of them ended in order.
	[ "$(awk '/^forked/ { n++; if ($2 >= 50 && $4 == 0 && NF == 4) good++ } END { print n, good }' "$err")" = "4 4" ] ||
		{ cat "$err"; false; }
	# The trays in the nodes' memories are those of the four tasks.
	[ "$(sed -n 's/^pid //p' "$err" | sort)" = \
		"$(sed -n 's/^tray //p' "$err" | sort -u)" ] || { cat "$err"; false; }
}

# ---- Ends: all jobs of this part are started at once, since most of what they do is to sleep

LANES=4	# so many jobs play at the same time
lane=0

# begin NAME CMD...: in the background; NAME.out, NAME.err and, when it has ended, NAME.rc in $runs.
begin() {
	local name=$1
	shift
	lane=$(((lane + 1) % LANES))
	{
		local rc=0
		exec 9>"$runs/lane.$lane"
		flock 9
		{
			as_user "$@" >"$runs/$name.out" 2>"$runs/$name.err" </dev/null || rc=$?
			echo "$rc" >"$runs/$name.rc.new"
			mv "$runs/$name.rc.new" "$runs/$name.rc"
		} 9>&- &
		wait_for 30 played "$name"
	} >/dev/null 2>&1 3>&- &
}

played() {
	said "$1" played 4 || [ -e "$runs/$1.rc" ]
}

# pair NAME CMD...: the same step without the plugin and with it.
pair() {
	local name=$1 tune
	shift
	for tune in off bandit; do
		begin "$name.$tune" srun -J "$name.$tune" -N2 --ntasks-per-node=2 -t 30 --mpi=pmix --nccl-tune="$tune" "$@"
	done
}

# ends WAY WHO [OPTION]...: a pair by that name. Who is left lives on for longer than Slurm needs to kill a step.
ends() {
	pair "$1-$2" "$bin/ends" "$1" "$2" "$SURVIVORS_S" "$library" "${JOB[@]}" --no-destroy "${@:3}"
}

python_ends() {
	pair "python-$1" /usr/bin/python3 "$bin/job.py" "$1" "$library" "${JOB[@]}" --no-destroy
}

begin_ends() {
	[ ! -e "$runs/begun" ] || return 0
	touch "$runs/begun"
	# First what has to wait for slurmctld, which looks at time limits every 30 s.
	pair limit "$bin/ends" exit none 1200 "$library" "${JOB[@]}"
	overrun limit.off >/dev/null 2>&1 3>&- &
	overrun limit.bandit >/dev/null 2>&1 3>&- &
	ends kill 0
	ends kill 2
	ends kill 3
	ends _exit 0
	ends _exit 2
	ends _exit all
	ends abort 2
	ends abort 3
	ends exit 2
	ends exit3 0
	ends quick_exit all
	python_ends _exit
	python_ends raise
}

# said NAME WHAT COUNT: so many tasks have said it.
said() {
	[ "$(grep -c "^$2 " "$runs/$1.err")" = "$3" ]
}

# overrun NAME: its time limit ends it when its tasks' records are complete, which a busy machine takes its time for.
overrun() {
	wait_for 60 said "$1" played 4
	[[ $1 != *.bandit ]] || wait_for 60 all_is_recorded "$1"
	wait_for 20 ends_soon "$1"
}

all_is_recorded() {
	step_records "$(squeue -h -n "$1" -o %i)" | jq -se --argjson calls "$(jq '.keys[0].calls' "$runs/$1.out")" \
		'length == 4 and all(.comms[0].keys[0].calls == $calls)'
}

# ends_soon NAME: slurmctld refuses an end that has passed when it reads of it, as `now` may have.
ends_soon() {
	as_root scontrol update jobid="$(squeue -h -n "$1" -o %i)" endtime=now+5seconds
}

# same NAME: both of the pair have ended alike, and the one was tuned.
same() {
	begin_ends
	wait_for 140 test -e "$runs/$1.off.rc" -a -e "$runs/$1.bandit.rc"
	tuned "$runs/$1.bandit.out" || { cat "$runs/$1.bandit.err"; return 1; }
	diff -U9 <(what_happened "$1.off") <(what_happened "$1.bandit") || { cat "$runs/$1.bandit.err"; return 1; }
}

what_happened() {
	# srun may put a line of its own before the end of a task's.
	grep -oE '(played|survived|caught|ended) [0-9]+' "$runs/$1.err" | sort
	echo "exit status $(cat "$runs/$1.rc")"
}

# both NAME WHAT COUNT: in either of the pair.
both() {
	{ said "$1.off" "$2" "$3" && said "$1.bandit" "$2" "$3"; } || { cat "$runs/$1.off.err"; return 1; }
}

@test "all tasks end at once: _exit, quick_exit, os._exit of Python" {
	same _exit-all
	same quick_exit-all
	same python-_exit
}

@test "one task ends early and the others go on: exit, another exit status, an exception in Python" {
	same exit-2
	both exit-2 survived 3
	same exit3-0
	both exit3-0 survived 3
	same python-raise
	both python-raise ended 3
}

@test "one task that is not a node leader is lost and the others go on" {
	same kill-3
	both kill-3 survived 3
	same abort-3
	both abort-3 survived 3
}

@test "the first task of a node is lost and the others go on: SIGKILL, abort, _exit" {
	same kill-0
	both kill-0 survived 3
	same kill-2
	same abort-2
	same _exit-0
	same _exit-2
	both _exit-2 survived 3
}

@test "a signal to the step reaches its tasks, not the plugin's thread" {
	local signal tune
	for signal in USR1 TERM; do
		pair "signal-$signal" "$bin/ends" exit none 1200 "$library" "${JOB[@]}"
		for tune in off bandit; do
			wait_for 40 said "signal-$signal.$tune" played 4
			as_user scancel --signal="$signal" -n "signal-$signal.$tune"
		done
		same "signal-$signal"
	done
	both signal-USR1 caught 4
	both signal-TERM caught 0
}

@test "the time limit ends a step; its record is final and complete" {
	local ended
	same limit
	both limit survived 0
	wait_for 20 is_accounted_as limit.bandit TIMEOUT
	ended=$(sacct -n -X -P --name=limit.bandit -o jobid)
	run -0 record_of "$ended"
	has_step 0 4 2
	jq -e --argjson calls "$(jq '.keys[0].calls' "$runs/limit.bandit.out")" '.nccl_tune["0"] | .early == null and .heard == 1 and .more == null and
		.["4r2n"]["AllReduce 256K"].calls == $calls' <<<"$output" || { echo "$output"; false; }
	wait_for 60 no_helpers
	run -0 as_user "$NT_STAGE/bin/nccl-tune" report "$ended"
	[[ $output = *"Ring/Simple takes"* && $output != *"had not ended"* ]]
}

is_accounted_as() {
	[ "$(sacct -n -X -P --name="$1" -o state)" = "$2" ]
}

# ---- Scripts, allocations, terminals

# has_step NUMBER RANKS NODES: the record in $output has found the arm in that step.
has_step() {
	jq -e --arg step "$1" --arg shape "$2r$3n" \
		'.nccl_tune[$step][$shape]["AllReduce 256K"] | .arm == "RING/SIMPLE" and .us[1] < 0.8 * .us[0]' <<<"$output" ||
		{ echo "step $1: $output"; return 1; }
}

# submit TASKS-PER-NODE LINE...: a batch script of these lines; sets job. Its output is in $log.
submit() {
	local tasks=$1 script=$NT_BASE/script.$BATS_TEST_NUMBER
	log=$NT_CLUSTER/work/batch.$BATS_TEST_NUMBER
	shift
	printf '%s\n' '#!/bin/bash' "$@" >"$script"
	chmod a+r "$script"
	job=$(as_user sbatch --parsable -N2 --ntasks-per-node="$tasks" -t 30 --requeue --nccl-tune=bandit -o "$log" "$script")
	[[ $job =~ ^[0-9]+$ ]]
}

log_has() {
	[ "$(grep -c "$1" "$log")" = "$2" ]
}

@test "a job that is requeued while running is tuned again; the record is that of its last run" {
	submit 2 "srun --mpi=pmix '$bin/ends' exit none \$((SLURM_RESTART_COUNT > 0 ? 0 : 1200)) '$library' ${JOB[*]}" \
		"echo \"run \${SLURM_RESTART_COUNT:-0}: exit status \$?\""
	wait_for 40 log_has ^played 4
	as_root scontrol requeue "$job"
	wait_for 110 has_run_again
	run -0 record_of "$job"
	has_step 0 4 2
	[ "$(jq '.nccl_tune | del(.v, .says) | length' <<<"$output")" = 1 ]
	# All calls of the run that came to its end.
	grep '^{' "$log" >"$out"
	jq -e --argjson calls "$(jq '.keys[0].calls' "$out")" '.nccl_tune["0"]["4r2n"]["AllReduce 256K"].calls == $calls' <<<"$output"
	tuned
}

# Slurm would wait for two minutes before the second run, counted from the end of the first. But in the second in which
# a node was told of that end it refuses what runs next ("Job credential revoked").
has_run_again() {
	if [ "$(squeue -h -j "$job" -o '%T %r')" = 'PENDING BeginTime' ]; then
		pending_s=${pending_s:-$SECONDS}
		((SECONDS - pending_s < 3)) || as_root scontrol update jobid="$job" starttime=now
	fi
	log_has '^run 1: exit status 0' 1
}

@test "a batch script with steps one after another and at the same time" {
	local four="-n4 --ntasks-per-node=2 --mpi=pmix" job_line="'$NT_TESTS/nt-fake-nccl' ${JOB[*]}"
	submit 4 "srun $four $job_line" "srun $four $job_line" \
		"srun --exact $four $job_line &" "srun --exact $four $job_line" wait "echo ended"
	wait_for 60 log_has ^ended 1
	run -0 record_of "$job"
	has_step 0 4 2
	has_step 1 4 2
	has_step 2 4 2
	has_step 3 4 2
	grep '^{' "$log" >"$out"
	[ "$(wc -l <"$out")" = 4 ]
	tuned
}

@test "salloc, and steps inside with and without the option" {
	as_user salloc -N2 --ntasks-per-node=2 -t 30 --nccl-tune=bandit bash -c '
		srun --mpi=pmix "$@" && srun --mpi=pmix --nccl-tune=off "$@" && srun --mpi=pmix "$@"' - \
		"$NT_TESTS/nt-fake-nccl" "${JOB[@]}" >"$out" 2>"$err" </dev/null || { cat "$err"; false; }
	[ "$(jq -sc 'map(.keys[0].arm)' "$out")" = '["RING/SIMPLE","TREE/SIMPLE","RING/SIMPLE"]' ]
	run -0 record_of "$(sed -n 's/.*Granted job allocation //p' "$err")"
	has_step 0 4 2
	has_step 2 4 2
	jq -e '.nccl_tune | has("1") | not' <<<"$output"
}

@test "srun --pty" {
	command -v script >/dev/null || skip "no script"
	as_user script -qec "srun -N2 --ntasks-per-node=2 -t 30 --pty --mpi=pmix --nccl-tune=bandit \
		'$NT_TESTS/nt-fake-nccl' ${JOB[*]}" /dev/null >"$err" </dev/null || { cat "$err"; false; }
	grep '^{' "$err" >"$out"
	tuned
}

@test "nothing of nccl-tune is left behind" {
	wait_for 10 nothing_left
}

nothing_left() {
	[ -z "$(find "$NT_CLUSTER/run/nccl-tune" -mindepth 1 -type d ! -name jobs 2>/dev/null)" ] &&
		! pgrep -f "nt-recordd .*$NT_CLUSTER/" >/dev/null
}
