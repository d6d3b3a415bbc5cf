# shellcheck shell=bash
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# What stands for a container's image: the C library of Ubuntu 18.04 (glibc 2.27), and nothing else. Its package is
# fetched once, compared with the sum below and kept in $NT_CACHE.

readonly IMAGE_FILE=libc6_2.27-3ubuntu1.6_amd64.deb
readonly IMAGE_URL=http://archive.ubuntu.com/ubuntu/pool/main/g/glibc/$IMAGE_FILE
readonly IMAGE_SHA256=5b813d4512491cd8fb30b2eb9192349ee75ffe3c9f21ae136cc7b2429f70c3b2
readonly IMAGE_FETCH_S=60
NT_CACHE=${NT_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/nccl-tune}

# image_unpack DIR: made if missing. Where the image cannot be had it fails, and says why in one line.
image_unpack() {
	local kept=$NT_CACHE/$IMAGE_FILE
	[ "$(uname -m)" = x86_64 ] || { echo "the image is one for x86_64"; return 1; }
	command -v dpkg-deb >/dev/null || { echo "no dpkg-deb to unpack the image with"; return 1; }
	image_is_whole "$kept" || image_fetch "$kept" || return 1
	mkdir -p "$1" && dpkg-deb -x "$kept" "$1"
}

image_is_whole() {
	[ -r "$1" ] && sha256sum --quiet -c <<<"$IMAGE_SHA256  $1" >/dev/null 2>&1
}

image_fetch() {
	local fetched
	mkdir -p "$NT_CACHE" && fetched=$(mktemp "$NT_CACHE/fetch.XXXXXX") || return 1
	if image_get "$fetched" && image_is_whole "$fetched"; then
		mv "$fetched" "$1"
		return
	fi
	rm -f "$fetched"
	echo "$IMAGE_URL cannot be had"
	return 1
}

# By what the machine has; apt's own helper is on every Debian.
image_get() {
	if command -v curl >/dev/null; then
		timeout "$IMAGE_FETCH_S" curl -sfo "$1" "$IMAGE_URL"
	elif command -v wget >/dev/null; then
		timeout "$IMAGE_FETCH_S" wget -qO "$1" "$IMAGE_URL"
	else
		(cd "${1%/*}" && timeout "$IMAGE_FETCH_S" /usr/lib/apt/apt-helper download-file "$IMAGE_URL" "$1") >/dev/null 2>&1
	fi
}

# image_program DIR: nt-fake-nccl for the image, as /nt-fake-nccl in it. Linked from what the build has ($NT_BUILD), with
# the image's own C library.
image_program() {
	local libraries=$1/lib/x86_64-linux-gnu made=$NT_BUILD
	cc -std=gnu11 -O1 -include "$NT_BUILD/config.h" -I"$NT_TOP" -o "$1/nt-fake-nccl" "$NT_TOP/tests/fake/main.c" \
		-rdynamic -nodefaultlibs "$made"/libnt-{fake,fake-core,trace,contract}.a -Wl,--no-as-needed \
		"$libraries"/{libm.so.6,libpthread.so.0,libdl.so.2,libc.so.6,ld-linux-x86-64.so.2} -lgcc
}
