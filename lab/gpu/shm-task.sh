#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# shm-task.sh MB|full|none FILE CMD... - CMD with a /dev/shm of so many MB, in a mount namespace of its own. FILE gets what
# was in use there at most: "USED_KB FILES", and what these files were.
size=$1 file=$2
shift 2
case $size in
none) umount -l /dev/shm || mount -t tmpfs -o size=64m,mode=0555,ro none /dev/shm ;;
full) mount -t tmpfs -o size=16m none /dev/shm && head -c 16m /dev/zero >/dev/shm/full ;;
*) mount -t tmpfs -o "size=${size}m" none /dev/shm ;;
esac || exit 90

used_kb() {
	stat -f -c '%b %f %S' /dev/shm | awk '{ print ($1 - $2) * $3 / 1024 }'
}

most=$(used_kb)
echo "$most" >"$file"
"$@" &
pid=$!
trap 'kill -TERM $pid' TERM
while kill -0 "$pid" 2>/dev/null; do
	now=$(used_kb)
	if [ "$now" -gt "$most" ]; then
		most=$now
		{
			echo "$now $(find /dev/shm -type f | wc -l)"
			find /dev/shm -type f -printf '%s %k %f\n'
		} >"$file"
	fi
	sleep 0.1
done
wait "$pid"
