#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# launch-task.sh srun [ARG]... - run that, each task being this file with `task`; prints how long it took until all tasks
# ran, and from then until srun had ended, in microseconds. With RECORD=1 a tuned task leaves the record of a rank.
set -eu

if [ "$1" = task ]; then
	[ -z "${RECORD:-}" ] || [ -z "${NCCL_TUNE_POLICY:-}" ] || "$(dirname "$0")/rank" committed
	echo "$EPOCHREALTIME"
	exit
fi

began=${EPOCHREALTIME/./}
stamps=$("$@" "$0" task)
ended=${EPOCHREALTIME/./}
last=$(sort -n <<<"$stamps" | tail -n 1)
last=${last/./}
echo "$((last - began)) $((ended - last))"
