# shellcheck shell=bash
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# A copy of this machine to install things into: what is written in it is in memory, and gone with it. The directory
# $NT_BASE and the tree are those of the machine, /run is empty. Its mounts are in a namespace of its own, where nothing
# outside sees them, or removes what they lead to.
#
#   copy_start DIR        a new one below NT_BASE; sets NT_COPY, the process that holds it; fails where such mounts are not allowed
#   in_copy CMD...        run CMD in it
#   copy_stop

readonly COPY_S=1500	# a copy that nobody ends is gone by then
readonly COPY_MARK=run/nt-copy

copy_start() {
	mkdir -p "$1"
	setsid unshare --mount --propagation private bash -c "$(declare -f copy_mounts); copy_mounts"' "$@"' - \
		"$1" "$NT_TOP" "$NT_BASE" "$COPY_S" "$COPY_MARK" </dev/null >"$1.log" 2>&1 3>&- &
	export NT_COPY=$!
	wait_for 60 copy_is_decided && is_copy
}

copy_is_decided() {
	is_copy || ! kill -0 "$NT_COPY" 2>/dev/null
}

# What is meant for the copy must never happen to the machine.
is_copy() {
	[ -n "${NT_COPY:-}" ] && [ -e "/proc/$NT_COPY/root/$COPY_MARK" ] && [ ! -e "/$COPY_MARK" ]
}

# In the namespace. The holder is an ordinary process of the copy.
copy_mounts() {
	local at=$1 tree=$2 base=$3 place
	mount -t tmpfs -o mode=755 tmpfs "$at" || exit 1
	mkdir "$at"/{upper,work,root}
	mount -t overlay -o "lowerdir=/,upperdir=$at/upper,workdir=$at/work" overlay "$at/root" || exit 1
	for place in /proc /sys /dev "$tree"; do
		mkdir -p "$at/root$place" && mount --rbind "$place" "$at/root$place" || exit 1
	done
	mount -t tmpfs -o mode=755 tmpfs "$at/root/run" || exit 1
	mkdir -p "$at/root$base" && mount --bind "$base" "$at/root$base" || exit 1
	touch "$at/root/$5"
	cd / && exec chroot "$at/root" sleep "$4"
}

in_copy() {
	is_copy || { echo "no copy to run $1 in" >&2; return 1; }
	nsenter --target "$NT_COPY" --mount --root --wd -- "$@"
}

copy_stop() {
	[ -z "${NT_COPY:-}" ] || kill -KILL "$NT_COPY" 2>/dev/null
	return 0
}
