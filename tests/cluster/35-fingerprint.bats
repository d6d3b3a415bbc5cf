#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# The hardware's fingerprint from sysfs to the report: what check-config prints is what jobs get, and ranks that
# differ in hardware, NCCL or settings stay on AUTO and are named.
#
bats_require_minimum_version 1.5.0
load ../lib/cluster

setup_file() {
	cluster_setup
	cluster_start 2 -p "$(nt_plugstack_line)"
}

setup() {
	out=$BATS_TEST_TMPDIR/out
	err=$BATS_TEST_TMPDIR/err
	rundir=$NT_CLUSTER/run/nccl-tune
}

# Of this machine, which both nodes are.
check() {
	as_user "$NT_STAGE/bin/nccl-tune" check-config
}

value() {
	sed -n 's/^checked hardware \([0-9a-f]*\): .*/\1/p'
}

# What a job's policy string carries, once for each node.
of_a_job() {
	as_user srun -N2 -t 20 --nccl-tune=observe bash -c 'echo "$NCCL_TUNE_POLICY"' |
		sed -n 's/.*,fingerprint=\([0-9a-f]*\),.*/\1/p'
}

# job CMD...: two nodes of two ranks, each running CMD before the program it is given; sets job and report.
job() {
	need_pmix
	as_user srun -N2 --ntasks-per-node=2 -t 20 --mpi=pmix --nccl-tune=bandit bash -c \
		'[ "$SLURM_PROCID" != 0 ] || echo "$SLURM_JOB_ID" >&2; nccl=2.30.7; '"$1"'; exec "$@" --nccl "$nccl"' - \
		"$NT_TESTS/nt-fake-nccl" --arm RING/SIMPLE=0.4 --sizes 256K --iters 2000 --more 120000 --settled --call-gap-us 100 \
		>"$out" 2>"$err" || { cat "$err"; return 1; }
	jq -e '.mismatches == 0' "$out" >/dev/null || { cat "$out" "$err"; return 1; }
	job=$(grep -m1 -xE '[0-9]+' "$err")
	wait_record "$job"
	report=$(as_user "$NT_STAGE/bin/nccl-tune" report "$job") || return 1
}

overridden() {
	jq '[.keys[].overridden] | add' "$out"
}

# untuned TEXT SAYS ADVICE: no call was changed; the record and the report say why, and the report what to do.
untuned() {
	[ "$(overridden)" = 0 ] || { cat "$out"; return 1; }
	sacct_field "$job" admincomment | jq -e --arg text "$1" '.nccl_tune["0"].why | any(contains($text))' ||
		{ sacct_field "$job" admincomment; return 1; }
	[[ $(tr -s ' \n' ' ' <<<"$report") = *"Not tuned"*": $2"*" -> "*"$3"* ]] || { echo "$report"; return 1; }
}

# device DIR ADDRESS CLASS VENDOR:DEVICE [BUSES]: what sysfs has of a device of NUMA node 0; BUSES, as 1112, are
# what is behind a bridge.
device() {
	local at=$1/$2 header=00 buses=0000
	mkdir -p "$at"
	[ $# -lt 5 ] || { header=01 buses=$5; }
	echo "0x${3}00" >"$at/class"
	echo "0x${4%:*}" >"$at/vendor"
	echo "0x${4#*:}" >"$at/device"
	cp /sys/devices/system/node/node0/cpumap "$at/local_cpus"
	echo 0 >"$at/numa_node"
	# The header's type is at 14, a bridge's buses at 25 and 26.
	{
		printf '\0%.0s' {1..14}
		printf '%b' "\\x$header"
		printf '\0%.0s' {1..10}
		printf '%b' "\\x${buses:0:2}\\x${buses:2:2}"
		printf '\0%.0s' {1..229}
	} >"$at/config"
}

# gpu_node DIR GPU NIC: two GPUs, one on a switch with a NIC and its virtual function, an NVSwitch, a console.
gpu_node() {
	device "$1" 0000:10:00.0 0604 10b5:8796 1112
	device "$1" 0000:11:00.0 0302 "$2"
	device "$1" 0000:12:00.0 0207 "$3"
	device "$1" 0000:12:00.1 0207 15b3:101e
	mkdir "$1/0000:12:00.1/physfn"
	device "$1" 0000:20:00.0 0302 "$2"
	device "$1" 0000:30:00.0 0680 10de:22a3
	device "$1" 0000:31:00.0 0300 1a03:2000
}

# with_devices DIR CMD...: as if the machine had them.
with_devices() {
	unshare -m bash -c 'mount --bind "$1" /sys/bus/pci/devices && shift && "$@"' - "$@"
}

@test "jobs have the fingerprint that the command prints" {
	local printed
	printed=$(check | value)
	[[ $printed = [0-9a-f]*[0-9a-f] && ${#printed} = 16 ]]
	run -0 of_a_job
	[ "$output" = "$printed"$'\n'"$printed" ]
	run -0 check
	[[ $output = *"checked hardware $printed: packages="*";numa="* && $output != *': hardware: '* ]]
}

@test "an old cache is reported, and can be renewed" {
	local printed file
	printed=$(check | value)
	file=$(echo "$rundir"/fingerprint.*)
	sed -i '1s/^................/00000000000000aa/' "$file"
	run -1 check
	[ "$(value <<<"$output")" = "$printed" ]
	[[ $output = *"nccl-tune check-config: hardware: jobs get 00000000000000aa until $file is removed"* ]]
	run -0 of_a_job
	[ "${lines[0]}" = 00000000000000aa ]
	rm "$file"
	run -0 of_a_job
	[ "${lines[0]}" = "$printed" ]
	run -0 check
	echo 'nonsense' >"$file"
	run -1 check
	[[ $output = *"hardware: $file: ${file##*/} contains no fingerprint"* ]]
	rm "$file"
	run -0 of_a_job
}

cache_agrees() {
	grep -q "^$(check | value) " "$rundir"/fingerprint.*
}

@test "with everything equal the job is tuned" {
	job true
	[ "$(overridden)" -gt 0 ] || { cat "$out" "$err"; false; }
	[[ $report != *"Not tuned"* ]]
}

@test "a node with another GPU: NCCL's choice everywhere, and the report names it" {
	local here there
	here=$(check | value)
	gpu_node "$BATS_TEST_TMPDIR/other" 10de:2335 15b3:1021
	there=$(with_devices "$BATS_TEST_TMPDIR/other" "$NT_STAGE/bin/nccl-tune" check-config | value)
	[ "$here" != "$there" ]
	# n2's slurmd is started on that machine, with a run directory of its own.
	cluster stop n2
	mkdir "$NT_CLUSTER/run/nccl-tune.n2"
	with_devices "$BATS_TEST_TMPDIR/other" bash -c 'mount --bind "$1.n2" "$1" && "$2" start n2' - \
		"$rundir" "$NT_CLUSTER_PROGRAM"
	cluster_wait
	run -0 of_a_job
	[ "$(sort <<<"$output")" = "$(sort <<<"$here"$'\n'"$there")" ]
	job true
	cluster stop n2
	cluster start n2
	cluster_wait
	untuned "hardware:2:n2:$there:$here" \
		"Rank 2 on n2 has different hardware: $there, others $here." "nccl-tune check-config"
}
