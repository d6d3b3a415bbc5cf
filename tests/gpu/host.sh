#!/bin/sh
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# host.sh - Slurm's TaskProlog: each of its nodes is a host of its own to NCCL, also in steps that do not start by rank.sh.
echo "export NCCL_HOSTID=$SLURMD_NODENAME"
