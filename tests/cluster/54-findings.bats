#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# What is wrong with a job's set-up, from real jobs: in accounting and in the report, for all nodes; nothing of jobs that
# are set up well. tests/unit/record/findings.c has the rules, tests/unit/tuner/facts.c how facts are read.
bats_require_minimum_version 1.5.0
load ../lib/cluster

setup_file() {
	cluster_setup
	unset NCCL_TUNE_RECORD_DIR
	export FILE=$NT_BASE/nccl-tune.conf TUNE=$NT_STAGE/bin/nccl-tune
	cat >"$NT_BASE/view" <<-'END'
		#!/bin/bash
		# view DIR COMMAND...: in a mount namespace of its own
		cd "$1" || exit
		for pair in class:/sys/class module:/sys/module driver:/proc/driver; do
			[ ! -d "${pair%%:*}" ] || mount --bind "${pair%%:*}" "${pair#*:}" || exit
		done
		if [ -d dev ]; then
			at=$(mktemp -d) && mount -t tmpfs none "$at" && mkdir "$at/shm" && touch "$at/null" && cp -r dev/. "$at" &&
				mount --bind /dev/null "$at/null" && mount --rbind /dev/shm "$at/shm" && mount --rbind "$at" /dev || exit
		fi
		cd / && exec "${@:2}"
	END
	chmod 755 "$NT_BASE/view"
	cluster_start 2 -p "$(nt_plugstack_line "conf=$FILE")"
}

setup() {
	printf "[site]\n" >"$FILE"
}

teardown_file() {
	wait_for 20 no_helpers
	cluster_check_and_stop
}

# job NODES TASKS-PER-NODE SCRIPT [srun-option]...
job() {
	observed_job "$@" --
}

# In accounting
codes() {
	sacct_field "$job" admincomment | jq -r '[.nccl_tune["0"].findings // [] | .[] | split(":")[0]] | join(" ")'
}

# The sentence there
says() {
	sacct_field "$job" admincomment | jq -r '.nccl_tune.says'
}

@test "of a job that is set up well nothing is said; its ranks have told their set-up" {
	job 2 2 :
	[ "$(codes)" = "" ]
	[[ $(says) != *set-up* ]]
	job_report
	[[ $output != *"Set-up"* ]]
	job_report --findings
	[ "$output" = "Job $job Nothing was found. " ]
	job_report --json
	jq -e '.jobs[0].steps[0] | has("findings") | not' <<<"$output"
}

@test "a variable that one rank of the second node has is named, with the rank, in accounting, too" {
	job 2 2 '[ "$SLURM_PROCID" != 3 ] || export NCCL_NVLS_ENABLE=0'
	[ "$(codes)" = differs ]
	[[ $(says) = *"set-up: differs (n2)" ]]
	job_report
	[[ $output = *"Set-up: NCCL_NVLS_ENABLE is 0 on rank 3 (n2), and not set on 3 others. -> Start all ranks alike: "* ]]
	job_report --json
	jq -e '.jobs[0].steps[0].findings == [{"code":"differs","node":"n2","text":"differs:n2:NCCL_NVLS_ENABLE is 0:rank 3 (n2):not set on 3 others",
		"certain":true,"says":"NCCL_NVLS_ENABLE is 0 on rank 3 (n2), and not set on 3 others.","advice":.jobs[0].steps[0].findings[0].advice}]' \
		<<<"$output"
	run -0 "$TUNE" summary --findings --since now-1hours
	[[ $output = *$'\ndiffers, n2: 1 job of 1 user, '*"NCCL_NVLS_ENABLE is 0 on rank 3 (n2)"* ]]
	job_report --prometheus
	[[ $output = *'nccl_tune_finding{'*'code="differs",node="n2"} 1'* ]]
}

@test "a variable that was left over is named; the site may not want to hear of it" {
	job 1 2 'export NCCL_P2P_DISABLE=1'
	[ "$(codes)" = left ]
	[[ $(says) = *"set-up: left" ]]
	job_report
	[[ $output = *"Set-up, probably: NCCL_P2P_DISABLE=1 is set in the job or its image: GPUs of a node cannot use NVLink or PCIe. -> Unset NCCL_P2P_DISABLE, unless it is known to be needed here."* ]]
	printf '[site]\nfindings = all -left\n' >"$FILE"
	job_report
	[[ $output != *"Set-up"* ]]
	job 2 1 'export NCCL_BUFFSIZE=4096'
	[ "$(codes)" = "" ]
	[[ $(says) != *set-up* ]]
}

@test "where the site wants no findings, processes do not read how they are set up" {
	local records
	printf '[site]\nfindings = none\n' >"$FILE"
	job 1 2 'export NCCL_BUFFSIZE=4096'
	[ "$(codes)" = "" ]
	records=$(sacct_field "$job" admincomment | jq -r '.nccl_tune["0"].long')
	[ "$(zcat "$records"/*.gz | grep -c '^{"rank":')" = 2 ]
	[ "$(zcat "$records"/*.gz | grep -c '"facts"')" = 0 ]
}

@test "a rank with one of the job's processors is named, with what to type" {
	[ "$(nproc)" -ge 2 ] || skip "needs two processors"
	job 2 1 'taskset -cp 0 $$ >/dev/null' -c2
	[ "$(codes)" = cpus ]
	job_report --findings
	[[ $output = *"Set-up, probably: A rank on n1 and 1 more node has 1 processor, of the "*" that the job has there: "*"srun --cpus-per-task=2."* ]]
	# The job has no other there.
	job 2 1 'taskset -cp 0 $$ >/dev/null' -c1
	[ "$(codes)" = "" ]
}

@test "all findings are in the page's data, three of them behind the headline" {
	job 1 2 'export NCCL_P2P_DISABLE=1 NCCL_SHM_DISABLE=1 NCCL_BUFFSIZE=4096 CUDA_LAUNCH_BLOCKING=1'
	job_report
	[ "$(grep -o "Set-up, probably" <<<"$output" | wc -l)" = 3 ]
	[[ $output = *"1 more finding: nccl-tune report --findings"* ]]
	job_report --findings
	[ "$(grep -o "Set-up, probably" <<<"$output" | wc -l)" = 4 ]
	run -0 as_user "$TUNE" report --html=- "$job"
	[[ $output = *"CUDA_LAUNCH_BLOCKING is set"* ]]
}

need_namespaces() {
	setpriv --reuid "$NT_USER" --regid "$(id -g "$NT_USER")" --clear-groups unshare --map-root-user --mount true 2>/dev/null ||
		skip "no namespaces for users here"
}

# in_view VIEW: for job's SCRIPT: the program sees $NT_BASE/VIEW/class as /sys/class, /module as /sys/module, /driver as
# /proc/driver and its files of /dev
in_view() {
	printf 'set -- unshare --map-root-user --mount "%s" "%s/%s" "$@"' "$NT_BASE/view" "$NT_BASE" "$1"
}

# port NODE DEVICE STATE: of a node's view
port() {
	local port=$NT_BASE/view$1/class/infiniband/$2/ports/1
	mkdir -p "$port"
	echo "$3" >"$port/state"
	echo "400 Gb/sec (4X NDR)" >"$port/rate"
	echo InfiniBand >"$port/link_layer"
}

@test "sockets although all nodes have an active port, and a port that is down on one of them" {
	need_namespaces
	local node
	for node in 0 1; do
		port $node mlx5_0 '4: ACTIVE'
		port $node mlx5_1 '4: ACTIVE'
	done
	port 1 mlx5_1 '1: DOWN'
	job 2 1 "$(in_view 'view$SLURM_NODEID')"
	job_report
	[[ $output = *"Set-up: On n2 port mlx5_1/1 is DOWN; ACTIVE on 1 other. -> Run without that node (srun --exclude=n2), and tell an administrator. "* ]]
	[[ $output = *"Set-up, probably: NCCL sends between nodes over TCP sockets, although RDMA ports are active on all nodes (mlx5_0/1, 400 Gbit/s). -> "* ]]
	# One of its own is enough for a job on one node.
	job 1 2 "$(in_view view1)"
	job_report
	[[ $output != *"Set-up"* ]]
}

# rdma NODE [MODULE]: a view of a node with InfiniBand that NCCL uses, and NVIDIA's driver
rdma() {
	port "$1" mlx5_0 '4: ACTIVE'
	mkdir -p "$NT_BASE/view$1"/{dev/infiniband,module${2:+/$2},driver/nvidia}
	touch "$NT_BASE/view$1/dev/infiniband/uverbs0"
	echo 'NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14' >"$NT_BASE/view$1/driver/nvidia/version"
}

@test "GPUDirect that is off on one node, and data that root sees to pass through the processor" {
	need_namespaces
	local facts
	rm -rf "$NT_BASE"/view[01]
	echo "rundir = $NT_CLUSTER/run/nccl-tune" >>"$FILE"
	rdma 0 nvidia_peermem
	rdma 1
	job 2 1 "$(in_view 'view$SLURM_NODEID')"
	job_report --findings
	[[ $output = *"Data between GPUs and RDMA ports passes through host memory on n2: nvidia_peermem is not loaded, and not on the others. -> An administrator can change it: modprobe nvidia_peermem, or NVIDIA's open kernel modules."* ]]
	rdma 1 nvidia_peermem
	job 2 1 "$(in_view 'view$SLURM_NODEID')"
	job_report --findings
	[[ $output != *"GPUs and RDMA ports"* ]]
	# The facts are of slurmd's start: none here, where there are no GPUs. A user's own are not taken.
	facts=$(echo "$NT_CLUSTER"/run/nccl-tune/facts.*)
	[ -e "$facts" ]
	NCCL_TUNE_NODE='gpus=8 acs=0000:66:01.0' job 2 1 "$(in_view 'view$SLURM_NODEID')"
	job_report --findings
	[[ $output != *"GPUs and RDMA ports"* ]]
	echo 'gpus=8 iommu=off acs=0000:17:01.0+4' >"$facts"
	NCCL_TUNE_NODE='gpus=8 acs=0000:66:01.0' job 2 1 "$(in_view 'view$SLURM_NODEID')"
	job_report --findings
	: >"$facts"
	[[ $output = *"passes through the processor on n1 and 1 more node: PCIe ACS is on at 0000:17:01.0 and others, in all 4. -> "* ]]
}

@test "GPUs that cgroups hide from each other's ranks" {
	need_namespaces
	rm -rf "$NT_BASE"/gpu[01] "$NT_BASE/gpus"
	mkdir -p "$NT_BASE"/gpu{0,1}/dev "$NT_BASE/gpus/dev"
	touch "$NT_BASE/gpu0/dev/nvidia0" "$NT_BASE/gpu1/dev/nvidia1" "$NT_BASE"/gpus/dev/nvidia{0,1}
	job 1 2 "$(in_view 'gpu$SLURM_LOCALID')"
	[ "$(codes)" = gpus ]
	job_report
	[[ $output = *"Set-up, probably: Each of 2 ranks on n1 may open only 1 of the 2 GPUs that they have, "*"srun --gpus-per-node=2 --gpu-bind=none"* ]]
	# Each takes its own of what it sees.
	job 1 2 'export CUDA_VISIBLE_DEVICES=$SLURM_LOCALID; '"$(in_view gpus)"
	[ "$(codes)" = "" ]
	# Two instances of one GPU
	job 1 2 "$(in_view gpu0)"
	[ "$(codes)" = "" ]
}

@test "limits that are too low, and an interface that is not there" {
	job 1 4 'ulimit -n 120'
	[ "$(codes)" = limits ]
	job_report
	[[ $output = *"Set-up, probably: 4 ranks on n1 may have only 120 files open; NCCL has many connections. -> "* ]]
	job 1 4 'ulimit -n 1024'
	[ "$(codes)" = "" ]
	job 2 1 'export NCCL_SOCKET_IFNAME=none7'
	job_report
	[[ $output = *"Set-up, probably: NCCL_SOCKET_IFNAME=none7 names no interface that has an address there. -> "* ]]
	job 2 1 'export NCCL_SOCKET_IFNAME=^none7,lo'
	job_report
	[[ $output != *Set-up* ]] || ! ip -4 -br addr | grep -qv '^lo '
}

# are_up PID: both links of a network namespace; the kernel says so up to a second later
are_up() {
	[ "$(nsenter -t "$1" -n ip -br link | grep -c ' UP ')" = 2 ]
}

# join_nodes: two links between the tasks of a job in a network namespace each, once these are there: the names differ
join_nodes() {
	local pid=() node net=0 link
	for node in 0 1; do
		wait_for 60 test -s "$NT_BASE/net/pid$node" || return 1
		pid[node]=$(<"$NT_BASE/net/pid$node")
	done
	for link in "eth0 eno1" "eth1 enp3s0"; do
		net=$((net + 1))
		ip link add "${link% *}" netns "${pid[0]}" type veth peer name "${link#* }" netns "${pid[1]}"
		for node in 0 1; do
			nsenter -t "${pid[node]}" -n ip addr add "10.77.$net.$((node + 1))/24" dev "$([ $node = 0 ] && echo "${link% *}" || echo "${link#* }")"
			nsenter -t "${pid[node]}" -n ip link set "$([ $node = 0 ] && echo "${link% *}" || echo "${link#* }")" up
		done
	done
	wait_for 20 are_up "${pid[0]}" && wait_for 20 are_up "${pid[1]}" || return 1
	touch "$NT_BASE/net/ready"
}

# linked NET: a job of two nodes, whose ranks are connected by that network, of IPv4 addresses 10.77.NET.0/24
linked() {
	local joiner
	rm -rf "$NT_BASE/net"
	install -d -o "$NT_USER" "$NT_BASE/net"
	join_nodes &
	joiner=$!
	job 2 1 "export NT_NET=$1; set -- unshare --map-root-user --mount --net '$NT_BASE/view' '$NT_BASE/link'\$SLURM_NODEID '$NT_BASE/connect' \"\$@\""
	wait "$joiner"
}

@test "sockets over a link of a hundredth of the speed of another one, which has other names on each node" {
	local link
	need_namespaces
	command -v socat >/dev/null || skip "no socat"
	for link in link0/eth0=1000 link0/eth1=100000 link1/eno1=1000 link1/enp3s0=100000; do
		mkdir -p "$NT_BASE/${link%/*}/class/net/$(basename "${link%=*}")"
		echo "${link#*=}" >"$NT_BASE/${link%/*}/class/net/$(basename "${link%=*}")/speed"
	done
	cat >"$NT_BASE/connect" <<-'END'
		#!/bin/bash
		# connect COMMAND...: with a connection to the other node, as NCCL has them
		base=$(dirname "$0")/net
		echo $$ >"$base/pid$SLURM_NODEID"
		until [ -e "$base/ready" ]; do sleep 0.1; done
		timeout 60 socat TCP-LISTEN:7000 PIPE &
		until { exec 7<>"/dev/tcp/10.77.$NT_NET.$((2 - SLURM_NODEID))/7000"; } 2>/dev/null; do sleep 0.1; done
		exec "$@"
	END
	chmod 755 "$NT_BASE/connect"
	linked 1
	[ "$(codes)" = interface ]
	[[ $(says) = *"set-up: interface" ]]
	job_report
	[[ $output = *"NCCL sends between nodes over eth0 with 1000 Mbit/s, although all nodes also have eth1,enp3s0 with 100000. -> Name one by which the nodes reach each other: export NCCL_SOCKET_IFNAME=eth1,enp3s0. "* ]]
	linked 2
	[ "$(codes)" = "" ]
	job_report
	[[ $output != *Set-up* ]]
}

# run_with NCCL COMPUTE-US: of one program, remembered; its job is in $job
run_with() {
	run -0 --separate-stderr as_user srun -N2 --ntasks-per-node=1 -t 20 --nccl-tune=observe,launch=default bash -c \
		'[ "$SLURM_PROCID" != 0 ] || echo "$SLURM_JOB_ID" >&2; exec "$@" >/dev/null' - "$NT_TESTS/nt-fake-nccl" \
		--nccl "$1" --sizes 1M --iters 600 --noise lognormal:0.03 --compute-us "$2"
	job=$(grep -m1 -xE '[0-9]+' <<<"$stderr")
	wait_record "$job"
	wait_for 60 no_helpers
}

@test "on two nodes that only measure, steps that are slower with another NCCL than with the last one are told, with the day; not steps that are as fast" {
	export NCCL_TUNE_MEMORY=$NT_BASE/user/memory # with the long form beside it
	install -d -o "$NT_USER" "$NT_BASE/user"
	for _ in 1 2 3 4; do run_with 2.27.7 1000; done
	for _ in 1 2 3 4; do run_with 2.28.9 1000; done
	[ "$(codes)" = "" ]
	for _ in 1 2 3 4; do run_with 2.29.7 3000; done
	[ "$(codes)" = slower ]
	[[ $(says) = *"; set-up: slower" ]]
	job_report
	[[ $output = *"Set-up, probably: The program is 1"[0-9][0-9]" % slower than with NCCL 2.28.9 on $(date +%F) (job "*"). -> "* ]]
}
