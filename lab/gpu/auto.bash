# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# What a user gets who sets launch=auto and nothing else (auto): a repetition is one batch job of PyTorch steps, which begins
# with an empty memory; each program without the plugin and with it, which of them first in turn. srun calibrates before the
# first step with launch=auto. And a first look at a machine (smoke): does the benchmark run there, with which NCCL.
# Part of lab/gpu/run.sh; auto_summary.py reads what these runs leave.

readonly AUTO_POLICY=bandit,channels=on,launch=auto
readonly AUTO_STEPS=60 AUTO_TRAIN_S=8	# of each program
readonly AUTO_STEP_MOST_S=100 AUTO_CALIBRATION_S=35 AUTO_CALIBRATION_MOST_S=60
readonly AUTO_JOB_MINUTES=60		# a calibration may take 1 % of the time that the job has left

# The name of a program is the script's: other programs send other calls, and their evidence is kept apart.
auto_names() {
	local program
	ln -sf "$here/rank.sh" "$work/rank"
	for program in ddp fsdp tp mesh; do
		ln -sf "$here/train.py" "$work/$program.py"
	done
	export NT_GPU_RANK=$work/rank
}

# auto_command NETWORK PROGRAM: sets command_line.
auto_command() {
	local master=127.0.0.1
	[ "$1" = loopback ] || master=$NET_PREFIX.1
	command_line=(python3 "$work/$2.py" --programs "$2" --steps "$AUTO_STEPS" --seconds "$AUTO_TRAIN_S" --master "$master")
	[ -z "$dry" ] || dry_command "$1" "$2" "$auto_topology"
}

# auto_lines NETWORK K
auto_lines() {
	local program which order=(off auto)
	(($2 % 2)) || order=(auto off)
	for program in "${auto_programs[@]}"; do
		auto_command "$1" "$program"
		for which in "${order[@]}"; do
			if [ "$which" = off ]; then
				batch_line "$raw/auto-$1-$program.$auto_topology.off.$2" "$AUTO_STEP_MOST_S" off "${command_line[@]}"
			else
				batch_line "$raw/auto-$1-$program.$auto_topology.auto.$2" \
					$((AUTO_STEP_MOST_S + AUTO_CALIBRATION_MOST_S)) "$AUTO_POLICY" "${command_line[@]}"
			fi
		done
	done
}

# Without those of LD_LIBRARY_PATH that hold an NCCL, which a user's shell does not name either.
paths_without_nccl() {
	local dir kept=()
	while read -r -d : dir; do
		[ -z "$dir" ] || [ -e "$dir/libnccl.so.2" ] || kept+=("$dir")
	done <<<"${LD_LIBRARY_PATH:-}:"
	(IFS=:; echo "${kept[*]}")
}

# auto_repetition NETWORK K MOST_S
auto_repetition() {
	local lines=$work/auto.lines name=auto-$1-job.$auto_topology.job.$2
	auto_lines "$1" "$2" >"$lines"
	if [ -z "$nccl" ]; then
		local paths
		paths=$(paths_without_nccl)
		local -x LD_LIBRARY_PATH=$paths
	fi
	batch_job "$raw/$name" "$work/state.$name" "$lines" "$auto_topology" "$3" "$AUTO_JOB_MINUTES" || :
	write_results
}

# auto_network NETWORK SECONDS: repetitions until all are made or the time is up.
auto_network() {
	local network=$1 end=$((SECONDS + $2)) k start takes
	takes=$((${#auto_programs[@]} * 2 * (TORCH_S + AUTO_TRAIN_S) + AUTO_CALIBRATION_S))
	for ((k = auto_first; k < auto_first + auto_runs; k++)); do
		fits "$takes" "$end" "auto $network, repetition $k" || return 0
		start=$SECONDS
		auto_repetition "$network" "$k" $((end - SECONDS))
		takes=$((SECONDS - start))
		say "auto $network, repetition $k: $takes s, at $SECONDS s"
	done
}

# auto SECONDS
auto() {
	local end=$((SECONDS + $1)) network left=${#auto_networks[@]}
	auto_names
	if [ $((${auto_topology%x*} * ${auto_topology#*x})) -gt "$gpus" ]; then
		mps_up || return 0
	fi
	for network in "${auto_networks[@]}"; do
		if [ "$network" = loopback ] || [ -n "$dry" ]; then
			auto_network "$network" $(((end - SECONDS) / left))
		elif to_shaped; then
			auto_network "$network" $(((end - SECONDS) / left))
			{ [ "$left" = 1 ] && ! wanted settle; } || to_loopback
		fi
		left=$((left - 1))
	done
	mps_down
	unset NT_GPU_RANK
}

# ---- smoke

readonly SMOKE_SIZES=64K,16M SMOKE_ITERS=300 SMOKE_CALIBRATE_S=30

# smoke_line NAME POLICY OPTION...: of the benchmark
smoke_line() {
	local name=$1 policy=$2
	shift 2
	command_line=("$bench" --sizes "$SMOKE_SIZES" --iters "$SMOKE_ITERS" --warmup 2 --rendezvous "$work/meet" --stall 20
		"$@")
	[ -z "$dry" ] || dry_command loopback bench "$auto_topology"
	batch_line "$raw/smoke-$name.$auto_topology.$policy.1" 40 "$policy" "${command_line[@]}"
}

smoke_lines() {
	local some=("$stage/bin/nccl-tune" calibrate --time "${SMOKE_CALIBRATE_S}s"
		--profile-file "$stage/share/nccl-tune/profiles.conf") library=()
	[ -z "$python_nccl" ] || library=(--nccl "$python_nccl/libnccl.so.2")
	smoke_line check off "${library[@]}" --check light
	smoke_line graph off "${library[@]}" --check light --mode graph
	smoke_line found bandit --check light
	[ -z "$dry" ] || some=(env "LD_LIBRARY_PATH=$stage/libexec/nccl-tune/tests/simulated" "${some[@]}")
	batch_line "$raw/smoke-calibrate.$auto_topology.calibrate.1" $((2 * SMOKE_CALIBRATE_S)) calibrate "${some[@]}"
}

# smoke SECONDS
smoke() {
	local dir lines=$work/smoke.lines
	say "python3: $(type -P python3), its NCCL: ${python_nccl:-none}"
	[ -n "$dry" ] || timeout 60 python3 -c 'import torch; print("torch", torch.__version__, "NCCL", torch.cuda.nccl.version())'
	smoke_lines >"$lines"
	if [ -z "$nccl" ]; then
		local paths
		paths=$(paths_without_nccl)
		local -x LD_LIBRARY_PATH=$paths
	fi
	batch_job "$raw/smoke-job.$auto_topology.job.1" "$work/state.smoke" "$lines" "$auto_topology" "$1" || :
	for dir in "$raw"/smoke-*.*.*.1; do
		[ -e "$dir/status" ] || continue
		say "${dir##*/}: exit status and seconds: $(cat "$dir/status")"
		cut -c -400 "$dir/err" | tail -n 12
		cut -c -400 "$dir/out" | tail -n 40
	done
	cp "$raw/smoke-job.$auto_topology.job.1/log" "$out/smoke.log"
}
