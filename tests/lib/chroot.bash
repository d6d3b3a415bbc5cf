# shellcheck shell=bash
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# ./dev test --on HOST: another release of Debian, in a chroot that is made once and kept. Part of dev; reads $top.
#
# Whatever runs there has namespaces of its own for mounts, processes, host name, shared memory and (but for installing
# packages) the network. They end with this process, however it ends, and with them all that was mounted or ran in them.
#
# Beside these, fresh-RELEASE: a Debian with Slurm as its packages leave it, and nothing of nccl-tune or of its tests, for
# the tests that install (tests/install).

readonly CHROOTS=${NT_CHROOTS:-/var/cache/nccl-tune/chroots}
readonly CHROOT_HOSTS=(trixie sid)
# What a machine has and debootstrap's smallest system has not.
readonly CHROOT_BASE=(ccache e2fsprogs iproute2)
readonly CHROOT_TREES=/srv/nccl-tune CHROOT_CCACHE=/var/cache/ccache	# in the chroot
readonly CUDA=/usr/local/cuda
# What a site has. Of SITE_NEEDS only the debs are kept there: their libraries are what apt-get adds for our packages.
readonly SITE_PACKAGES=(slurmctld slurmd slurmdbd slurm-client slurm-wlm-basic-plugins slurm-wlm-mysql-plugin munge
	mariadb-server libpmix-dev systemd iproute2 procps)
readonly SITE_NEEDS=(libslurm-dev libjson-c-dev libexpat1-dev libhwloc-dev libinih-dev zlib1g-dev)
readonly FRESH=$CHROOT_TREES/fresh	# where a chroot of --on has it
# Before a command: it and all that it starts end with this process.
readonly NAMESPACES=(setpriv --pdeathsig KILL unshare --mount --pid --fork --kill-child)

# chroot_known HOST
chroot_known() {
	[ -n "$1" ] && [[ " ${CHROOT_HOSTS[*]} " = *" $1 "* ]]
}

# test_on HOST [ARG]...: what `./dev test ARG...` says there, and its exit status.
test_on() {
	local host=$1 root=$CHROOTS/$1 tree busy rc=0
	shift
	chroot_prepare "$host"
	tree=$CHROOT_TREES/${top##*/}-$(cksum <<<"$top" | cut -d' ' -f1)
	mkdir -p "$root$tree"
	exec {busy}>"$root$tree.lock"
	flock -n "$busy" || die "another run of this tree is under way on $host"
	copy_tree "$root$tree"
	say "on $host: $(chroot_words "$root"), in $root"
	[[ $host = arm64-* ]] || ! wants_fresh "$@" || (fresh_chroot "$host") || say "nothing can be installed on $host"
	in_chroot "$host" alone "$tree" ./dev test "$@" || rc=$?
	exit "$rc"
}

# chroot_prepare HOST: made where it is not there, or lacks packages; then nobody removes it while this process lives.
chroot_prepare() {
	[ "$(id -u)" = 0 ] || die "testing on $1 needs root: it makes a chroot"
	mkdir -p "$CHROOTS"
	exec {chroot_in_use}>"$CHROOTS/$1.lock"
	flock -s "$chroot_in_use"
	chroot_is_ready "$1" || { flock "$chroot_in_use"; make_chroot "$1"; flock -s "$chroot_in_use"; }
}

# chroot_words ROOT: what makes a host differ for us.
chroot_words() {
	local package version words=
	for package in slurmd libslurm-dev libpmix-dev openmpi-bin gcc qemu-user-static; do
		version=$(DPKG_ADMINDIR=$1/var/lib/dpkg dpkg-query -W -f '${Version}' "$package" 2>/dev/null) || continue
		words+=", $package $version"
	done
	echo "${words#, }"
}

# ---- the chroot

chroot_is_ready() {
	local root=$CHROOTS/$1 packages
	mapfile -t packages < <(chroot_packages "$1")
	[ -d "$root" ] && grep -q "^$TEST_USER:" "$root/etc/passwd" &&
		[ -z "$(DPKG_ADMINDIR=$root/var/lib/dpkg missing_packages "${packages[@]}")" ]
}

# chroot_packages HOST: all that is installed there
chroot_packages() {
	case $1 in
	arm64-*) printf '%s\n' "${CHROOT_BASE[@]}" "${ARM64_PACKAGES[@]}" ;;
	*) printf '%s\n' "${CHROOT_BASE[@]}" "${TEST_PACKAGES[@]}" "${LINT_PACKAGES[@]}" ;;
	esac
}

# make_chroot HOST: under a directory of another name until it is whole; then its packages.
make_chroot() {
	local host=$1 root=$CHROOTS/$1 packages
	if [ ! -d "$root" ]; then
		bootstrap "${host#arm64-}" "$root"
		mv "$root.new" "$root"
	fi
	apt_as_here "$root"
	say "setup on $host"
	case $host in
	arm64-*) mapfile -t packages < <(chroot_packages "$host")
		install_there "$host" "dpkg --add-architecture arm64; id $TEST_USER || useradd -r -M -d /nonexistent -s /bin/sh $TEST_USER" \
			"${packages[@]}" ;;
	*) install_there "$host" : "${CHROOT_BASE[@]}"
		mkdir -p "$root$CHROOT_TREES/setup/tests/lib"
		cp dev "$root$CHROOT_TREES/setup"
		cp tests/lib/*.bash "$root$CHROOT_TREES/setup/tests/lib"
		in_chroot "$host" online "$CHROOT_TREES/setup" ./dev setup || die "setup on $host failed" ;;
	esac
}

# install_there HOST COMMANDS PACKAGE...: COMMANDS first
install_there() {
	in_chroot "$1" online / bash -euc 'export DEBIAN_FRONTEND=noninteractive
		eval "$1"
		apt-get -q update
		apt-get -q install -y --no-install-recommends "${@:2}"' - "${@:2}" >>"$CHROOTS/$1.log" 2>&1 ||
		{ tail -n 20 "$CHROOTS/$1.log" >&2; die "apt-get on $1 failed"; }
}

# bootstrap RELEASE ROOT: into ROOT.new
bootstrap() {
	local mirror
	setup debootstrap
	mirror=$(debian_mirror)
	say "debootstrap $1 from $mirror; what it says is in $2.log"
	rm -rf --one-file-system "$2.new"
	bounded "$APT_S" "debootstrap $1" \
		"${NAMESPACES[@]}" --mount-proc debootstrap --variant=minbase "$1" "$2.new" "$mirror" >"$2.log" 2>&1 ||
		{ tail -n 20 "$2.log" >&2; die "debootstrap $1 failed"; }
}

# The clock and the proxies of this machine are those of the chroot.
apt_as_here() {
	apt-config dump | grep -E '^Acquire::(Check-Valid-Until|Check-Date|https?::Proxy) ' \
		>"$1/etc/apt/apt.conf.d/99this-machine" || :
	cp -L /etc/resolv.conf "$1/etc/resolv.conf"
}

# ---- a fresh system, to install things into

# wants_fresh [TIER|TEST...]: is one needed for these?
wants_fresh() {
	case " ${*:-quick} " in
	*" quick "*|*" all "*|*" cluster "*|*install/*) [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null ;;
	*) return 1 ;;
	esac
}

# fresh_chroot [RELEASE]: made where it is not there, or has other packages than it is to have. Sets NT_FRESH.
fresh_chroot() {
	local release=${1:-$(own_release)} root
	root=$CHROOTS/fresh-$release
	if [ -d "$FRESH" ]; then
		export NT_FRESH=$FRESH
		return
	fi
	mkdir -p "$CHROOTS"
	exec {fresh_in_use}>"$root.lock"
	flock -s "$fresh_in_use"
	if ! fresh_is_ready "$root"; then
		flock "$fresh_in_use"
		fresh_is_ready "$root" || make_fresh "$release" "$root"
		flock -s "$fresh_in_use"
	fi
	export NT_FRESH=$root
}

fresh_is_ready() {
	[ "$(cat "$1.packages" 2>/dev/null)" = "${SITE_PACKAGES[*]} ${SITE_NEEDS[*]}" ] && [ -d "$1" ]
}

# make_fresh RELEASE ROOT: no daemon is started in it by its packages.
make_fresh() {
	rm -rf --one-file-system "$2" "$2.packages"
	bootstrap "$1" "$2"
	apt_as_here "$2.new"
	printf '#!/bin/sh\nexit 101\n' >"$2.new/usr/sbin/policy-rc.d"
	chmod 755 "$2.new/usr/sbin/policy-rc.d"
	say "a site's packages on $1"
	in_chroot "${2##*/}.new" online / bash -euc 'export DEBIAN_FRONTEND=noninteractive
		apt-get -q update
		apt-get -q install -y --no-install-recommends $1
		apt-get clean
		apt-get -q install -y --no-install-recommends --download-only $2
		useradd -m -s /bin/bash alice' - "${SITE_PACKAGES[*]}" "${SITE_NEEDS[*]}" >>"$2.log" 2>&1 ||
		{ tail -n 20 "$2.log" >&2; die "apt-get on a fresh $1 failed"; }
	mv "$2.new" "$2"
	echo "${SITE_PACKAGES[*]} ${SITE_NEEDS[*]}" >"$2.packages"
}

own_release() (
	. /etc/os-release && echo "${VERSION_CODENAME:-}"
)

# Where this machine has Debian from.
debian_mirror() {
	local mirror
	mirror=$(apt-get indextargets --format '$(ORIGIN)/$(LABEL) $(REPO_URI)' 'Created-By: Packages' |
		sed -n 's,^Debian/Debian ,,p' | head -n 1)
	[ -n "$mirror" ] || die "apt's sources here name no mirror of Debian (or none that apt-get update has read)"
	echo "$mirror"
}

# clean_chroots: none that is in use.
clean_chroots() {
	local host in_use
	[ -d "$CHROOTS" ] || return 0
	for host in "${CHROOT_HOSTS[@]}" $(cd "$CHROOTS" && compgen -G '*-*.lock' | sed 's/[.]lock$//'); do
		exec {in_use}>"$CHROOTS/$host.lock"
		flock -n "$in_use" || die "a run on $host is under way"
		rm -rf --one-file-system "${CHROOTS:?}/$host" "$CHROOTS/$host".{new,log,lock,packages}
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
		"$CHROOTS/$host" "$host" "$network" "$CUDA" "$FRESH" "$directory" "$@" </dev/null &
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
		NT_CHROOTS|NT_FRESH|NT_STAGE|NT_BUILD|NT_CLUSTER|NT_BASE|NT_TESTS|NT_TOP) ;;	# places of this side
		*) environment+=("$name=${!name}") ;;
		esac
	done
}

# ---- inside the namespaces: these see nothing of this file but each other

mount_all() {
	local root=$1 cuda=$2 fresh=$3
	mount --bind "$root" "$root"
	mount -t proc proc "$root/proc"
	mount -t sysfs sysfs "$root/sys"
	[ ! -d /sys/fs/cgroup ] || mount --rbind /sys/fs/cgroup "$root/sys/fs/cgroup"
	mount --rbind /dev "$root/dev"
	mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
	mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
	mount -t tmpfs -o mode=755 tmpfs "$root/run"
	if [ -d "${root%/*}/fresh-${root##*/}" ]; then
		mkdir -p "$root$fresh"
		mount --bind "${root%/*}/fresh-${root##*/}" "$root$fresh"
	fi
	if [ -d "$cuda" ]; then
		mkdir -p "$root$cuda"
		mount --bind "$cuda" "$root$cuda"
		mount -o remount,bind,ro "$root$cuda"
	fi
}

# first_process ROOT HOST NETWORK CUDA FRESH DIRECTORY CMD...: of its process namespace; takes in orphans until CMD ends. What
# was / before is gone there: tests make namespaces of their own, and in a chroot that is not allowed.
first_process() {
	local root=$1 host=$2 network=$3 cuda=$4 fresh=$5 directory=$6 rc=0
	shift 6
	mount_all "$root" "$cuda" "$fresh"
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
