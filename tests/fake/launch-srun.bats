#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# The plugin inside a wide launch, on the mini cluster: one batch job, steps with and without launch variables.
bats_require_minimum_version 1.5.0
load ../lib/cluster

readonly WIDE=NCCL_MIN_NCHANNELS=8+NCCL_SOCKET_NTHREADS=2+NCCL_NSOCKS_PERTHREAD=4

setup_file() {
	cluster_start_tuned 2
	export MADE=$NT_BASE/made
	mkdir -m 755 "$MADE"
	"$NT_TESTS/nt-launch-trace" --best wide --topology 2x2 --picks "$MADE/picks.csv" >"$MADE/wide.csv"
	chmod a+r "$MADE"/*
	cat >"$MADE/job.sh" <<-END
		#!/bin/bash
		# job.sh OUT: each combination of launch variables and plugin, a step each; again, and longer, where it has not decided
		fake() {
			srun --mpi=pmix --nccl-tune="\$1" "$NT_TESTS/nt-fake-nccl" --sizes 256K,16Mx2,64K --iters "\$2" --call-gap-us 100 \\
				--trace "$MADE/wide.csv" --auto-picks "$MADE/picks.csv"
		}
		for set in none $WIDE; do
			for mode in off bandit,channels=on; do
				(
					[ \$set = none ] || { IFS=+; export \$set; }
					unset IFS
					to="\$1/\${set%%=*}.\${mode%%,*}"
					for iters in 3000 12000 48000; do
						fake \$mode \$iters >"\$to" || exit
						! grep -q '"mask":[1-9]' "\$to" || continue
						break
					done
				) || exit
			done
		done
	END
	chmod 755 "$MADE/job.sh"
}

# last FILE SIZE: microseconds of the last tenth of the calls.
last() {
	jq --argjson size "$2" '.keys[] | select(.bytes == $size) | .last_us' "$out/$1"
}

@test "wide launch variables alone lose at small sizes; with the plugin every size is faster" {
	out=$NT_BASE/out
	mkdir -m 777 "$out"
	run -0 as_user sbatch --wait -N2 --ntasks-per-node=2 -t 60 -o "$out/log" "$MADE/job.sh" "$out"
	[ "$(find "$out" -name '*.off' -o -name '*.bandit' | wc -l)" = 4 ] || { cat "$out/log"; false; }
	local wide=NCCL_MIN_NCHANNELS size
	jq -e '.launch == "none" and .mismatches == 0' "$out/none.bandit"
	jq -e '.launch | test("NCCL_SOCKET_NTHREADS=2")' "$out/$wide.bandit"
	for size in 65536 262144; do
		jq -en "$(last $wide.off "$size") > 1.2 * $(last none.off "$size")"
	done
	for size in 65536 262144 16777216; do
		jq -en "$(last $wide.bandit "$size") < 0.9 * $(last none.off "$size")"
	done
	jq -en "$(last $wide.bandit 16777216) < 0.4 * $(last none.bandit 16777216)"
	jq -e '.keys[] | select(.bytes == 262144) | .arm | test("/[124]ch$")' "$out/$wide.bandit"
}
