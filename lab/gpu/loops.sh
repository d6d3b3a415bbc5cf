#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# loops.sh NODESxGPUS ROUNDS NAME=VARIABLES... - AllReduce in undisturbed loops of PyTorch, without a plugin
#
# For each NAME a process a GPU with these variables of NCCL ("A=1 B=2"; may be empty), in turn, ROUNDS times. Nodes are
# emulated (NCCL_HOSTID) and connected by loopback sockets; each rank has its share of the processors. loops.py says what is
# printed.
set -uo pipefail

[ $# -ge 3 ] || { sed -n '5,9s/^# \{0,1\}//p' "$0"; exit 2; }
here=$(dirname "${BASH_SOURCE[0]}")
per_node=${1#*x} ranks=$((${1%x*} * ${1#*x})) rounds=$2 topology=$1
shift 2
export NCCL_NVLS_ENABLE=0 NCCL_SOCKET_IFNAME=lo NCCL_IB_DISABLE=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=23000 WORLD_SIZE=$ranks
share=$(($(nproc) / ranks))
for ((round = 0; round < rounds; round++)); do
	for one in "$@"; do
		read -ra variables <<<"${one#*=}"
		MASTER_PORT=$((MASTER_PORT + 1))
		for ((rank = 0; rank < ranks; rank++)); do
			env ${variables[@]+"${variables[@]}"} RANK="$rank" LOCAL_RANK="$rank" NCCL_HOSTID="node$((rank / per_node))" \
				taskset -c "$((rank * share))-$((rank * share + share - 1))" timeout 60 \
				python3 "$here/loops.py" "$topology.${one%%=*}" &
		done
		wait
	done
done
