#!/bin/bash
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# agree-task.sh DIR PROGRAM [ARG]...: one task of a job of agree.bash, whose program begins and whose task ends when told
dir=$1 task=$SLURM_PROCID
shift

# until_told FILE: not longer than a job of agree.bash takes
until_told() {
	local deadline=$((SECONDS + 1200))
	until [ -e "$dir/$1" ] || [ "$SECONDS" -gt "$deadline" ]; do
		sleep 0.1
	done
}

echo "$PPID" >"$dir/begin.$task.tmp" && mv "$dir/begin.$task.tmp" "$dir/begin.$task"
until_told go
"$@" >"$dir/out.$task" 2>"$dir/err.$task" &
echo "$!" >"$dir/program.$task"
wait "$!"
status=$?
echo "$status" >"$dir/end.$task"
until_told leave
exit "$status"
