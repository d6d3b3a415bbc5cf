#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# Logs between nodes over the PMIx that a step of Slurm really has.
# shellcheck disable=SC2088 # what bats sets; a tilde that is printed
bats_require_minimum_version 1.5.0
load ../lib/cluster

setup_file() {
	cluster_setup
	cluster_start 4 -n
	need_pmix
}

@test "every node reads every other node's log completely and in order" {
	for _ in 1 2 3; do
		run -0 as_user srun -N4 -n8 --ntasks-per-node=2 --mpi=pmix "$NT_TESTS/nt-log-peer" 20
		[ "$(grep -c '"complete":true' <<<"$output")" = 4 ]
	done
}

@test "one task per node, and nodes with different numbers of tasks" {
	run -0 as_user srun -N3 -n3 --ntasks-per-node=1 --mpi=pmix "$NT_TESTS/nt-log-peer" 5
	[ "$(grep -c '"complete":true' <<<"$output")" = 3 ]
	run -0 as_user srun -N2 -n5 --mpi=pmix "$NT_TESTS/nt-log-peer" 5
	[ "$(grep -c '"complete":true' <<<"$output")" = 2 ]
}

@test "a node that writes no log delays no other, not even at the end" {
	run -0 as_user srun -N4 -n8 --ntasks-per-node=2 --mpi=pmix "$NT_TESTS/nt-log-peer" 20 2
	[ "$(grep -c '"complete":true' <<<"$output")" = 3 ]
}

@test "without PMIx the reason says so, with the command to type" {
	run ! as_user srun -N2 -n2 --mpi=none "$NT_TESTS/nt-log-peer" 1
	[[ $output = *'{"error":"nopmix"}'* ]]
	grep -q '^. Its ranks are on several nodes.*without PMIx.*--mpi=pmix' "$NT_TOP/docs/trouble.md"
}

# peer SHELL: what a task says that SHELL was run in before; all of its standard error is in there.
peer() {
	output=$(as_user srun -N1 -n1 --mpi=pmix bash -c "$1; exec $NT_TESTS/nt-log-peer 1 2>&1" 2>&1 || true)
	[[ $output = *'"complete":true'* || $output = *'"error":'* ]] || { echo "$1: $output"; return 1; }
}

# refused REASON SHELL: it stays away from PMIx, and says that alone; srun says that a task has failed.
refused() {
	peer "$2"
	[ "$(grep -v '^srun: ' <<<"$output")" = "{\"error\":\"$1\"}" ] || { echo "$2: $output"; return 1; }
}

@test "PMIx is not started if it would print, hang or fail" {
	local dir=$NT_CLUSTER/pmix value
	for value in psec=none psec=munge psec=foo gds=ds12 gds=foo ptl=usock bfrops=foo psquash=foo \
		mca_base_component_path=/nonexistent ptl_base_verbose=10; do
		refused "pmixunsafe:PMIX_MCA_$value" "export PMIX_MCA_$value"
	done
	refused 'pmixunsafe:PMIX_DEBUG=5' 'export PMIX_DEBUG=5'
	for value in RANK=7 RANK=x NAMESPACE= SECURITY_MODE=foo SERVER_URI41=foo 'SERVER_URI2=a.1;tcp4://host:1'; do
		refused "pmixaltered:PMIX_$value" "export 'PMIX_$value'"
	done
	refused 'pmixaltered:PMIX_SERVER_URI (unset)' 'unset ${!PMIX_SERVER_URI*}'
	refused pmixstore 'export PMIX_DSTORE_ESH_BASE_PATH=/nonexistent'
	install -d -m 777 "$dir" "$dir/.pmix" "$dir/gone"
	refused pmixcwd "cd $dir/gone; rmdir $dir/gone"
	echo psec=none >"$dir/.pmix/mca-params.conf"
	refused 'pmixunsafe:~/.pmix/mca-params.conf' "export HOME=$dir"
	rm "$dir/.pmix/mca-params.conf"
	mkfifo "$dir/.pmix/mca-params.conf"
	refused 'pmixunsafe:~/.pmix/mca-params.conf' "export HOME=$dir"
}

@test "PMIx is used with harmless settings, and a missing server is reported" {
	local value
	for value in gds=hash gds=^ds21,ds12 psec=native psec=^munge pcompress_base_silence_warning=1; do
		peer "export PMIX_MCA_$value"
		[[ $output = '{"node":'*'"complete":true}' ]]
	done
	peer "export PMIX_SERVER_URI41='a.1;tcp4://127.0.0.1:1'"
	grep -q '^{"error":"pmix:UNREACHABLE"}' <<<"$output" || { echo "$output"; false; }
}
