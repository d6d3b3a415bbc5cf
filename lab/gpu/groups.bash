# shellcheck shell=bash disable=SC2154
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# Short PyTorch programs in a row with tensor-parallel, data-parallel and world groups at once (groups.py): one task a
# rank, one torchrun a node, and with ncclGroupSimulateEnd on one rank alone. A program loads PyTorch while the one
# before is on the GPUs. Part of lab/gpu/run.sh; groups_summary.py reads what they leave.

readonly GROUPS_STEP_S=150	# the longest step, its wait for the one before included
readonly GROUPS_FIRST_S=25	# what a run is thought to take until one was seen
readonly GROUPS_HASTY=bandit,min_calls=8,min_share=0,screen_blocks=3,confirm_blocks=8,alpha=0.2,min_gain=1
readonly GROUPS_SIZES=64K,256K,1M,4M

# group_run K: what run K is; sets kind, topology, policy, split. Odd runs are started by srun, even ones by
# torchrun; every third of the former simulates calls; topologies, policies and ways of making groups take turns.
group_run() {
	local i=$((($1 - 1) / 2)) n
	n=${#group_topologies[@]}
	kind=srun
	if (($1 % 2 == 0)); then
		kind=torchrun
	elif ((i % 3 == 2)) && ((simulations_hung < 2)); then
		kind=simulate
	fi
	topology=${group_topologies[i % n]}
	policy=bandit split=false
	((i / n % 2 == 0)) || policy=$GROUPS_HASTY
	((i / n / 2 % 2 == 0)) || split=true
}

# The program of run K in directory DIR; sets command_line and tasks (of a node).
group_command() {
	local dir=$2
	tasks=${topology#*x}
	if [ -n "$dry" ]; then
		dry_group_command
		return
	fi
	command_line=(python3 "$here/groups.py" "$dir" --go "$dir/go" --seed "$1")
	[ "$split" = false ] || command_line+=(--split)
	case $kind in
	simulate) command_line+=(--simulate 40) ;;
	torchrun) command_line+=(--torchrun "$tasks"); tasks=1 ;;
	esac
}

# The simulated NCCL knows no GPUs: neither slices of them nor a start signal.
dry_group_command() {
	local fake=$stage/libexec/nccl-tune/tests/nt-fake-nccl help
	help=$("$fake" --help)
	command_line=("$fake" --sizes "$GROUPS_SIZES" --coll "allreduce,allgather" --iters 300 --call-gap-us 500)
	if [[ $help = *tp:K* ]]; then
		local groups=world,dp:$tasks
		[ "$tasks" = 1 ] || groups+=,tp:$tasks
		command_line+=(--comms "$groups" --churn 150)
	else
		command_line+=(--comms world+node)
	fi
	[ "$kind" != simulate ] || command_line+=(--simulate-on 1@7)
	if [ "$kind" = torchrun ] && [[ $help = *--procs-per-task* ]]; then
		command_line+=(--procs-per-task "$tasks")
		tasks=1
	elif [ "$kind" = torchrun ]; then
		say "groups: nt-fake-nccl has no --procs-per-task: one process a task"
	fi
}

# group_start K: the run in the background, up to its start signal; sets started to its directory.
group_start() {
	local kind topology policy split tasks command_line
	group_run "$1"
	started=$raw/groups.$topology.$kind.$1
	mkdir -p "$started"
	group_command "$1" "$started"
	printf '{"policy":"%s","split":%s,"simulated_nccl":%s}\n' "$policy" "$split" \
		"$([ -n "$dry" ] && echo true || echo false)" >"$started/run.json"
	group_step "$started" &
}

# In a process of its own, for two runs overlap and each has its job. NCCL's own log tells what the record must say.
group_step() {
	local rc=0
	export NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=TUNING NCCL_DEBUG_FILE="$1/nccl.%p.log"
	allocate "${topology%x*}" "$tasks" || { say "${1##*/}: no allocation"; return 1; }
	step "$1" "$GROUPS_STEP_S" "${topology%x*}" "$tasks" "$policy" "${command_line[@]}" || rc=$?
	release
	return "$rc"
}

# The next run, unless it is on its way or there is no time for it after the one at hand.
group_next() {
	if [ -z "$next" ] && [ "$k" -lt "$all" ] && [ $((SECONDS + 2 * last)) -le "$end" ]; then
		k=$((k + 1))
		group_start "$k"
		next=$!
	fi
}

# group_runs SECONDS: until all are made or the time is up.
group_runs() {
	local end=$((SECONDS + $1)) k=1 all=$((2 * groups_each)) last=$GROUPS_FIRST_S rc start started dir pid next
	local group_topologies=() topology simulations_hung=0
	for topology in "${topologies[@]}"; do
		[ "${topology%x*}" = 1 ] || group_topologies+=("$topology")
	done
	[ ${#group_topologies[@]} -gt 0 ] || { say "groups: no topology of several nodes"; return 1; }
	group_start 1
	next=$!
	while [ -n "$next" ]; do
		pid=$next next='' dir=$started start=$SECONDS rc=0
		: >"$dir/go"
		group_next
		wait "$pid" || rc=$?
		if [ "$rc" = 0 ]; then
			last=$((SECONDS - start + 1))
		else
			say "${dir##*/}: exit status $rc, at $SECONDS s"
			[[ $dir != *.simulate.* ]] || simulations_hung=$((simulations_hung + 1))
		fi
		group_next
	done
	[ "$k" = "$all" ] || say "groups: no time for runs $((k + 1)) to $all"
	say "groups: $k runs, at $SECONDS s"
}
