# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# Who is late, and what measuring costs: PyTorch programs (train.py) without the plugin, in mode observe, and in mode observe
# with extra work on the last rank, by turns. Part of lab/gpu/run.sh; late_summary.py reads what these runs leave.

readonly LATE_WAYS=(off observe late again) LATE_PROGRAMS=(ddp tp)
readonly -A LATE_MS=([ddp]=20 [tp]=1)		# of extra work, each time
readonly LATE_STEPS=40 LATE_TRAIN_S=6 LATE_LIMIT_S=90

# late_command PROGRAM WAY RANKS: sets command_line.
late_command() {
	if [ -n "$dry" ]; then
		command_line=("$stage/libexec/nccl-tune/tests/nt-fake-nccl" --sizes '16Mx8,64K' --iters 120 --compute-us 5000 --realtime 1)
		[ "$2" != late ] || command_line+=(--slow-rank "$(($3 - 1))@20000")
		return
	fi
	command_line=(python3 "$here/train.py" --programs "$1" --steps "$LATE_STEPS" --seconds "$LATE_TRAIN_S" --master 127.0.0.1)
	[ "$2" != late ] || command_line+=(--late "$(($3 - 1)):${LATE_MS[$1]}")
}

# late_run DIR TOPOLOGY PROGRAM WAY: a job of one step, with its report.
late_run() {
	local dir=$1 nodes=${2%x*} tasks=${2#*x} policy=observe number i
	[ "$4" = observe ] || [ "$4" = late ] || policy=off
	late_command "$3" "$4" $((nodes * tasks))
	mkdir -p "$dir/records"
	chmod 700 "$dir/records"
	allocate "$nodes" "$tasks" || { say "late $2: no allocation"; return 1; }
	number=$job
	export NCCL_TUNE_RECORD_DIR=$dir/records
	step "$dir" "$LATE_LIMIT_S" "$nodes" "$tasks" "$policy" "${command_line[@]}" || say "${dir##*/}: exit status $?"
	release
	if [ "$policy" = observe ]; then
		for ((i = 0; i < 100; i++)); do
			[ "$(find "$dir/records" -name '*.gz' | wc -l)" -lt "$nodes" ] || break
			sleep 0.1
		done
		timeout 30 "$stage/bin/nccl-tune" report "$number" >"$dir/report.txt" 2>&1
	fi
	unset NCCL_TUNE_RECORD_DIR
}

# late_repetition TOPOLOGY PROGRAM K: each way once, first to last in turn.
late_repetition() {
	local way n=${#LATE_WAYS[@]} ways=("${LATE_WAYS[@]}" "${LATE_WAYS[@]}")
	for way in "${ways[@]:$(($3 % n)):$n}"; do
		late_run "$raw/late-$2.$1.$way.$3" "$1" "$2" "$way"
	done
	write_results
}

# late SECONDS
late() {
	local end=$((SECONDS + $1)) takes=$((${#LATE_WAYS[@]} * (LATE_TRAIN_S + TORCH_S))) topology program k start
	for ((k = 1; k <= late_runs; k++)); do
		for topology in "${late_topologies[@]}"; do
			if [ $((${topology%x*} * ${topology#*x})) -gt "$gpus" ]; then
				mps_up || return 0
			fi
			for program in "${LATE_PROGRAMS[@]}"; do
				fits "$takes" "$end" "late $topology $program, repetition $k" || continue
				start=$SECONDS
				late_repetition "$topology" "$program" "$k"
				takes=$((SECONDS - start))
			done
		done
	done
	mps_down
}
