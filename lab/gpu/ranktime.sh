#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# ranktime.sh DIR OUT: which rank's time orders arms as loops of them do (ranktime.c), on this machine's GPUs
#
# DIR has ranktime, nt-probe.so and ranktime.py. More ranks than GPUs share them by MPS, each rank a node of its own to
# NCCL, over loopback sockets. OUT/summary.txt, OUT/cases.csv and OUT/raw.tar.gz come of it, in some five minutes.
set -uo pipefail

# Topology, share of the calls, seconds at most.
readonly RUNS=("2x1 1 150" "4x1 0.7 170" "8x1 0.3 130")

here=$1 out=$2 dirs=()
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
nccl=$(timeout 60 python3 -c 'import nvidia.nccl as n; print(list(n.__path__)[0])')/lib/libnccl.so.2
export CUDA_MPS_PIPE_DIRECTORY=$work/mps/pipe CUDA_MPS_LOG_DIRECTORY=$work/mps/log NCCL_DEBUG=WARN
mkdir -p "$work/mps/pipe" "$work/mps/log"
timeout 30 nvidia-cuda-mps-control -d || echo "no CUDA MPS"
for run in "${RUNS[@]}"; do
	read -r topology scale limit <<<"$run"
	mkdir -p "$work/runs/$topology"
	rc=0
	timeout -k 5 "$limit" "$here/ranktime" --nodes "${topology%x*}" --ranks-per-node "${topology#*x}" \
		--probe "$here/nt-probe.so" --out "$work/runs/$topology" --nccl "$nccl" --scale "$scale" \
		>"$work/runs/$topology/log" 2>&1 || rc=$?
	[ "$rc" != 0 ] || dirs+=("$work/runs/$topology")
	echo "$topology: status $rc, at $SECONDS s"
	tail -n 8 "$work/runs/$topology/log"
	sed -i '/^decision/d' "$work/runs/$topology"/probe.*.csv
done
echo quit | timeout 30 nvidia-cuda-mps-control >/dev/null
tar -C "$work/runs" -czf "$out/raw.tar.gz" .
[ ${#dirs[@]} -gt 0 ] || exit 1
timeout 60 python3 "$here/ranktime.py" "${dirs[@]}" >"$out/summary.txt"
mv "$work/runs/cases.csv" "$out/"
sed -n '/cases right/,$p' "$out/summary.txt"
