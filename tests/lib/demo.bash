# shellcheck shell=bash
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# A private Slurm cluster with the plugin, for people: a job with its report, or a shell. Part of dev; reads $stage,
# $scratch and $cluster.

# The job of `./dev demo`: what srun gets, and the simulated training run.
DEMO_SRUN=(-N2 --ntasks-per-node=4 -t 20 --mpi=pmix --nccl-tune=bandit)
DEMO_PROGRAM=(nt-fake-nccl --trace traces/h200-2x4-seq.csv,2x4 --auto-picks traces/h200-auto-picks.csv
	--sizes 64K,256K,1M --iters 3000 --more 60000 --settled --call-gap-us 100)

# Its second act: the benchmark on a simulated NCCL, whose times depend on NCCL's start-up variables.
DEMO_LAUNCH=(--mpi=pmix --nccl-tune=bandit,channels=on,launch=auto,calibrate=30)
DEMO_LOOP=(nccl-tune-bench --sizes 1M,16M --iters 1500)
readonly DEMO_STEPS=3 DEMO_TASKS=4

# Hang guards.
readonly DEMO_S=600 CLUSTER_S=300 ACCOUNTED_S=300

# cluster_with_plugin N: sets NT_CLUSTER, and SLURM_CONF for it; the caller ends it by clean_scratch.
cluster_with_plugin() {
	if ! setpriv --reuid "$TEST_USER" --clear-groups test -r "$stage/bin"; then
		cp -R "$stage" "$scratch/stage"
		stage=$scratch/stage
	fi
	say "a private Slurm cluster of $1 nodes"
	export NT_CLUSTER=$scratch/cluster
	bounded "$CLUSTER_S" "the cluster's start" "$cluster" up "$1" -d "$NT_CLUSTER" -p "$(demo_plugstack)" >/dev/null
	ln -s "$stage/libexec/nccl-tune/tests/traces" "$NT_CLUSTER/work/traces"
}

# demo_plugstack [KEY=VALUE]...: the plugin's line; its file has these keys of [site], too
demo_plugstack() {
	local file=$scratch/nccl-tune.conf
	printf '%s\n' '[site]' "plugin=$stage/lib/nccl-tune/libnccl-tune.so" \
		"recordd=$stage/libexec/nccl-tune/nt-recordd" \
		"rundir=$NT_CLUSTER/run/nccl-tune" "spooldir=$NT_CLUSTER/run/spool" pmix=default "$@" >"$file"
	echo "optional $stage/lib/slurm/spank_nccl_tune.so conf=$file"
}

# begin_cluster COMMAND: root, packages, a scratch directory and the tree to run.
begin_cluster() {
	[ "$(id -u)" = 0 ] || die "$1 runs jobs as another user: start it as root"
	trap clean_scratch EXIT
	trap 'exit 130' INT TERM
	make_scratch
	setup "${BUILD_PACKAGES[@]}" "${CLUSTER_PACKAGES[@]}"
	if [ -n "${NT_STAGE:-}" ]; then
		stage=$NT_STAGE
	else
		build
	fi
}

# ---- a job and its report

demo() {
	local id job_rc=0
	begin_cluster demo
	cluster_with_plugin 2
	[[ $(demo_client -u "$TEST_USER" srun --mpi=list 2>&1) = *pmix* ]] ||
		die "the demo's jobs need PMIx, and this Slurm was built without PMIx"
	say "srun ${DEMO_SRUN[*]} ${DEMO_PROGRAM[*]}"
	demo_client -u "$TEST_USER" srun "${DEMO_SRUN[@]}" --job-name=demo \
		"$stage/libexec/nccl-tune/tests/${DEMO_PROGRAM[0]}" "${DEMO_PROGRAM[@]:1}" >/dev/null || job_rc=$?
	id=$(demo_wait)
	say "sacct -X -j $id -o jobid%5,jobname%7,state%9,admincomment%90"
	demo_client -u "$TEST_USER" sacct -X -j "$id" -o jobid%5,jobname%7,state%9,admincomment%90
	say "nccl-tune report $id"
	demo_client -u "$TEST_USER" "$stage/bin/nccl-tune" report "$id" | tee "$scratch/report"
	[ -n "$(demo_client sacct -n -X -P -j "$id" -o admincomment)" ] || die "the job has no report"
	[ "$job_rc" = 0 ] || die "the job ended with exit status $job_rc"
	demo_calibrates
	demo_array
	demo_page "$id"
	bounded "$CLUSTER_S" "the cluster's end" "$cluster" down
	say "what the first job came to"
	demo_verdict <"$scratch/report"
	say "the same as a page: open $page in a browser"
}

# The sentences of a report alone: between the job's line and the empty one before the steps.
demo_verdict() {
	sed -n '2,/^$/p' | sed '$d'
}

# demo_page JOB: the report as a page, in a file that stays; $page names it.
demo_page() {
	page=$(mktemp /tmp/nccl-tune-demo.XXXXXX.html)
	demo_client -u "$TEST_USER" "$stage/bin/nccl-tune" report "$1" --html=- >"$page"
	chmod a+r "$page"
}

# ---- a job that calibrates before its first step, and an array that does so once

demo_calibrates() {
	local id
	demo_job_script >"$NT_CLUSTER/work/job.sh"
	chmod 755 "$NT_CLUSTER/work/job.sh"
	say "a batch job of $DEMO_STEPS steps, each: srun ${DEMO_LAUNCH[*]} ${DEMO_LOOP[*]};" \
		"launch profiles are named sets of NCCL's start-up variables, and nothing is remembered yet"
	id=$(demo_sbatch memory --parsable -o job.out) || { cat "$NT_CLUSTER/work/job.out"; die "the second job failed"; }
	cat "$NT_CLUSTER/work/job.out"
	demo_wait "$id" >/dev/null
	say "nccl-tune report $id: what it came to"
	demo_client -u "$TEST_USER" "$stage/bin/nccl-tune" report "$id" >"$scratch/report.2"
	demo_verdict <"$scratch/report.2"
}

demo_array() {
	say "an array of $DEMO_TASKS such jobs at once, with a memory of its own, in which nothing is remembered either:" \
		"one calibrates, the others say why they do not"
	demo_sbatch array-memory -Q -a "0-$((DEMO_TASKS - 1))" -s --mem=0 -o array.%a ||
		{ cat "$NT_CLUSTER"/work/array.[0-9]*; die "the array failed"; }
	cat "$NT_CLUSTER"/work/array.[0-9]*
}

# demo_sbatch MEMORY [OPTION]...: waits for its end
demo_sbatch() {
	demo_client -u "$TEST_USER" env NCCL_TUNE_MEMORY="$NT_CLUSTER/work/$1" \
		LD_LIBRARY_PATH="$stage/libexec/nccl-tune/tests/simulated" \
		sbatch -W -N2 --ntasks-per-node=2 -t 60 --job-name=demo "${@:2}" "$NT_CLUSTER/work/job.sh"
}

# The tasks of an array begin together.
demo_job_script() {
	cat <<-END
	#!/bin/bash
	step() {
		SECONDS=0
		srun -v ${DEMO_LAUNCH[*]} $stage/bin/${DEMO_LOOP[*]} >"\$1" 2>"\$1.err" || { cat "\$1.err"; exit 1; }
		sed -En "s/^(srun: )?nccl-tune: (measuring|(no )?launch profile|calibration without|not calibrated)/\$1: \2/p" "\$1.err"
		echo "\$1: \$SECONDS s"
	}
	if [ -n "\$SLURM_ARRAY_TASK_ID" ]; then
		touch "begun.\$SLURM_ARRAY_TASK_ID"
		for ((wait = 0; wait < 1500 && \$(ls begun.* | wc -l) < $DEMO_TASKS; wait++)); do sleep 0.2; done
		step "task \$SLURM_ARRAY_TASK_ID"
		exit
	fi
	for ((step = 0; step < $DEMO_STEPS; step++)); do
		step "step \$step"
	done
	END
}

demo_client() {
	bounded "$DEMO_S" "$3" "$cluster" exec "$@"
}

# demo_wait [JOB]: the id of the demo's job, or of that one, once accounting has seen its end.
demo_wait() {
	local deadline=$((SECONDS + ACCOUNTED_S)) id which=(--name=demo)
	[ $# -eq 0 ] || which=(-j "$1")
	while [ "$SECONDS" -lt "$deadline" ]; do
		id=$(demo_client sacct -n -X -P "${which[@]}" -o jobid,end | sed -n 's/|[0-9].*//p' | tail -n 1)
		if [ -n "$id" ]; then
			echo "$id"
			return 0
		fi
		sleep 0.2
	done
	die "sacct did not show the job's end within $ACCOUNTED_S s"
}

# ---- a shell

# cluster_command [N] [-- CMD [ARG]...]
cluster_command() {
	local nodes=2 rc=0
	if [[ ${1:-} =~ ^[0-9]+$ ]]; then
		nodes=$1
		shift
	fi
	[[ $nodes = [1-8] ]] || wrong "cluster of $nodes nodes (want 1 to 8)" cluster
	if [ $# -gt 0 ]; then
		[ "$1" = -- ] || wrong "cluster takes no '$1' (a command goes behind --)" cluster
		shift
		[ $# -gt 0 ] || wrong "cluster: no command after --" cluster
	fi
	begin_cluster cluster
	cluster_with_plugin "$nodes"
	if [ $# -eq 0 ]; then
		say_what_to_type "$nodes"
		set -- bash --rcfile "$NT_CLUSTER/work/.rc" -i
	fi
	PATH=$stage/bin:$stage/libexec/nccl-tune/tests:$PATH:/usr/sbin "$cluster" exec -u "$TEST_USER" "$@" || rc=$?
	say "the cluster ends"
	bounded "$CLUSTER_S" "the cluster's end" "$cluster" down
	return "$rc"
}

say_what_to_type() {
	local nodes=$(($1 < 2 ? $1 : 2))
	echo "PS1='(cluster of $1) \\$ '" >"$NT_CLUSTER/work/.rc"
	cat <<-END

	You are $TEST_USER in a cluster of $1 nodes, n1 to n$1, with the plugin of $stage. To begin with:

	  srun -N$nodes --ntasks-per-node=$((8 / nodes)) --mpi=pmix --nccl-tune=bandit ${DEMO_PROGRAM[*]}
	  sacct -X -o jobid,jobname,state,admincomment%200
	  nccl-tune report "\$(sacct -n -X -P -o jobid | tail -n 1)"

	As root, from another terminal (logs, kill n2, start n2, plugstack LINE; tests/lib/cluster lists them):

	  NT_CLUSTER=$NT_CLUSTER $cluster logs

	exit ends the cluster and removes all of it.

	END
}
