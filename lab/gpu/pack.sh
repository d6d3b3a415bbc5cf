#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# pack.sh - make what lab/gpu/run.sh needs on a GPU machine that has no network and no Slurm
#
#   pack.sh [BUILD-DIRECTORY]    default: a new one, removed afterwards
#
# On a Debian 12 machine: Debian's packages of Slurm go to ./.debs, the installed tree and the test
# programs to ./.gpu/stage. Copy the tree with these two directories. NT_INSPECTOR=DIR, the sources of NCCL's Inspector
# (inspector.sh), are built and taken along.
set -euo pipefail

# What is unpacked there in any case, and the libraries of these that the machine may lack, with their sonames.
readonly DEBS=(slurmctld slurmd slurm-client slurm-wlm-basic-plugins libslurm38 munge libmunge2
	libpmix2 libhwloc15 libevent-core-2.1-7 libevent-pthreads-2.1-7 libjson-c5 libexpat1
	liblz4-1 libnuma1 libgcrypt20 libgpg-error0 libpam0g libudev1 libbz2-1.0
	iproute2 libbpf1 libelf1 libmnl0 libbsd0 libmd0 libcap2 libxtables12 zlib1g)
# Where run.sh unpacks them. Slurm starts nt-recordd without our environment; by an old-style rpath it finds its own
# libraries there, and those of Slurm's plugins.
readonly SLURM_LIBS=/opt/sl/usr/lib/x86_64-linux-gnu
readonly MAX_MIB=60

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$top"
build=${1:-}
stage=$top/.gpu/stage

say() {
	printf '== %s\n' "$*"
}

download() {
	local package
	mkdir -p .debs
	for package in "${DEBS[@]}"; do
		[ -z "$(find .debs -name "${package}_*.deb" -print -quit)" ] || continue
		(cd .debs && timeout 120 apt-get -qq download "$package" 2>/dev/null) ||
			{ echo "pack.sh: cannot download $package (apt-get update?)" >&2; return 1; }
	done
}

# nccl-tune-bench loads NCCL and the CUDA runtime of the other machine.
build_stage() {
	mkdir -p "$build"
	if [ ! -e "$build/Makefile" ]; then
		[ -x configure ] || timeout 180 autoreconf -fi
		(cd "$build" && timeout 180 "$top/configure" -q --prefix="$stage" \
			LDFLAGS="-Wl,--disable-new-dtags,-rpath,$SLURM_LIBS" >/dev/null)
	fi
	rm -rf "$stage"
	timeout 900 make -s -C "$build" -j"$(nproc)" all
	timeout 300 make -s -C "$build" prefix="$stage" install >/dev/null
	mkdir -p "$stage/libexec/nccl-tune/tests"
	install -m 755 "$build"/lab/gpu/nt-{probe,fixed}.so "$stage/libexec/nccl-tune/tests/"
	for file in nt-fake-nccl nt-launch-trace; do
		install -m 755 "$build/tests/fake/$file" "$stage/libexec/nccl-tune/tests/"
	done
	find "$stage/share" -mindepth 1 -maxdepth 1 ! -name nccl-tune -exec rm -rf {} +
	rm -rf "$stage/include"
	strip_all
}

strip_all() {
	local file
	find "$stage" -type f -perm -u+x | while read -r file; do
		strip --strip-unneeded "$file" 2>/dev/null || :
	done
}

# For any x86-64, not for this one; a file beside says from where.
pack_inspector() {
	local to=$top/.gpu/inspector
	[ -n "${NT_INSPECTOR:-}" ] || return 0
	rm -rf "$to"
	cp -R "$NT_INSPECTOR" "$to"
	make -s -C "$to" CXXFLAGS='-O2 -fPIC -shared -DNDEBUG' >"$build/inspector.log" 2>&1 ||
		{ cat "$build/inspector.log" >&2; return 1; }
	strip --strip-unneeded "$to"/*.so
}

check() {
	local missing='' file mib
	for file in bin/nccl-tune bin/nccl-tune-bench lib/slurm/spank_nccl_tune.so lib/nccl-tune/libnccl-tune.so \
		libexec/nccl-tune/nt-{launch,recordd} share/nccl-tune/profiles.conf libexec/nccl-tune/tests/nt-{probe,fixed}.so; do
		[ -e "$stage/$file" ] || missing+=" $file"
	done
	readelf -d "$stage/libexec/nccl-tune/nt-recordd" | grep -qF "$SLURM_LIBS" ||
		missing+=" nt-recordd with libraries in $SLURM_LIBS (a BUILD-DIRECTORY that pack.sh has not configured?)"
	[ -z "$missing" ] || echo "pack.sh: not built:$missing" >&2
	mib=$(du -sm .debs .gpu | awk '{ sum += $1 } END { print sum }')
	say "$mib MiB in .debs and .gpu"
	[ "$mib" -le "$MAX_MIB" ] && [ -z "$missing" ]
}

scratch=
trap '[ -z "$scratch" ] || rm -rf "$scratch"' EXIT
if [ -z "$build" ]; then
	scratch=$(mktemp -d)
	build=$scratch
fi
say "packages"
download
say "build in $build"
build_stage
pack_inspector
check
