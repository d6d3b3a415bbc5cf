#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# What can be seen of the GPU tests without a GPU.
bats_require_minimum_version 1.5.0

@test "docs/results.md and its plots are what page.py makes of the measured figures" {
	local top=$BATS_TEST_DIRNAME/../.. copy=$BATS_TEST_TMPDIR/docs
	mkdir -p "$copy/results/plots" "$BATS_TEST_TMPDIR/tests"
	cp -R "$top/docs/results" "$copy/" && rm -rf "$copy/results/plots"
	ln -s "$(cd "$top/tests/traces" && pwd)" "$BATS_TEST_TMPDIR/tests/traces"
	run -0 env PYTHONDONTWRITEBYTECODE=1 python3 "$BATS_TEST_DIRNAME/page.py" "$copy/results" "$copy/results.md"
	diff "$top/docs/results.md" "$copy/results.md"
	diff -r "$top/docs/results/plots" "$copy/results/plots"
}

@test "programs as users start them, a small /dev/shm and nccl-tests run without a GPU, and their tables have each run" {
	local out=$BATS_TEST_TMPDIR/out
	[ "$(id -u)" = 0 ] || skip "no mount namespaces without root"
	run -0 timeout 400 "$BATS_TEST_DIRNAME/run.sh" --dry --parts frameworks,shm,ncclperf --fw-networks loopback --fw-programs ddpx2 \
		--fw-ways off,site2 --fw-runs 1 --shm-sizes 8,full --shm-modes off,bandit --perf-runs 1 --budget 300 --out "$out"
	grep -Eq '^\| DDP, torchrun, 2 ranks a task, 2x1x2 \| [0-9.]+ \| [0-9.]+, [0-9.]+ x' "$out/frameworks.txt"
	grep -q '2 steps, 0 of them failed' "$out/frameworks.txt"
	[ "$(grep -c '| well |' "$out/shm.txt")" = 4 ]
	grep -Eq '^\| full \| off \| well \| [0-9.]+ \| 16.0 ' "$out/shm.txt"
	[ "$(grep -cE '^ +(8|1K|128K) (off|observe|bandit) ' "$out/ncclperf.txt")" = 18 ]
	grep -q '6 runs, 0 failed' "$out/ncclperf.txt"
}
