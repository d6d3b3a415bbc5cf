# shellcheck shell=bash disable=SC2054,SC2154
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# What programs do with NCCL beside plain calls, while the plugin explores: CUDA graphs, groups, split communicators,
# aborts. Results are compared element by element; a round that does not end within seconds ends the run.
# Part of lab/gpu/run.sh; correct_summary.py reads what these runs leave.

readonly CORRECT_STEP_S=60 CORRECT_STALL_S=20 CORRECT_TAKES_S=12
readonly CORRECT_POLICY=bandit,min_calls=8,min_share=0,screen_blocks=3,confirm_blocks=8,alpha=0.2,min_gain=1
readonly CORRECT_COLLS=allreduce,allgather,reducescatter
readonly CORRECT_KINDS=(graph-late abort grouped split graph-early split-share abort-grouped)

# Rounds in which ranks agree and explore: in one node calls are short, and what passes is time.
correct_rounds() {
	case $1 in
	1x*) echo 12000 ;;
	*) echo 2000 ;;
	esac
}

# correct_command KIND TOPOLOGY: sets command_line.
correct_command() {
	local kind=$1 half=$((gpus > 2 ? gpus / 2 : 1)) rounds
	rounds=$(correct_rounds "$2")
	if [ -n "$dry" ]; then
		dry_correct_command "$kind"
		return
	fi
	command_line=("$bench" --coll "$CORRECT_COLLS" --sizes 64K,256K,1M --warmup 0 --check 200 --rendezvous "$work/meet"
		--stall "$CORRECT_STALL_S" --iters "$rounds")
	case $kind in
	graph-late) command_line+=(--mode mixed --burst 2 --capture-at $((rounds / 4)) --iters $((rounds / 2))) ;;
	graph-early) command_line+=(--mode graph --burst 4 --iters 400 --check 10) ;;
	grouped) command_line+=(--mode grouped --coll "$CORRECT_COLLS,broadcast,reduce") ;;
	split) command_line+=(--split "block:$half") ;;
	split-share) command_line+=(--split "stride:$half" --split-share) ;;
	abort) command_line+=(--split "block:$half" --abort-every $((rounds / 4))) ;;
	abort-grouped) command_line+=(--mode grouped --abort-every $((rounds / 6))) ;;
	esac
}

dry_correct_command() {
	command_line=("$stage/libexec/nccl-tune/tests/nt-fake-nccl" --coll "$CORRECT_COLLS" --sizes 64K,256K --iters 600
		--call-gap-us 200)
	case $1 in
	graph*) command_line+=(--capture 20x2) ;;
	grouped) command_line+=(--groups 4) ;;
	split*) command_line+=(--comms world+node) ;;
	abort*) command_line+=(--abort-every 150x3) ;;
	esac
}

# Each kind on each topology, kinds first: a run cut short has most of them.
correct() {
	local end=$((SECONDS + $1)) kind topology k=0
	for kind in "${CORRECT_KINDS[@]}"; do
		for topology in "${topologies[@]}"; do
			if [ $((SECONDS + CORRECT_TAKES_S)) -gt "$end" ]; then
				say "correct: no time for $kind $topology"
				continue
			fi
			correct_command "$kind" "$topology"
			allocate "${topology%x*}" "${topology#*x}" || { say "$kind: no allocation"; continue; }
			k=$((k + 1))
			step "$raw/correct-$kind.$topology.bandit.1" "$CORRECT_STEP_S" "${topology%x*}" "${topology#*x}" \
				"$CORRECT_POLICY" "${command_line[@]}" || say "correct $kind $topology: exit status $?"
			release
		done
	done
	[ -n "$dry" ] || inspect $((end - SECONDS))
	say "correct: $k runs, at $SECONDS s"
	write_results
}

# NCCL's Inspector behind ours, where its sources are. Its thread looks every 200 us: calls must be longer.
inspect() {
	local place
	for place in "${NT_INSPECTOR:-}" "$top/.gpu/inspector"; do
		[ -n "$place" ] && [ -e "$place" ] && break
	done
	if [ -z "$place" ] || [ ! -e "$place" ]; then
		say "inspector: left out, neither NT_INSPECTOR nor .gpu/inspector is there"
		return
	fi
	[ "$1" -ge 30 ] || { say "inspector: no time"; return; }
	mkdir -p "$raw/inspector"
	if timeout "$1" "$here/inspector.sh" "$place" "$stage" --sizes 128M,256M --iters 200 \
		--coll "$CORRECT_COLLS" >"$raw/inspector/out" 2>"$raw/inspector/err"; then
		echo 0 >"$raw/inspector/status"
	else
		echo 1 >"$raw/inspector/status"
	fi
	say "inspector: $(tail -n 1 "$raw/inspector/out")"
}
