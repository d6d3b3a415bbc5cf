# shellcheck shell=bash disable=SC2154
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# The release archive and the Debian packages of this tree, built once for all that install them. For bats; after
# cluster.bash. What is looked at is how they are packed: without optimisation that takes a quarter less.

# archive_into DIR: sets $archive, as `make dist` makes it; its own directory would be in the way of another.
archive_into() {
	local name
	mkdir -p "$1"
	name=$1/nccl-tune-$(cat "$NT_TOP/.dist-version" 2>/dev/null || "$NT_TOP/build-aux/gen-version")
	archive=$name.tar.xz
	[ ! -e "$archive" ] || return 0
	env -u MAKEFLAGS -u MAKELEVEL make -s -C "$NT_BUILD" distdir distdir="$name" top_distdir="$name" &&
		XZ_OPT=-1 tar -C "$1" -cJf "$archive.new" "${name##*/}" && rm -rf "$name" && mv "$archive.new" "$archive"
}

# need_packages: sets $archive and $packages. Where NT_PACKAGES names a directory, they are made there by the first that
# needs them; else in NT_BASE.
need_packages() {
	local lock
	packages=${NT_PACKAGES:-$NT_BASE/packages}
	mkdir -p "$packages"
	exec {lock}<"$packages"
	flock "$lock"
	build_packages >"$NT_BASE/packages.log" 2>&1 || { tail -n 50 "$NT_BASE/packages.log"; return 1; }
	exec {lock}<&-
}

build_packages() {
	archive_into "$packages" || return 1
	compgen -G "$packages/*.deb" >/dev/null || DEB_BUILD_OPTIONS="noopt noautodbgsym" "$NT_TOP/packaging/build" deb -k -n -a "$archive" -o "$packages"
}
