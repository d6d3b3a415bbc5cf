#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# build.sh OUT [SYNC [FLAG]...] - nt-agree-sim in one compiler call, with the pmix-sync of another directory
#
# SYNC holds a directory pmix-sync (default: this tree). -static gives a program that runs on any Linux machine of the
# same architecture.
set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
out=$1
sync=${2:-$top}
sources=("$top"/lab/sim/{agree-sim,comms,network,rank,tally,trace,tuner,world}.c "$top"/tests/model/{trace,trace-check,trace-wrap}.c
	"$top"/lib/{append,error,number,printable}.c "$top/contract/reason.c")
for file in "$sync"/pmix-sync/*.c; do
	case ${file##*/} in
	pmix-log.c|node-leader.c) ;;	# PMIx and the loop around it: the simulation has its own
	*) sources+=("$file") ;;
	esac
done
exec "${CC:-cc}" -std=gnu11 -O2 -D_GNU_SOURCE -I"$sync" -I"$top" -include "$top/lab/sim/interleave.h" \
	-Wl,@"$top/tests/model/trace-wrapped" "${@:3}" -o "$out" "${sources[@]}"
