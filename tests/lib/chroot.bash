# shellcheck shell=bash disable=SC2154
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# ./dev test --on HOST: another release of Debian, in a chroot that is made once and kept. Part of dev; reads $top.
#
# Whatever runs there has namespaces of its own for mounts, processes, host name, shared memory and (but for installing
# packages) the network. They end with this process, however it ends, and with them all that was mounted or ran in them.

readonly CHROOTS=${NT_CHROOTS:-/var/cache/nccl-tune/chroots}
readonly CHROOT_HOSTS=(trixie sid)
# What a machine has and debootstrap's smallest system has not.
readonly CHROOT_BASE=(ccache e2fsprogs iproute2)
readonly CHROOT_TREES=/srv/nccl-tune CHROOT_CCACHE=/var/cache/ccache	# in the chroot
readonly CUDA=/usr/local/cuda
# Before a command: it and all that it starts end with this process.
readonly NAMESPACES=(setpriv --pdeathsig KILL unshare --mount --pid --fork --kill-child)

# chroot_known HOST
chroot_known() {
	[ -n "$1" ] && [[ " ${CHROOT_HOSTS[*]} " = *" $1 "* ]]
}

# test_on HOST [ARG]...: what `./dev test ARG...` says there, and its exit status.
test_on() {
	local host=$1 root=$CHROOTS/$1 tree in_use busy rc=0
	shift
	[ "$(id -u)" = 0 ] || die "test --on $host needs root: it makes a chroot"
	mkdir -p "$CHROOTS"
	exec {in_use}>"$CHROOTS/$host.lock"
	flock -s "$in_use"
	chroot_is_ready "$root" || { flock "$in_use"; make_chroot "$host"; flock -s "$in_use"; }
	tree=$CHROOT_TREES/${top##*/}-$(cksum <<<"$top" | cut -d' ' -f1)
	mkdir -p "$root$tree"
	exec {busy}>"$root$tree.lock"
	flock -n "$busy" || die "another run of this tree is under way on $host"
	copy_tree "$root$tree"
	say "on $host: $(chroot_words "$root"), in $root"
	in_chroot "$host" alone "$tree" ./dev test "$@" || rc=$?
	exit "$rc"
}

# chroot_words ROOT: what makes a host differ for us.
chroot_words() {
	local package words=
	for package in slurmd libpmix-dev openmpi-bin gcc; do
		words+=", $package $(DPKG_ADMINDIR=$1/var/lib/dpkg dpkg-query -W -f '${Version}' "$package")"
	done
	echo "${words#, }"
}

# ---- the chroot

chroot_is_ready() {
	[ -d "$1" ] && grep -q "^$TEST_USER:" "$1/etc/passwd" &&
		[ -z "$(DPKG_ADMINDIR=$1/var/lib/dpkg missing_packages "${CHROOT_BASE[@]}" "${TEST_PACKAGES[@]}" \
			"${LINT_PACKAGES[@]}")" ]
}

# make_chroot HOST: under a directory of another name until it is whole; then `./dev setup` of this tree, there.
make_chroot() {
	local host=$1 root=$CHROOTS/$1 mirror
	if [ ! -d "$root" ]; then
		setup debootstrap
		mirror=$(debian_mirror)
		say "debootstrap $host from $mirror; what it says is in $root.log"
		rm -rf --one-file-system "$root.new"
		bounded "$APT_S" "debootstrap $host" \
			"${NAMESPACES[@]}" --mount-proc debootstrap --variant=minbase \
			"$host" "$root.new" "$mirror" >"$root.log" 2>&1 ||
			{ tail -n 20 "$root.log" >&2; die "debootstrap $host failed"; }
		mv "$root.new" "$root"
	fi
	# The clock and the proxies of this machine are those of the chroot.
	apt-config dump | grep -E '^Acquire::(Check-Valid-Until|Check-Date|https?::Proxy) ' \
		>"$root/etc/apt/apt.conf.d/99this-machine" || :
	cp -L /etc/resolv.conf "$root/etc/resolv.conf"
	mkdir -p "$root$CHROOT_TREES/setup/tests/lib"
	cp dev "$root$CHROOT_TREES/setup"
	cp tests/lib/*.bash "$root$CHROOT_TREES/setup/tests/lib"
	say "setup on $host"
	# shellcheck disable=SC2016 # the inner shell's
	in_chroot "$host" online / bash -c 'export DEBIAN_FRONTEND=noninteractive
		apt-get -q update && apt-get -q install -y --no-install-recommends "$@"' - \
		"${CHROOT_BASE[@]}" >>"$root.log" 2>&1 || { tail -n 20 "$root.log" >&2; die "apt-get on $host failed"; }
	in_chroot "$host" online "$CHROOT_TREES/setup" ./dev setup || die "setup on $host failed"
}

# Where this machine has Debian from.
debian_mirror() {
	local mirror
	# shellcheck disable=SC2016 # apt's own variables
	mirror=$(apt-get indextargets --format '$(ORIGIN)/$(LABEL) $(REPO_URI)' 'Created-By: Packages' |
		sed -n 's,^Debian/Debian ,,p' | head -n 1)
	[ -n "$mirror" ] || die "apt's sources here name no mirror of Debian (or none that apt-get update has read)"
	echo "$mirror"
}

# clean_chroots: none that is in use.
clean_chroots() {
	local host in_use
	[ -d "$CHROOTS" ] || return 0
	for host in "${CHROOT_HOSTS[@]}"; do
		exec {in_use}>"$CHROOTS/$host.lock"
		flock -n "$in_use" || die "a run on $host is under way"
		rm -rf --one-file-system "${CHROOTS:?}/$host" "$CHROOTS/$host".{new,log,lock}
		exec {in_use}>&-
	done
	rmdir --ignore-fail-on-non-empty "$CHROOTS"
}

# ---- the tree there: a copy, since what is built and configured there stays beside it

# copy_tree DIRECTORY: times are kept, so that make sees what changed. What is gone here goes there.
copy_tree() {
	local to=$1
	tree_files >"$to/.copied.new"
	if [ -e "$to/.copied" ]; then
		LC_ALL=C comm -23 "$to/.copied" "$to/.copied.new" | (cd "$to" && xargs -r -d '\n' rm -f)
	fi
	tar -c --no-recursion --verbatim-files-from -T "$to/.copied.new" | tar -x --no-same-owner -C "$to"
	mv "$to/.copied.new" "$to/.copied"
}

tree_files() {
	local file
	{ git ls-files --cached --others --exclude-standard 2>/dev/null ||
		find . \( -name .git -o -path './build*' ! -path './build-aux*' \) -prune -o ! -type d -printf '%P\n'; } |
		while read -r file; do
			if [ -e "$file" ] || [ -L "$file" ]; then
				echo "$file"
			fi
		done | LC_ALL=C sort -u
}

# ---- a command there

# in_chroot HOST alone|online DIRECTORY CMD...: without or with the network. An INT or TERM ends all of it at once.
in_chroot() {
	local host=$1 network=$2 directory=$3 pid own=(--uts --ipc) environment
	[ "$network" = online ] || own+=(--net)
	shift 3
	set_environment
	set -m	# a background process of a script would ignore INT
	env -i "${environment[@]}" "${NAMESPACES[@]}" "${own[@]}" \
		bash -euc "$(declare -f mount_all own_network first_process); first_process \"\$@\"" - \
		"$CHROOTS/$host" "$host" "$network" "$CUDA" "$directory" "$@" </dev/null &
	pid=$!
	set +m
	# shellcheck disable=SC2064 # the pid of now
	trap "kill -KILL $pid; echo 'dev: interrupted; what ran on $host was ended' >&2; exit 130" INT TERM
	wait "$pid"
}

# The only variables that go there: how to find things, and ours.
set_environment() {
	local name
	environment=(HOME=/root LANG=C.UTF-8 TERM="${TERM:-dumb}"
		PATH=/usr/lib/ccache:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
		CCACHE_DIR="$CHROOT_CCACHE" CCACHE_BASEDIR="$CHROOT_TREES" CCACHE_NOHASHDIR=1)
	for name in $(compgen -e NT_); do
		case $name in
		NT_CHROOTS|NT_STAGE|NT_BUILD|NT_CLUSTER|NT_BASE|NT_TESTS|NT_TOP) ;;	# places of this side
		*) environment+=("$name=${!name}") ;;
		esac
	done
}

# ---- inside the namespaces: these see nothing of this file but each other

mount_all() {
	local root=$1 cuda=$2
	mount --bind "$root" "$root"
	mount -t proc proc "$root/proc"
	mount -t sysfs sysfs "$root/sys"
	[ ! -d /sys/fs/cgroup ] || mount --rbind /sys/fs/cgroup "$root/sys/fs/cgroup"
	mount --rbind /dev "$root/dev"
	mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
	mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
	mount -t tmpfs -o mode=755 tmpfs "$root/run"
	if [ -d "$cuda" ]; then
		mkdir -p "$root$cuda"
		mount --bind "$cuda" "$root$cuda"
		mount -o remount,bind,ro "$root$cuda"
	fi
}

# first_process ROOT HOST NETWORK CUDA DIRECTORY CMD...: of its process namespace; takes in orphans until CMD ends. What
# was / before is gone there: tests make namespaces of their own, and in a chroot that is not allowed.
first_process() {
	local root=$1 host=$2 network=$3 cuda=$4 directory=$5 rc=0
	shift 5
	mount_all "$root" "$cuda"
	echo "nt-$host" >/proc/sys/kernel/hostname
	printf '127.0.0.1 localhost nt-%s\n' "$host" >"$root/etc/hosts"
	cd "$root" || exit
	pivot_root . .
	umount -l .
	[ "$network" = online ] || own_network
	umask 022
	cd "$directory" || exit
	"$@" || rc=$?
	exit "$rc"
}

# One address is no loopback address: without, getaddrinfo (AI_ADDRCONFIG) tells Slurm's daemons that there is no IPv4.
own_network() {
	ip link set lo up
	ip address replace 192.0.2.1/32 dev lo
}
