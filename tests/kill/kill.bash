# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# One job on the mini cluster of 8 nodes that loses something at a chosen step of the agreement, and what came of it.
# For files that have loaded tests/lib/cluster.bash and started a cluster.
#
#   kill_run TUNE TARGET STEP RUN || :   TUNE: on or off. Sets the variables below; || : keeps bats out of it.
#
# k_more: so many more calls at most until the choice of the others is final, where that is looked at.
#
# Targets: rank (that does not speak), speaker (of a node other than rank 0's), home (the speaker of rank 0's node),
# stepd and homestepd (the slurmstepd of such a node), stop (home's speaker is stopped, not killed).
# RUN varies the node, the shape of the job (rank.sh) and which communicator's step is waited for.

KILL_AGREE_S=10		# agree_timeout: home waits some 2 s for answers, and some more pass until all have read
KILL_PEER_S=13		# how long the simulated NCCL waits for a rank: above that where ranks may be in doubt
KILL_PEER_SHORT_S=8	# ... and where none can be: this machine may be busy
KILL_HANG_S=120	# processes that are there so long after the kill hang: what takes a third elsewhere may take this here
KILL_SETTLE_S=${KILL_SETTLE_S:-5}	# what Slurm gets for each part of ending a job
KILL_CALLS=1300		# two seconds; the choice is final after one where the machine is quiet
KILL_CALLS_FINAL=5000	# ... and where it is not it is after these, or after more (k_more)

# Without the plugin there is no shared memory: strike at about the time, in ms after the tasks were started.
declare -gA kill_off_ms=([joining]=20 [agreed]=150 [wanted]=180 [held]=290 [committed]=350 [running]=380 [next]=500
	[final]=900)

# What kill_run finds
kill_values() {
	echo "$k_tune,$k_target,$k_step,$k_run,$k_shape,$k_node,$k_of,$k_before,$k_after,$k_beside,$k_status,$k_mismatches,\
$k_others,$k_arm,$k_doubt,$k_gone,$k_hang,$k_srun_waits,$k_doubt_ms,${k_left:-none},$k_admin,$k_ms"
}

kill_plan() {
	k_tune=$1 k_target=$2 k_step=$3 k_run=$4
	k_shape=pair k_of=own k_signal=9 k_peer_s=$KILL_PEER_S k_more=0
	((k_run % 3 == 2)) && k_shape=node
	((k_run % 2 == 1)) && [ "$k_shape" = pair ] && k_of=other
	case $k_target in
	rank) k_node=n$((k_run % 8 + 1)) k_victim=rank k_peer_s=$KILL_PEER_SHORT_S k_more=60000 ;;
	speaker) k_node=n$((k_run % 7 + 2)) k_victim=speaker ;;
	home) k_node=n1 k_victim=speaker ;;
	stepd) k_node=n$((k_run % 7 + 2)) k_victim=stepd k_of=any ;;
	homestepd) k_node=n1 k_victim=stepd k_of=any ;;
	stop) k_node=n1 k_victim=speaker k_signal=19 ;;
	esac
	[ "$k_tune" = on ] || k_peer_s=$KILL_PEER_SHORT_S
}

kill_job() {
	local tune=off
	[ "$k_tune" = off ] || tune=bandit,agree_timeout=$KILL_AGREE_S
	as_user srun -N8 --ntasks-per-node=2 -t 20 --mpi=pmix --nccl-tune="$tune" "$NT_CLUSTER/work/rank.sh" "$k_dir" \
		"$k_shape" "$KILL_CALLS" "$NT_TESTS/nt-fake-nccl" --arm RING/SIMPLE=0.3 --sizes 256K --call-gap-us 1000 \
		--peer-timeout "$k_peer_s" --more "$k_more" >"$k_dir/srun" 2>&1
}

# Tasks are numbered node by node.
first_task() {
	echo $(((${k_node#n} - 1) * 2))
}

# Strike without shared memory: the same processes as strike.c takes.
kill_in_time() {
	local task pid
	task=$(first_task)
	[ "$k_victim" = rank ] && task=$((task + 1))
	wait_for 15 test -s "$k_dir/pid.$task" || return 1
	sleep "$(printf '0.%03d' "${kill_off_ms[$k_step]}")"
	pid=$(cat "$k_dir/pid.$task")
	[ "$k_victim" = stepd ] && read -r _ _ _ pid _ <"/proc/$pid/stat"
	kill "-$k_signal" "$pid" || return 1
	echo '{"before":"-","after":"-","beside":"-","pid":'"$pid"'}'
}

kill_strike() {
	if [ "$k_tune" = off ]; then
		kill_in_time
	else
		"$NT_TESTS/nt-strike" "$NT_CLUSTER/" "$k_node" "$k_step" "$k_victim" "$k_of" 20 "$k_signal"
	fi >"$k_dir/strike" 2>"$k_dir/strike.err"
	k_before=none k_after=none k_beside=none k_pid=0
	[ -s "$k_dir/strike" ] && read -r k_before k_after k_beside k_pid < <(
		jq -r '"\(.before) \(.after) \(.beside) \(.pid)"' "$k_dir/strike")
}

# Tasks that run, the stopped one aside.
kill_tasks_run() {
	local file pid name
	for file in "$k_dir"/pid.*; do
		read -r pid <"$file"
		[ "$pid" != "$k_pid" ] && read -r name 2>/dev/null <"/proc/$pid/comm" &&
			[[ $name = nt-fake-nccl || $name = rank.sh ]] && return 0
	done
	return 1
}

# A number may be another cluster's task by now.
kill_end_tasks() {
	local file pid
	for file in "$k_dir"/pid.*; do
		pid=$(<"$file")
		[[ $(cat "/proc/$pid/comm" 2>/dev/null) = nt-fake-nccl && -r /proc/$pid/environ ]] &&
			grep -qF "$NT_CLUSTER/" "/proc/$pid/environ" && kill -9 "$pid"
	done
}

# What a failed run left, for the log of the test.
kill_tell() {
	tail -n 3 "$k_dir"/err.* "$k_dir/srun" "$k_dir/strike" "$k_dir/strike.err" "$k_dir/hang" 2>/dev/null | cut -c 1-300
	return 1
}

# Until the tasks have ended, and srun: for a lost slurmstepd it waits a minute, with and without the plugin. Tasks of
# that node may outlive srun.
kill_await() {
	local client=$1 deadline=$((SECONDS + KILL_HANG_S)) quiet=0
	while ((SECONDS < deadline && quiet < 10)); do
		if kill_tasks_run; then
			quiet=0
		else
			kill -0 "$client" 2>/dev/null || break
			quiet=$((quiet + 1))
		fi
		sleep 0.2
	done
	if kill_tasks_run; then
		k_hang=1
		ps -u "$NT_USER" -o pid,ppid,etimes,stat,wchan:20,args >"$k_dir/hang"
	fi
	kill_end_tasks
	if ((quiet >= 10)) && [ "$k_target" != stop ]; then
		k_srun_waits=1
		timeout 10 squeue -h -o %i | xargs -r timeout 10 scancel -f
	fi
	for ((quiet = 0; quiet < KILL_SETTLE_S * 10; quiet++)); do
		kill -0 "$client" 2>/dev/null || break
		sleep 0.1
	done
	kill -9 "$client" 2>/dev/null
	wait "$client"
	k_status=$?
}

nodes_idle() {
	[ "$(timeout 60 sinfo -h -N -o %t | grep -cx idle)" = 8 ]
}

# nodes_idle_within SECONDS: where they are not something is done about it, so nothing rests on the time.
nodes_idle_within() {
	local deadline=$((SECONDS + $1))
	until nodes_idle; do
		((SECONDS < deadline)) || return 1
		sleep 0.1
	done
}

# What an administrator does about nodes that do not come back: the slurmstepd of the first node waits a minute for
# the lost one's word, and slurmctld drains the node then.
kill_settle() {
	local pids
	k_admin=none
	nodes_idle_within $((KILL_SETTLE_S * 5)) && return
	k_admin=endstepd
	mapfile -t pids < <(stepds)
	[ "${#pids[@]}" = 0 ] || kill -9 "${pids[@]}"
	nodes_idle_within 50 && return
	k_admin=restart
	cluster kill "$k_node"
	cluster start "$k_node"
	timeout 10 scontrol update nodename="n[1-8]" state=resume 2>/dev/null
	wait_for 70 nodes_idle 2>/dev/null || k_admin=lost
}

kill_left_now() {
	local left='' found
	found=$(step_shms 'n[1-8].*' | wc -l)
	[ "$found" = 0 ] || left+="memory:$found "
	found=$(find "$NT_CLUSTER"/tmp/n[1-8] -mindepth 1 -maxdepth 1 -printf '%f ')
	[ -z "$found" ] || left+="tmpfs:$found"
	found=$(find /dev/shm /tmp -mindepth 1 -maxdepth 1 -user "$NT_USER" -newer "$k_dir/began" \
		! -name 'nt-fake-nccl.*' ! -name 'ompi.*' -printf '%p ' 2>/dev/null)
	[ -z "$found" ] || left+="shm-tmp:$found"
	found=$(pgrep -u "$NT_USER" -f "$NT_CLUSTER/work/" | wc -l)
	[ "$found" = 0 ] || left+="tasks:$found "
	found=$(pgrep -f "nt-recordd .*$NT_CLUSTER/" | wc -l)
	[ "$found" = 0 ] || left+="recordd:$found "
	echo "${left//,/;}"
}

# What is there after some seconds stays; it is taken away so that the next run is told of its own.
kill_left() {
	local poll
	for ((poll = 0; poll < KILL_SETTLE_S * 5; poll++)); do
		k_left=$(kill_left_now)
		[ -z "$k_left" ] && return
		sleep 0.2
	done
	k_left=${k_left% }
	rm -rf "$NT_CLUSTER"/tmp/n[1-8]/*
	pgrep -f "nt-recordd .*$NT_CLUSTER/" | xargs -r kill -9
}

# The communicators without the victim: done (as planned, all ranks with one arm at the end, or with several by turns:
# exploring), error (ranks in doubt failed), cancelled (Slurm ended the step), none (there are none).
kill_others() {
	local file=$k_dir/out.0
	k_others=none k_arm=-
	[ "$k_shape" = pair ] || return
	[ "$k_victim" = rank ] || file=$k_dir/out.1
	if [ -s "$file" ]; then
		k_others="done"
		k_arm=$(jq -r '.keys[0] | if (.arms | keys) == ["mixed"] then "exploring" else .arm end' "$file")
	elif grep -q 'STEP .* CANCELLED' "$k_dir/srun"; then
		k_others=cancelled
	elif [ "$k_doubt" -gt 0 ]; then
		k_others=error
	else
		k_others=lost
	fi
}

kill_sum() {
	local said=$k_dir/said file
	cat "$k_dir"/err.* >"$said" 2>/dev/null
	k_mismatches=$(cat "$k_dir"/out.* 2>/dev/null | jq -s 'map(.mismatches) | add // 0')
	k_mismatches=$((k_mismatches + $(grep -c MISMATCH "$said")))
	k_doubt=$(grep -c 'getCollInfo returned' "$said")
	k_gone=$(grep -cE 'waited [0-9]+ s in' "$said")
	k_doubt_ms=0
	file=$(grep -l 'getCollInfo returned' "$k_dir"/err.* 2>/dev/null | xargs -r ls -t | head -n 1)
	[ -z "$file" ] || k_doubt_ms=$(((10#$(stat -c %.3Y "$file" | tr -d .)) - 10#$(stat -c %.3Y "$k_dir/strike" | tr -d .)))
	kill_others
}

kill_run() {
	local client began=$EPOCHREALTIME
	kill_plan "$@"
	k_hang=0 k_srun_waits=0
	k_dir=$NT_CLUSTER/work/kill
	rm -rf "$k_dir"
	mkdir -p "$k_dir/0" "$k_dir/1"
	chmod 777 "$k_dir" "$k_dir/0" "$k_dir/1"
	cp "$NT_TOP/tests/kill/rank.sh" "$NT_CLUSTER/work/"
	touch "$k_dir/began"
	kill_job 3>&- &
	client=$!
	kill_strike
	kill_await "$client" 2>/dev/null
	kill_settle
	kill_left
	kill_sum
	k_ms=$(((${EPOCHREALTIME/./} - ${began/./}) / 1000))
}
