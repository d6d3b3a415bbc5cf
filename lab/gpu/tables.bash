# shellcheck shell=bash disable=SC2034,SC2054,SC2154
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# The tables of docs/results.md, on any number of GPUs: every arm by turns beside NCCL's own choice (arms); NCCL's choice
# against the plugin's (rules); ranks that are not spread evenly and groups of some of them (uneven);
# PyTorch programs (train).
# Part of lab/gpu/run.sh; tables_summary.py reads what these runs leave.

readonly TABLES_COLL=AllReduce TABLES_START_S=6		# what a run of the benchmark takes beside its calls
readonly ARMS_SIZES=64K,256K,1M,4M,16M,64M,256M ARMS_EVEN=1M ARMS_IN_A_ROW=4
# Rounds: the log of nt-fixed.so and the samples of the benchmark must fit each other (tables_summary.py).
readonly ARMS_ROUNDS_MOST=8000 ARMS_WARMUP=4 ARMS_CHECK=250
readonly LL_MOST=4194304 LL128_MOST=67108864	# beyond it is not tried: half, or 15 of 16 bytes are data
readonly RULES_SIZES=64K,1M,16M,64M,256M RULES_EVEN=16M
readonly RULES_WAYS=(off bandit)
readonly UNEVEN_SECONDS=8
readonly TRAIN_PROGRAMS=ddp,fsdp,mesh TRAIN_WAYS=(off bandit auto policy) TRAIN_STEPS=40 TRAIN_S=5 TRAIN_TAKES_S=33
readonly CALIBRATE_S=30 CALIBRATE_MOST_S=90
readonly TABLES_PLUGIN=bandit,channels=on TABLES_AUTO=bandit,channels=on,launch=auto,calibrate=off
# A choice that is remembered is used by a later step with launch other than off only.
readonly TABLES_POLICY=policy,launch=auto

tables_default_topologies() {
	[ ${#tables_topologies[@]} = 0 ] || return 0
	case $gpus in
	1) tables_topologies=(4x1 2x1) ;;
	[2-3]) tables_topologies=(4x2 2x1 1x2) ;;
	[4-7]) tables_topologies=(4x2 2x2 1x4) ;;
	*) tables_topologies=(2x4 4x2 1x8) ;;
	esac
}

# Those of several nodes with as many ranks as the first: what all pieces but arms are about.
tables_main_topologies() {
	local topology ranks=$((${tables_topologies[0]%x*} * ${tables_topologies[0]#*x}))
	for topology in "${tables_topologies[@]}"; do
		[[ $topology = 1x* ]] || [ $((${topology%x*} * ${topology#*x})) != "$ranks" ] || echo "$topology"
	done
}

# tables_share TOPOLOGY: more ranks than GPUs share them by MPS, else nothing stands between.
tables_share() {
	if [ $((${1%x*} * ${1#*x})) -gt "$gpus" ]; then
		mps_up
	else
		mps_down
	fi
}

# tables_done DIR WHAT: an earlier run that wrote to the same place has it.
tables_done() {
	{ [ -e "$1/status" ] || [ -e "$1/ended" ]; } && say "tables $2: there already"
}

# tables_fits SECONDS WHAT: or says that it does not; $tables_end is when all must be over.
tables_fits() {
	if [ $((SECONDS + $1)) -le "$tables_end" ]; then
		say "tables $2: some $1 s, at $SECONDS s"
		return 0
	fi
	say "tables $2: left out, no time (it takes some $1 s)"
	return 1
}

# tables_bench SIZES EVEN EXPLORE_S LAST_S: sets command_line.
tables_bench() {
	if [ -n "$dry" ]; then
		command_line=("$stage/libexec/nccl-tune/tests/nt-fake-nccl" --coll allreduce --sizes 64K,1M,16M --iters 500
			--call-gap-us 100)
		return
	fi
	command_line=("$bench" --coll allreduce --sizes "$1" --even "$2" --seconds "$3" --last-seconds "$4"
		--iters 60000 --warmup 2 --check 100 --rendezvous "$work/meet" --stall 40)
}

# ---- arms

# arms_seconds CONDITION TOPOLOGY: of calls.
arms_seconds() {
	case $1:$2 in
	*:1x*) echo 5 ;;
	shaped*) echo 24 ;;
	*:2x*) echo 13 ;;
	*) echo 17 ;;
	esac
}

# Arms that NCCL has there: between nodes LL128 is not legal, PAT wants one rank a node.
legal_arms() {
	case $1 in
	1x*) echo RING/SIMPLE RING/LL RING/LL128 TREE/SIMPLE TREE/LL TREE/LL128 ;;
	*x1) echo RING/SIMPLE RING/LL TREE/SIMPLE TREE/LL PAT/SIMPLE ;;
	*) echo RING/SIMPLE RING/LL TREE/SIMPLE TREE/LL ;;
	esac
}

bytes_of() {
	local number=${1%[KM]}
	case $1 in
	*K) echo $((number << 10)) ;;
	*M) echo $((number << 20)) ;;
	*) echo "$number" ;;
	esac
}

# arms_plan TOPOLOGY: NCCL's own choice and every arm that is legal there.
arms_plan() {
	local sizes arms size arm bytes
	IFS=, read -ra sizes <<<"$ARMS_SIZES"
	read -ra arms < <(legal_arms "$1")
	for size in "${sizes[@]}"; do
		bytes=$(bytes_of "$size")
		for arm in AUTO "${arms[@]}"; do
			case $arm in
			PAT/*) continue ;;
			*/LL) [ "$bytes" -le "$LL_MOST" ] || continue ;;
			*/LL128) [ "$bytes" -le "$LL128_MOST" ] || continue ;;
			esac
			echo "$TABLES_COLL $bytes $arm"
		done
	done
}

# tables_arms CONDITION TOPOLOGY
tables_arms() {
	local condition=$1 topology=$2 seconds dir rc=0
	dir=$raw/tables-arms-$condition.$topology.turns.$tables_first
	seconds=$(arms_seconds "$condition" "$topology")
	! tables_done "$dir" "arms $condition $topology" || return 0
	tables_fits $((seconds + 1 + TABLES_START_S)) "arms $condition $topology" || return 0
	tables_share "$topology" || return 0
	allocate "${topology%x*}" "${topology#*x}" || { say "tables arms $topology: no allocation"; return 1; }
	mkdir -p "$dir"
	arms_plan "$topology" >"$dir/plan"
	tables_bench "$ARMS_SIZES" "$ARMS_EVEN" 1 "$seconds"
	[ -n "$dry" ] || command_line+=(--iters "$ARMS_ROUNDS_MOST" --warmup "$ARMS_WARMUP" --check "$ARMS_CHECK"
		--samples "$dir/samples.csv")
	step "$dir" $((seconds + 45)) "${topology%x*}" "${topology#*x}" off env NCCL_TUNER_PLUGIN="$fixed" \
		NT_FIXED_PLAN="$dir/plan" NT_FIXED_RUN="$ARMS_IN_A_ROW" NT_FIXED_LOG="$dir/arms" "${command_line[@]}" || rc=$?
	[ "$rc" = 0 ] || say "tables arms $condition $topology: exit status $rc"
	release
	write_results
}

# ---- rules

# rules_seconds CONDITION WAY: until all is decided, and of what is compared.
rules_seconds() {
	case $1:$2 in
	*:off) echo 2 5 ;;
	shaped*) echo 30 8 ;;
	*) echo 19 5 ;;
	esac
}

# rules_step CONDITION TOPOLOGY WAY K
rules_step() {
	local condition=$1 topology=$2 way=$3 rc=0 explore last
	read -r explore last < <(rules_seconds "$condition" "$way")
	tables_bench "$RULES_SIZES" "$RULES_EVEN" "$explore" "$last"
	step "$raw/tables-rules-$condition.$topology.$way.$4" $((explore + last + 60)) "${topology%x*}" "${topology#*x}" \
		"$way" "${command_line[@]}" || rc=$?
	[ "$rc" = 0 ] || say "tables rules $condition $topology $way $4: exit status $rc"
}

# tables_rules CONDITION TOPOLOGY K: one repetition, each way first to last in turn.
tables_rules() {
	local condition=$1 topology=$2 k=$3 way takes=0 explore last ways=("${RULES_WAYS[@]}" "${RULES_WAYS[@]}")
	for way in "${RULES_WAYS[@]}"; do
		read -r explore last < <(rules_seconds "$condition" "$way")
		takes=$((takes + explore + last + TABLES_START_S))
	done
	! tables_done "$raw/tables-rules-$condition.$topology.${ways[k % 2 + 1]}.$k" "rules $condition $topology, repetition $k" || return 0
	tables_fits "$takes" "rules $condition $topology, repetition $k" || return 0
	tables_share "$topology" || return 0
	allocate "${topology%x*}" "${topology#*x}" || { say "tables rules $topology: no allocation"; return 1; }
	for way in "${ways[@]:$((k % 2)):2}"; do
		rules_step "$condition" "$topology" "$way" "$k"
	done
	release
	write_results
}

# ---- uneven

# Ranks of each node, as many as there are GPUs: no more of a host may share one.
uneven_nodes() {
	if [ "$gpus" -ge 8 ]; then
		echo 3 5
	elif [ "$gpus" -ge 4 ]; then
		echo 1 3
	elif [ "$gpus" -ge 2 ]; then
		echo 1 2 2 2
	fi
}

# uneven_step NETWORK TOPOLOGY NAME POLICY CMD...: in the allocation, on step_places where it is set.
uneven_step() {
	local name=tables-uneven-$1.$2.$3.$tables_first topology=$2 policy=$4 rc=0 dir
	dir=$raw/$name
	shift 4
	mkdir -p "$dir"
	step "$dir" 75 "${topology%%[x+]*}" "${topology#*x}" "$policy" "$@" || rc=$?
	[ "$rc" = 0 ] || say "$name: exit status $rc"
}

# uneven_groups NETWORK TOPOLOGY PART: a PyTorch program that checks every sum, with a group of PART ranks (0: none).
uneven_groups() {
	local dir=$raw/tables-uneven-$1.$2.groups.$tables_first
	command_line=(python3 "$here/groups.py" "$dir" --rounds 1 --seconds "$UNEVEN_SECONDS" --part "$3")
	if [ -n "$dry" ]; then
		command_line=("$stage/libexec/nccl-tune/tests/nt-fake-nccl" --sizes 64K,1M --iters 300 --call-gap-us 500)
	fi
	if [ "$1" = shaped ]; then
		command_line=(env MASTER_ADDR="$NET_PREFIX.1" "${command_line[@]}")
	fi
	uneven_step "$1" "$2" groups "$GROUPS_HASTY" "${command_line[@]}"
}

# tables_uneven NETWORK TOPOLOGY
tables_uneven() {
	local network=$1 topology=$2 counts hosts name n i ranks policy places=$work/places
	ranks=$((${topology%x*} * ${topology#*x}))
	read -ra counts < <(uneven_nodes)
	! tables_done "$raw/tables-uneven-$network.$topology.groups.$tables_first" "uneven $network" || return 0
	tables_fits 95 "uneven $network" || return 0
	tables_share "$topology" || return 0
	if allocate "${topology%x*}" "${topology#*x}"; then
		uneven_groups "$network" "$topology" $((ranks * 3 / 4))
		release
	fi
	[ ${#counts[@]} -gt 0 ] || return 0
	name=$(IFS=+; echo "${counts[*]}")
	tables_share "$((${#counts[@]}))x2" || return 0
	if allocate ${#counts[@]} "${counts[-1]}"; then
		mapfile -t hosts < <(scontrol show hostnames "$(squeue -h -j "$job" -o %N)")
		for ((n = 0; n < ${#counts[@]}; n++)); do
			for ((i = 0; i < counts[n]; i++)); do
				echo "${hosts[n]}"
			done
		done >"$places"
		step_places=$places
		for policy in off bandit; do
			tables_bench 64K,1M,16M 1M 9 3
			uneven_step "$network" "$name" "$policy" "$policy" "${command_line[@]}"
		done
		uneven_groups "$network" "$name" $(($(wc -l <"$places") - 1))
		step_places=''
		release
	fi
	write_results
}

# ---- train

# tables_calibrate_line DIR: of batch-job.sh
tables_calibrate_line() {
	local some=("$stage/bin/nccl-tune" calibrate --time "${CALIBRATE_S}s"
		--profile-file "$stage/share/nccl-tune/profiles.conf")
	[ -z "$dry" ] || some=(env "LD_LIBRARY_PATH=$stage/libexec/nccl-tune/tests/simulated" "${some[@]}")
	batch_line "$1" "$CALIBRATE_MOST_S" calibrate "${some[@]}"
}

train_command() {
	local master=127.0.0.1
	[ "$1" = loopback ] || master=$NET_PREFIX.1
	command_line=(python3 "$here/train.py" --programs "$TRAIN_PROGRAMS" --steps "$TRAIN_STEPS" --seconds "$TRAIN_S"
		--master "$master")
	[ -z "$dry" ] || dry_command "$1" ddp "$2"
}

# train_policy WAY
train_policy() {
	case $1 in
	off) echo off ;;
	bandit) echo "$TABLES_PLUGIN" ;;
	auto) echo "$TABLES_AUTO" ;;
	policy) echo "$TABLES_POLICY" ;;
	esac
}

# The first job: runs the programs once and then calibrates, so that their own mix is measured; the next jobs remember both.
train_first() {
	local name=tables-train-$1.$2 lines=$work/train.lines
	! tables_done "$raw/$name.job-earlier.$tables_first" "train $1 $2, the earlier job" || return 0
	tables_fits $((CALIBRATE_S + TRAIN_TAKES_S)) "train $1 $2, the earlier job" || return 1
	train_command "$1" "$2"
	batch_line "$raw/$name.earlier.$tables_first" 110 "$TABLES_AUTO" "${command_line[@]}" >"$lines"
	tables_calibrate_line "$name.calibrate.$tables_first" >>"$lines"
	batch_job "$raw/$name.job-earlier.$tables_first" "$work/state.$name.0" "$lines" "$2" 300 || :
}

# tables_train NETWORK TOPOLOGY: jobs with a step of each way, first to last in turn, each with what the earlier job has left.
tables_train() {
	local name=tables-train-$1.$2 lines=$work/train.lines k way order
	tables_share "$2" || return 0
	train_first "$1" "$2" || return 0
	for ((k = tables_first; k < tables_first + tables_runs; k++)); do
		! tables_done "$raw/$name.job-train.$k" "train $1 $2, repetition $k" || continue
		tables_fits $((TRAIN_TAKES_S * ${#TRAIN_WAYS[@]})) "train $1 $2, repetition $k" || return 0
		: >"$lines"
		order=("${TRAIN_WAYS[@]}" "${TRAIN_WAYS[@]}")
		for way in "${order[@]:$((k % 4)):4}"; do
			train_command "$1" "$2"
			batch_line "$raw/$name.$way.$k" 110 "$(train_policy "$way")" "${command_line[@]}" >>"$lines"
		done
		mkdir -p "$work/state.$name.$k/nccl-tune"
		cp -R "$raw/$name.job-earlier.$tables_first/memory" "$work/state.$name.$k/nccl-tune/memory"
		batch_job "$raw/$name.job-train.$k" "$work/state.$name.$k" "$lines" "$2" 460 || :
		write_results
	done
}

# ---- all

# tables_piece NETWORK PIECE
tables_piece() {
	local network=$1 topology k condition=alone some
	mapfile -t some < <(tables_main_topologies)
	[ "$network" = loopback ] || condition=shaped
	case $2 in
	arms)
		for topology in "${tables_topologies[@]}"; do
			[[ $network = shaped && $topology = 1x* ]] || tables_arms "$condition" "$topology"
		done ;;
	rules)
		for ((k = tables_first; k < tables_first + tables_runs; k++)); do
			for topology in "${some[@]}"; do
				tables_rules "$condition" "$topology" "$k"
			done
		done ;;
	uneven) [ ${#some[@]} = 0 ] || tables_uneven "$network" "${some[0]}" ;;
	*)
		for topology in "${some[@]}"; do
			"tables_$2" "$network" "$topology"
		done ;;
	esac
}

# tables SECONDS
tables() {
	local tables_end=$((SECONDS + $1)) network piece
	for network in "${tables_networks[@]}"; do
		if [ "$network" = shaped ] && [ -z "$dry" ] && ! to_shaped; then
			say "tables: no shaped network"
			continue
		fi
		for piece in "${tables_pieces[@]}"; do
			tables_piece "$network" "$piece"
		done
		mps_down
	done
	say "tables: at $SECONDS s"
}
