#!/bin/sh
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# own-host.sh NAME CMD... - in a UTS namespace of its own: the command on a host of that name
set -e
hostname "$1"
shift
exec "$@"
