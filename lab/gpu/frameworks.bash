# shellcheck shell=bash disable=SC2034
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# Training programs started as their users start them (frameworks/): DDP and FSDP2 under torchrun, with one and with two
# ranks a task, transformers' Trainer under torchrun, Lightning and JAX by srun. Each step is a job of its own, in turn
# without the plugin, with launch=auto as the site's default, and with launch=auto on srun's command line; the first job of
# the last two begins with an empty memory, the second with what the first has left. Part of lab/gpu/run.sh;
# frameworks_summary.py reads what these runs leave.

readonly FW_PROGRAMS=(ddp fsdp lightning jax trainer trainer4 ddpx2 fsdpx2)
readonly FW_WAYS=(off observe site1 typed1 site2 typed2 cpus left differs)	# site, typed: the first job, the second
readonly FW_AUTO=bandit,channels=on,launch=auto
readonly FW_NODES=2 FW_LIMIT_S=150 FW_CALIBRATION_MOST_S=90
readonly FW_JOB_MINUTES=300		# a calibration may take 1 % of the time that the job has left
# Seconds of a step until one was seen, without and with a calibration before it.
readonly FW_STEP_S=22 FW_CALIBRATED_S=65

fw_port=21000
declare -A fw_takes=()

# fw_steps NETWORK PROGRAM
fw_steps() {
	if [ "$fw_steps" != 0 ]; then
		echo "$fw_steps"
		return
	fi
	case $1-$2 in
	*-lightning|*-jax) echo 150 ;;
	loopback-*) echo 60 ;;
	*) echo 30 ;;
	esac
}

# fw_ranks PROGRAM: in each task
fw_ranks() {
	[[ $1 = *x2 ]] && echo 2 || echo 1
}

# fw_script PROGRAM OUT STEPS: sets script, the words after python3 or torchrun.
fw_script() {
	case $1 in
	ddp*|fsdp*)
		local work=${1%x2}
		script=("$here/frameworks/train.py" "$2" "$3" "$work") ;;
	trainer) script=("$here/frameworks/hf.py" "$2" "$3") ;;
	trainer4) script=("$here/frameworks/hf.py" "$2" "$3" 4) ;;
	lightning) script=("$here/frameworks/lit.py" "$2" "$3") ;;
	jax) script=("$here/frameworks/jx.py" "$2" "$3") ;;
	esac
}

# fw_plant WAY: what is wrong with the set-up, put before command_line
fw_plant() {
	local one='exec taskset -c "$(sed -n "s/^Cpus_allowed_list:[^0-9]*\([0-9]*\).*/\1/p" /proc/self/status)" "$@"'
	local other='[ "$SLURM_PROCID" = 0 ] || export NCCL_ALGO=^CollnetDirect; exec "$@"'
	case $1 in
	cpus) command_line=(bash -c "$one" - "${command_line[@]}") ;;
	left) command_line=(env CUDA_LAUNCH_BLOCKING=1 "${command_line[@]}") ;;
	differs) command_line=(bash -c "$other" - "${command_line[@]}") ;;
	esac
}

# fw_command NETWORK PROGRAM DIR: sets command_line.
fw_command() {
	local script ranks line torchrun=torchrun
	ranks=$(fw_ranks "$2")
	command -v torchrun >/dev/null || torchrun='python3 -m torch.distributed.run'
	fw_script "$2" "$3/result.json" "$(fw_steps "$1" "$2")"
	if [ -n "$dry" ]; then
		dry_command "$([ "$1" = loopback ] && echo loopback || echo shaped)" ddp 2x1
		[ "$ranks" = 1 ] || command_line+=(--procs-per-task "$ranks")
		return
	fi
	case $2 in
	lightning|jax) command_line=(python3 "${script[@]}") ;;
	*)
		line='exec '$torchrun' --nnodes "$SLURM_NNODES" --nproc-per-node '$ranks' --rdzv-backend static --master-addr "$MASTER_ADDR" --master-port "$MASTER_PORT" --node-rank "$SLURM_NODEID"'
		command_line=(bash -c "$line$(printf ' %q' "${script[@]}")") ;;
	esac
}

# fw_state NAME WAY K: the directory of the job's memory, with what the job before has left
fw_state() {
	local state=$work/state.$1.${2%[12]}.$3 before
	before=$raw/$1.job-${2%2}1.$3
	if [[ $2 = *2 ]] && [ ! -e "$state" ] && [ -d "$before/memory" ]; then
		mkdir -p "$state/nccl-tune"
		cp -R "$before/memory" "$state/nccl-tune/"
	fi
	echo "$state"
}

# fw_step NETWORK PROGRAM WAY K: a job
fw_step() {
	local name dir topology=${FW_NODES}x1 policy=$FW_AUTO lines=$work/fw.lines ranks
	ranks=$(fw_ranks "$2")
	[ "$ranks" = 1 ] || topology+=x$ranks
	name=frameworks-$1-$2.$topology
	dir=$raw/$name.$3.$4
	case $3 in
	off|observe) policy=$3 ;;
	cpus|left|differs) policy=observe ;;
	site*) policy=site ;;
	esac
	mkdir -p "$dir"
	fw_command "$1" "$2" "$dir"
	fw_plant "$3"
	fw_port=$((fw_port + 7))
	batch_line "$dir" $((FW_LIMIT_S + FW_CALIBRATION_MOST_S)) "$policy" "${command_line[@]}" >"$lines"
	fw_place "$1" "$ranks"
	[ "$3" != cpus ] || batch_options+=(-c4)
	MASTER_ADDR=$fw_master MASTER_PORT=$fw_port NT_GPU_RANK=none batch_job "$raw/$name.job-$3.$4" "$(fw_state "$name" "$3" "$4")" "$lines" "${FW_NODES}x1" \
		$((FW_LIMIT_S + FW_CALIBRATION_MOST_S)) "$FW_JOB_MINUTES" || :
	batch_options=()
	rm -rf "$dir"/result.json.hf
	fw_report "$name" "$3" "$4"
}

# fw_place NETWORK RANKS: of each task; sets fw_master and batch_options. Nodes are hosts of one GPU, or have both by MPS.
fw_place() {
	local gpus=own:1
	[ "$2" = 1 ] || gpus=$2
	fw_master=127.0.0.1
	batch_options=()
	if [ -z "$dry" ]; then
		[ "$1" = loopback ] || fw_master=$NET_PREFIX.1
		batch_options=(--gpus-per-node="$gpus" -w n1,n2)
	fi
}

fw_report() {
	local left=$raw/$1.job-$2.$3
	[ -s "$left/id" ] && [ "$2" != off ] || return 0
	timeout 20 "$stage/bin/nccl-tune" report "$(cat "$left/id")" >"$left/report.txt" 2>&1
	timeout 20 "$stage/bin/nccl-tune" report --json "$(cat "$left/id")" >"$left/report.json" 2>/dev/null
	timeout 20 "$stage/bin/nccl-tune" report --html="$left/report.html" "$(cat "$left/id")" >/dev/null 2>&1
}

# fw_program NETWORK PROGRAM K: all ways, if there is time
fw_program() {
	local way name topology=${FW_NODES}x1 kind start
	[ "$(fw_ranks "$2")" = 1 ] || topology+=x$(fw_ranks "$2")
	fw_cards "$2" || return 0
	for way in "${fw_ways[@]}"; do
		name=frameworks-$1-$2.$topology.$way.$3
		if [ -e "$raw/$name/status" ]; then
			say "$name: there already"
			continue
		fi
		kind=$1-$2-$way
		[ -n "${fw_takes[$kind]:-}" ] || fw_takes[$kind]=$(fw_estimate "$way")
		fits "${fw_takes[$kind]}" "$fw_end" "$name" || continue
		start=$SECONDS
		fw_step "$1" "$2" "$way" "$3"
		fw_takes[$kind]=$((SECONDS - start))
		say "$name: ${fw_takes[$kind]} s, exit status and seconds of the step $(cat "$raw/$name/status" 2>/dev/null), at $SECONDS s"
	done
	write_results
}

fw_estimate() {
	case $1 in
	typed1|site2) echo "$FW_CALIBRATED_S" ;;
	*) echo "$FW_STEP_S" ;;
	esac
}

# fw_network NETWORK: false where it cannot be had
fw_network() {
	[ -z "$dry" ] || return 0
	if [ "$1" = loopback ]; then
		[ -z "$nets_made" ] || to_loopback
	else
		net_rate=$1
		if [ -n "$nets_made" ]; then
			nets_change
		else
			to_shaped
		fi
	fi
}

# Real nodes' GPUs, which Slurm gives to jobs. Simulated ones need none.
fw_gpus() {
	local files=(/dev/nvidia[01])
	[ -n "$dry" ] || grep -q '^GresTypes=' "$work/cluster/etc/slurm.conf" || slurm_gpus "${files[@]}"
}

# fw_cards PROGRAM: ranks share GPUs by CUDA MPS where there are more ranks than GPUs. Two ranks of a node need two GPUs.
fw_cards() {
	local ranks
	ranks=$(fw_ranks "$1")
	if [ -z "$dry" ] && [ ! -e /dev/nvidia1 ]; then
		[ "$ranks" = 1 ] || { say "$1: left out, it needs two GPUs"; return 1; }
		mps_up
	elif [ "$ranks" = 1 ]; then
		mps_down
	else
		mps_up
	fi
}

# frameworks SECONDS
frameworks() {
	local fw_end=$((SECONDS + $1)) network program k
	site_default=$FW_AUTO
	auto_topology=${FW_NODES}x1
	for ((k = fw_first; k < fw_first + fw_runs; k++)); do
		for network in "${fw_networks[@]}"; do
			if ! fw_network "$network" || ! fw_gpus; then
				say "frameworks $network: left out"
				continue
			fi
			"$top/tests/lib/cluster" plugstack "$(plugstack)"
			for program in "${fw_programs[@]}"; do
				fw_program "$network" "$program" "$k"
			done
		done
	done
	mps_down
	site_default=''
	[ -n "$dry" ] || to_loopback
}
