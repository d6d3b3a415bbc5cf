# shellcheck shell=bash
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# A fresh Debian with a Slurm of two nodes, n1 and n2, to install things into: $NT_FRESH (tests/lib/chroot.bash) with what
# is written in memory. It has namespaces of its own, for the network too, and is gone with them. For bats; after cluster.bash.
#
#   site_start DIR               sets NT_SITE, the process that holds it
#   on_site CMD...               as root
#   on_site_as alice CMD...      as that user, with nothing but a login's variables
#   site_stop

# shellcheck source=chroot.bash
. "$NT_TOP/tests/lib/chroot.bash"
readonly SITE_S=2400	# one that nobody ends is gone by then

# site_start DIR: its machine, with the debs of $packages in root's directory; no daemon runs yet
site_start() {
	mkdir -p "$1"
	setsid unshare --mount --pid --fork --kill-child --uts --ipc --net bash -euc \
		"$(declare -f mount_all own_network first_process site_mounts); site_mounts \"\$@\"" - \
		"$1" "$NT_FRESH" "$SITE_S" </dev/null >"$1.log" 2>&1 3>&- &
	site_parent=$!
	wait_for 60 site_is_there || { cat "$1.log" >&2; return 1; }
	NT_SITE=$(site_process)
}

site_process() {
	local child=
	read -r child _ <"/proc/$site_parent/task/$site_parent/children" || [ -n "$child" ] && echo "$child"
}

site_is_there() {
	[ -e "/proc/$(site_process)/root/run/nt-site" ]
}

# In the namespaces: site_mounts DIR LOWER SECONDS
site_mounts() {
	mount -t tmpfs -o mode=755 tmpfs "$1"
	mkdir "$1"/{upper,work,root}
	mount -t overlay -o "lowerdir=$2,upperdir=$1/upper,workdir=$1/work" overlay "$1/root"
	first_process "$1/root" site alone '' '' / bash -c "touch /run/nt-site; sleep $3 & wait \$!"
}

on_site() {
	on_site_as root "$@"
}

# on_site_as USER CMD...: what is meant for the site must never happen to this machine.
on_site_as() {
	local user=$1 home=/root by=()
	shift
	[ -e "/proc/${NT_SITE:-none}/root/run/nt-site" ] || { echo "no site to run $1 on" >&2; return 1; }
	if [ "$user" != root ]; then
		home=/home/$user
		by=(setpriv --reuid "$user" --regid "$user" --init-groups --)
	fi
	timeout -k 5 "$NT_TIMEOUT_S" nsenter --target "$NT_SITE" --mount --pid --net --uts --ipc --root --wd -- \
		env -i "${by[@]}" env -C "$home" HOME="$home" USER="$user" LOGNAME="$user" SHELL=/bin/bash LANG=C.UTF-8 \
		SYSTEMD_OFFLINE=1 DEBIAN_FRONTEND=noninteractive \
		PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
}

# to_site FILE... DIRECTORY
to_site() {
	cp -RL "${@:1:$#-1}" "/proc/$NT_SITE/root${*: -1}"
}

site_stop() {
	[ -z "${site_parent:-}" ] || { kill -KILL "$site_parent" && wait "$site_parent"; } 2>/dev/null || :
}
