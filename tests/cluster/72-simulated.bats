#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# A program of NCCL's own interface under srun, on the simulated libraries, with the plugin.
bats_require_minimum_version 1.5.0
load ../lib/cluster

setup_file() {
	cluster_start_tuned 2
	export LD_LIBRARY_PATH=$NT_TESTS/simulated MEET=$NT_BASE/meet
	mkdir -m 1777 "$MEET"
}

teardown_file() {
	cluster_check_and_stop
}

bench() {
	run --separate-stderr as_user env LD_LIBRARY_PATH="$NT_TESTS/simulated" "$@" srun -N2 --ntasks-per-node=2 -t 20 --mpi=pmix \
		--nccl-tune=bandit "$NT_STAGE/bin/nccl-tune-bench" --rendezvous "$MEET" --sizes 64K,1M --iters 40 --check 10
}

@test "nccl-tune-bench runs on the simulated libraries, with right results and a record" {
	bench
	[ "$status" = 0 ] || { printf '%s\n' "$output" "$stderr" >&2; false; }
	[[ $output$stderr = *"simulated GPU"* && $stderr = *"simulated NCCL: times are made up"* ]]
	wait_record 1
	run -0 sacct_field 1 AdminComment
	jq -e '.nccl_tune["0"] | .nccl == "2.28.9" and .ranks == 4 and .nodes == 2' <<<"$output"
}

@test "its check detects a wrong result" {
	bench NT_SIM_WRONG='2|any|any'
	[ "$status" != 0 ]
	[[ $stderr = *wrong* ]]
}

# launcher REMOVED [driver]: a job whose step has one task a node, which removes variables and starts two ranks each, as a
# launcher does; and what its report says. driver: with the environment of another step, of one node, which the job's
# second node has not got the directory of (NeMo-RL's ray.sub, whose driver is Ray's).
launcher() {
	local meet=$MEET/${1//[^A-Z]/}${2:-}
	install -d -m 777 "$meet"
	cat >"$meet/worker" <<-'END'
	#!/bin/bash
	node=$SLURMD_NODENAME first=$((2 * SLURM_PROCID))
	for name in $(compgen -e | grep -E "^($2)"); do unset "$name"; done
	until [ -e "$1/env" ]; do sleep 0.1; done
	while IFS= read -r -d '' variable; do export "${variable?}"; done <"$1/env"
	export SLURMD_NODENAME=$node
	if [ -s "$1/env" ] && [ "$first" != 0 ]; then
		NCCL_TUNE_POLICY=${NCCL_TUNE_POLICY%,shm=*}
	fi
	for i in 0 1; do
		"$3" --rank $((first + i)) --ranks 4 --local-rank $i --nodes 2 --sizes 64K --iters 6000 --rendezvous "$1" &
	done
	wait
	END
	cat >"$meet/job" <<-'END'
	#!/bin/bash
	srun -N2 --ntasks-per-node=1 --mpi=pmix --nccl-tune=bandit --overlap "$1/worker" "$@" &
	if [ "$4" = driver ]; then
		srun -N1 -n1 --overlap --mpi=pmix --nccl-tune=bandit bash -c \
			'env -0 >"$1/new"; mv "$1/new" "$1/env"; until [ -e "$1/done" ]; do sleep 0.2; done' - "$1" &
	else
		: >"$1/env"
	fi
	wait %1
	touch "$1/done"
	wait
	echo "$SLURM_JOB_ID" >"$1/id"
	END
	chmod 755 "$meet"/{worker,job}
	run -0 as_user env LD_LIBRARY_PATH="$NT_TESTS/simulated" salloc -Q -N2 --ntasks-per-node=1 -t 20 \
		"$meet/job" "$meet" "$1" "$NT_STAGE/bin/nccl-tune-bench" "${2:-}"
	run -0 cat "$meet/id"
	wait_record "$output"
	run -0 as_user "$NT_STAGE/bin/nccl-tune" report "$output"
	output=$(tr -s ' \n' ' ' <<<"$output")
}

@test "a program that removes PMIx's variables, or gives its ranks another step's, is told so" {
	launcher 'PMIX_'
	[[ $output = *"cannot reach each other: the program removed PMIx's variables."* ]]
	launcher 'SLURM_|PMIX_|PMI_|OMPI_'
	[[ $output = *"cannot reach each other: the program removed PMIx's variables."* ]]
	launcher 'SLURM_|PMIX_|PMI_|OMPI_' driver
	[[ $output = *"or the program removed PMIx's variables and gave them those of another step."* ]]
}
