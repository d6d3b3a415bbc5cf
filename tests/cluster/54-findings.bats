#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# What is wrong with a job's set-up, from real jobs: in accounting for the first node, in the report for all; nothing of jobs
# that are set up well. tests/unit/record/findings.c has the rules, tests/unit/tuner/facts.c how facts are read.
bats_require_minimum_version 1.5.0
load ../lib/cluster

setup_file() {
	cluster_setup
	unset NCCL_TUNE_RECORD_DIR
	export FILE=$NT_BASE/nccl-tune.conf TUNE=$NT_STAGE/bin/nccl-tune
	cluster_start 2 -p "$(nt_plugstack_line "conf=$FILE")"
}

setup() {
	printf "[site]\n" >"$FILE"
}

teardown_file() {
	wait_for 20 no_helpers
	cluster_check_and_stop
}

# job NODES TASKS-PER-NODE SCRIPT [srun-option]...: calls of a program that each task's shell starts after SCRIPT; its id is in $job.
job() {
	run -0 --separate-stderr as_user srun -N"$1" --ntasks-per-node="$2" -t 20 --nccl-tune=observe "${@:4}" bash -c \
		'[ "$SLURM_PROCID" != 0 ] || echo "$SLURM_JOB_ID" >&2; '"$3"'; exec "$@" >/dev/null' - "$NT_TESTS/nt-fake-nccl" \
		--sizes 1M --iters 120 --noise lognormal:0.03
	job=$(grep -m1 -xE '[0-9]+' <<<"$stderr")
	wait_record "$job"
	wait_for 60 no_helpers
}

# In accounting
codes() {
	sacct_field "$job" admincomment | jq -r '[.nccl_tune["0"].findings // [] | .[] | split(":")[0]] | join(" ")'
}

# The report in one line.
report() {
	run -0 as_user "$TUNE" report "$@" "$job"
	[[ " $* " = *" --json "* || " $* " = *" --prometheus "* ]] || output=$(tr -s ' \n' ' ' <<<"$output")
}

@test "of a job that is set up well nothing is said; its ranks have told their set-up" {
	job 2 2 :
	[ "$(codes)" = "" ]
	report
	[[ $output != *"Set-up"* ]]
	report --findings
	[ "$output" = "Job $job Nothing was found. " ]
	report --json
	jq -e '.jobs[0].steps[0] | has("findings") | not' <<<"$output"
}

@test "a variable that one rank has is named, with the rank, in the report alone: the first node does not know" {
	job 2 2 '[ "$SLURM_PROCID" != 3 ] || export NCCL_NVLS_ENABLE=0'
	[ "$(codes)" = "" ]
	report
	[[ $output = *"Set-up: NCCL_NVLS_ENABLE is 0 on rank 3 (n2), and not set on 3 others. -> Start all ranks alike: "* ]]
	report --json
	jq -e '.jobs[0].steps[0].findings == [{"code":"differs","node":"n2","text":"differs:n2:NCCL_NVLS_ENABLE is 0:rank 3 (n2):not set on 3 others",
		"certain":true,"says":"NCCL_NVLS_ENABLE is 0 on rank 3 (n2), and not set on 3 others.","advice":.jobs[0].steps[0].findings[0].advice}]' \
		<<<"$output"
	run -0 "$TUNE" summary --findings --since now-1hours
	[[ $output = *$'\ndiffers, n2: 1 job of 1 user, '*"NCCL_NVLS_ENABLE is 0 on rank 3 (n2)"* ]]
	report --prometheus
	[[ $output = *'nccl_tune_finding{'*'code="differs",node="n2"} 1'* ]]
}

@test "a variable that was left over is named; the site may not want to hear of it" {
	job 1 2 'export NCCL_P2P_DISABLE=1'
	[ "$(codes)" = left ]
	report
	[[ $output = *"Set-up, probably: NCCL_P2P_DISABLE=1 is set in the job or its image: GPUs of a node cannot use NVLink or PCIe. -> Unset NCCL_P2P_DISABLE, unless it is known to be needed here."* ]]
	printf '[site]\nfindings = all -left\n' >"$FILE"
	report
	[[ $output != *"Set-up"* ]]
}

@test "a rank with one of the job's processors is named, with what to type" {
	[ "$(nproc)" -ge 2 ] || skip "needs two processors"
	job 2 1 'taskset -cp 0 $$ >/dev/null' -c2
	[ "$(codes)" = cpus ]
	report --findings
	[[ $output = *"Set-up, probably: A rank on n1 and 1 more node has 1 processor, of the "*" that the job has there: "*"srun --cpus-per-task=2."* ]]
	# The job has no other there.
	job 2 1 'taskset -cp 0 $$ >/dev/null' -c1
	[ "$(codes)" = "" ]
}

@test "all findings are in the page's data, three of them behind the headline" {
	job 1 2 'export NCCL_P2P_DISABLE=1 NCCL_SHM_DISABLE=1 NCCL_BUFFSIZE=4096 CUDA_LAUNCH_BLOCKING=1'
	report
	[ "$(grep -o "Set-up, probably" <<<"$output" | wc -l)" = 3 ]
	[[ $output = *"1 more finding: nccl-tune report --findings"* ]]
	report --findings
	[ "$(grep -o "Set-up, probably" <<<"$output" | wc -l)" = 4 ]
	run -0 as_user "$TUNE" report --html=- "$job"
	[[ $output = *"CUDA_LAUNCH_BLOCKING is set"* ]]
}

# port NODE DEVICE STATE: of a node's tree that stands for /sys/class
port() {
	local port=$NT_BASE/class$1/infiniband/$2/ports/1
	mkdir -p "$port"
	echo "$3" >"$port/state"
	echo "400 Gb/sec (4X NDR)" >"$port/rate"
	echo InfiniBand >"$port/link_layer"
	chmod -R a+rX "$NT_BASE/class$1"
}

@test "sockets although all nodes have an active port, and a port that is down on one of them" {
	setpriv --reuid "$NT_USER" --regid "$(id -g "$NT_USER")" --clear-groups unshare --map-root-user --mount true 2>/dev/null ||
		skip "no namespaces for users here"
	local node
	for node in 0 1; do
		port $node mlx5_0 '4: ACTIVE'
		port $node mlx5_1 '4: ACTIVE'
	done
	port 1 mlx5_1 '1: DOWN'
	job 2 1 'set -- unshare --map-root-user --mount bash -c "mount --bind \"'"$NT_BASE"'/class\$SLURM_NODEID\" /sys/class; exec \"\$@\"" - "$@"'
	report
	[[ $output = *"Set-up: On n2 port mlx5_1/1 is DOWN; it is active on 1 other node. -> Run without that node (srun --exclude=n2), and tell an administrator. "* ]]
	[[ $output = *"Set-up, probably: NCCL sends between nodes over TCP sockets, although RDMA ports are active on all nodes (mlx5_0/1, 400 Gbit/s). -> "* ]]
	# One of its own is enough for a job on one node.
	job 1 2 'set -- unshare --map-root-user --mount bash -c "mount --bind \"'"$NT_BASE"'/class1\" /sys/class; exec \"\$@\"" - "$@"'
	report
	[[ $output != *"Set-up"* ]]
}
