# shellcheck shell=bash disable=SC2154
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# all_reduce_perf of NVIDIA's nccl-tests on two GPUs of one node (ncclperf): long runs of small sizes and short runs of all,
# by turns without the plugin, in mode observe and in mode bandit. The program is not ours: --nccl-tests names it, or its
# sources, which are built here and left in the output's directory. Part of lab/gpu/run.sh; ncclperf_summary.py reads what
# these runs leave.

readonly NCCLPERF_LONG=(-b 8 -e 128K -f 128 -t 2 -g 1 -n 20000 -N 4)
readonly NCCLPERF_SHORT=(-b 8 -e 256M -f 4 -t 2 -g 1 -n 200)
readonly NCCLPERF_LIMIT_S=60 NCCLPERF_S=9

# ncclperf_program: sets ncclperf.
ncclperf_program() {
	ncclperf=$nccl_tests
	if [ -n "$dry" ] || [ -f "$ncclperf" ]; then
		return 0
	fi
	timeout 240 "$here/nccl-tests.sh" "$nccl_tests" "$out/all_reduce_perf" >"$out/nccl-tests.log" 2>&1 ||
		{ say "ncclperf: not built: $(tail -n 3 "$out/nccl-tests.log")"; return 1; }
	ncclperf=$out/all_reduce_perf
	say "ncclperf: built, at $SECONDS s"
}

# ncclperf_command long|short: sets command_line.
ncclperf_command() {
	local options=("${NCCLPERF_LONG[@]}")
	[ "$1" = long ] || options=("${NCCLPERF_SHORT[@]}")
	command_line=("$ncclperf" "${options[@]}")
	[ -z "$dry" ] || command_line=("$stage/libexec/nccl-tune/tests/nt-fake-nccl" --ranks-in-process 2 --sizes 8,1K,128K
		--iters "$([ "$1" = long ] && echo 1000 || echo 200)")
}

# ncclperf_runs SECONDS
ncclperf_runs() {
	local end=$((SECONDS + $1)) kind mode k modes=("${NCCLPERF_MODES[@]}" "${NCCLPERF_MODES[@]}") n=${#NCCLPERF_MODES[@]} dir
	ncclperf_program || return 1
	allocate 1 1 || { say "ncclperf: no allocation"; return 0; }
	for ((k = 1; k <= perf_runs; k++)); do
		for kind in long short; do
			ncclperf_command "$kind"
			for mode in "${modes[@]:$((k % n)):$n}"; do
				dir=$raw/ncclperf-$kind.1x2.$mode.$k
				[ ! -e "$dir/status" ] || continue
				fits "$NCCLPERF_S" "$end" "ncclperf $kind $mode $k" || continue
				step "$dir" "$NCCLPERF_LIMIT_S" 1 1 "$mode" "${command_line[@]}" ||
					say "${dir##*/}: exit status $?"
			done
		done
		write_results
	done
	release
	say "ncclperf: at $SECONDS s"
}
readonly NCCLPERF_MODES=(off observe bandit)
