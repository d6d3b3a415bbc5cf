#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# nccl-tests.sh SOURCES FILE - build all_reduce_perf of NVIDIA's nccl-tests for this machine's GPUs, with the NCCL of
# Python's package or of the system. SOURCES stays as it is.
set -euo pipefail
sources=$1 file=$2
[ -d "$sources/src" ] || { echo "no sources of nccl-tests in '$sources'" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
options=(CUDA_HOME="$(dirname "$(dirname "$(readlink -f "$nvcc")")")" BUILDDIR="$work/build")
package=$(python3 -c 'import nvidia.nccl as n; print(list(n.__path__)[0])' 2>/dev/null || :)
if [ -n "$package" ]; then	# it has no libnccl.so, which the linker wants
	mkdir -p "$work/nccl/lib"
	ln -s "$package/include" "$work/nccl/include"
	ln -s "$package/lib/libnccl.so.2" "$work/nccl/lib/libnccl.so"
	options+=(NCCL_HOME="$work/nccl")
fi
capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -n 1 | tr -d . || :)
options+=(NVCC_GENCODE="-gencode=arch=compute_${capability:-90},code=sm_${capability:-90}")
cp -R "$sources" "$work/nccl-tests"
make -C "$work/nccl-tests/src" -j"$(nproc)" "${options[@]}" os.build
make -C "$work/nccl-tests/src" -j"$(nproc)" "${options[@]}" "$work/build/all_reduce_perf"
cp "$work/build/all_reduce_perf" "$file"
