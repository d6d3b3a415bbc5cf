#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# 84-container.sh ROOT FSTAB CMD [ARG]... - CMD in the image ROOT, with what an enroot mount file mounts into it
#
# As enroot does it: without rights, in a user and a mount namespace, the host's /proc and /dev first, then the file's lines
# in their order. Of the options it knows those that our file uses; another one is an error.
set -euo pipefail

if [ "${NT_CONTAINER:-}" != 1 ]; then
	NT_CONTAINER=1 exec unshare --map-root-user --mount --propagation slave "$0" "$@"
fi
[ "${NT_CLOSE:-0}" != 1 ] || eval "exec ${NCCL_TUNE_POLICY##*/}>&-"
root=$1 fstab=$2
shift 2

# mount_line SOURCE TARGET OPTIONS
mount_line() {
	local option kind='' flags=() propagation='' nofail=0
	for option in ${3//,/ }; do
		case $option in
		x-create=dir) mkdir -p "$root$2" ;;
		bind|rbind) kind=--$option ;;
		ro|rw|nosuid|nodev|noexec) flags+=("$option") ;;
		private|rslave) propagation=--make-$option ;;
		nofail) nofail=1 ;;
		silent) ;;
		*) echo "unknown option $option" >&2; exit 1 ;;
		esac
	done
	mount "$kind" "$1" "$root$2" 2>/dev/null || [ "$nofail" = 1 ] || exit 1
	mountpoint -q "$root$2" || return 0
	mount -o "remount,bind,$(IFS=,; echo "${flags[*]}")" "$root$2"
	mount "$propagation" "$root$2"
}

for place in /proc /dev; do
	mkdir -p "$root$place"
	mount --rbind "$place" "$root$place"
done
while read -r source target type options _; do
	[[ ${source:-#} = "#"* ]] || [ "$type" != none ] || mount_line "$source" "$target" "$options"
done <"$fstab"
exec chroot "$root" "$@"
