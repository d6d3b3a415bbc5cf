# shellcheck shell=bash disable=SC2154
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# One job of the simulated NCCL on the mini cluster, watched: what its agreement cost. For files that have loaded
# tests/lib/cluster.bash and started a cluster.
#
#   agree_start NODES RANKS TUNE [option of nt-fake-nccl]...   the job runs
#   agree_fetches                                              reads so far as the records tell, by node
#   agree_threads SECONDS                                      what the helper threads do in that time, by task
#   agree_end                                                  wait for the programs; prints one line of JSON; not in a
#                                                              subshell, whose child srun is not
#
# Memory is that of each node's slurmstepd, in KiB: before its programs began, and after they have ended.

AGREE_TASK=$NT_TOP/lab/measure/agree-task.sh
AGREE_LIMIT_S=${AGREE_LIMIT_S:-900}	# for a job

agree_start() {
	agree_nodes=$1 agree_tasks=$(($1 * $2)) agree_per_node=$2
	local tune=$3
	shift 3
	agree_dir=$(mktemp -d "$NT_CLUSTER/work/agree.XXXXXX")
	chmod 777 "$agree_dir"
	cp "$AGREE_TASK" "$agree_dir/task.sh" && chmod 755 "$agree_dir/task.sh"
	NT_TIMEOUT_S=$((AGREE_LIMIT_S + 60)) as_user srun -N"$agree_nodes" --ntasks-per-node="$agree_per_node" -t 60 --mpi=pmix \
		--nccl-tune="$tune" "$agree_dir/task.sh" "$agree_dir" "$NT_TESTS/nt-fake-nccl" "$@" \
		>"$agree_dir/srun" 2>&1 3>&- &
	agree_srun=$!
	agree_wait begin 180 || return 1
	agree_memory before
	agree_began_ms=$(agree_now_ms)
	touch "$agree_dir/go"
}

agree_now_ms() {
	echo $((${EPOCHREALTIME/./} / 1000))
}

# agree_wait NAME SECONDS: for a file of each task
agree_wait() {
	wait_for "$2" agree_all "$1" || { cat "$agree_dir"/srun "$agree_dir"/err.* >&2; return 1; }
}

agree_all() {
	local task
	for ((task = 0; task < agree_tasks; task++)); do
		[ -s "$agree_dir/$1.$task" ] || return 1
	done
}

# agree_memory WHEN: one line for each node's slurmstepd
agree_memory() {
	local node
	for ((node = 0; node < agree_nodes; node++)); do
		awk -v node="$node" '{ kib[$1] = $2 }
			END { printf "{\"node\":%d,\"rss\":%d,\"pss\":%d,\"private_dirty\":%d}\n", node, kib["Rss:"], kib["Pss:"],
				kib["Private_Dirty:"] }' "/proc/$(cat "$agree_dir/begin.$((node * agree_per_node))")/smaps_rollup"
	done >"$agree_dir/memory.$1"
}

# The records of the node leaders, as they are now.
agree_records() {
	step_records '*' '*'
}

agree_fetches() {
	agree_records | jq -cs '[.[] | select(.agreement) | {node, fetches: .agreement.fetches, last: .end}] | sort_by(.node)'
}

agree_all_decided() {
	agree_records | jq -es '[.[].comms[].keys[].state] | length > 0 and all(. == "kept" or . == "committed")'
}

# agree_thread TASK: processor time in ns and waits so far, of the plugin's thread
agree_thread() {
	local task name
	for task in /proc/"$(cat "$agree_dir/program.$1")"/task/*; do
		read -r name <"$task/comm" || return 1
		[ "$name" = nccl-tune ] || continue
		echo "$(cut -d' ' -f1 "$task/schedstat") $(sed -n 's/^voluntary_ctxt_switches:\t//p' "$task/status")"
	done
}

agree_threads() {
	local task before=()
	for ((task = 0; task < agree_tasks; task++)); do
		before[task]=$(agree_thread "$task")
	done
	sleep "$1"
	for ((task = 0; task < agree_tasks; task++)); do
		echo "$task ${before[task]} $(agree_thread "$task")"
	done | awk -v s="$1" -v per="$agree_per_node" '{ printf "%s{\"task\":%d,\"speaks\":%s,\"cpu_ms\":%.3f,\"wakes_per_s\":%.1f}",
		(NR > 1 ? "," : "["), $1, ($1 % per ? "false" : "true"), ($4 - $2) / 1e6, ($5 - $3) / s } END { print "]" }'
}

agree_end() {
	local took_ms
	agree_wait end "$AGREE_LIMIT_S" || return 1
	took_ms=$(($(agree_now_ms) - agree_began_ms))
	agree_memory after
	agree_records >"$agree_dir/records"
	touch "$agree_dir/leave"
	wait "$agree_srun" || { cat "$agree_dir/srun" "$agree_dir"/err.* >&2; return 1; }
	jq -cs --argjson nodes "$agree_nodes" --argjson ranks "$agree_per_node" --argjson ms "$took_ms" \
		--slurpfile before "$agree_dir/memory.before" --slurpfile after "$agree_dir/memory.after" \
		--slurpfile out "$agree_dir/out.0" '
		def at(q): sort | .[((length - 1) * q) | floor];
		[.[] | select(.agreement)] as $leaders
		| ([.[].comms[].keys[]] | map(.state)) as $states
		| [$leaders[].agreement.commit_ms[]] as $ms_all
		| { nodes: $nodes, ranks_per_node: $ranks, ms: $ms,
		    mismatches: $out[0].mismatches, calls: $out[0].calls, mask: $out[0].mask,
		    keys: ($states | group_by(.) | map({(.[0]): length}) | add),
		    commits: ([$leaders[].agreement.commits] | max), aborts: ([$leaders[].agreement.aborts] | add),
		    rejects: ([$leaders[].agreement.rejects] | add), refusals: ([$leaders[].agreement.refusals] | add),
		    fetches: [$leaders | sort_by(.node)[] | .agreement.fetches],
		    appends: [$leaders | sort_by(.node)[] | .agreement.appends],
		    bytes: [$leaders | sort_by(.node)[] | .agreement.bytes],
		    spent_kib: [$leaders | sort_by(.node)[] | .agreement.spent_kib],
		    longest_decision_ms: ($out[0].decisions.max_ns / 1e4 | round / 100), waits: ([.[].counts.waits_in_doubt // 0] | add),
		    commit_ms: (if $ms_all == [] then null else { count: ($ms_all | length), p50: ($ms_all | at(0.5)),
				p90: ($ms_all | at(0.9)), max: ($ms_all | max) } end),
		    stepd_kib: [range($nodes) as $n | { rss: ($after[$n].rss - $before[$n].rss),
				pss: ($after[$n].pss - $before[$n].pss),
				private_dirty: ($after[$n].private_dirty - $before[$n].private_dirty) }] }' "$agree_dir/records"
}
