# shellcheck shell=bash disable=SC2034
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# ./dev test --arch arm64: the tree built for Arm by Debian's cross compiler, in a chroot of this machine's release, and its
# programs in an emulator of the processor (qemu's for programs: the kernel is this machine's). Part of dev; reads $top.
#
# There each program that is built becomes a script which runs it in the emulator, so that tests and other programs start
# it by its name.

readonly ARCHES=(arm64 arm64-64k)	# the latter with pages of 64 KiB, as some kernels for Arm have them
readonly ARM64_TRIPLET=aarch64-linux-gnu ARM64_EMULATOR=qemu-aarch64-static
readonly ARM64_PACKAGES=(make autoconf automake pkg-config:arm64 crossbuild-essential-arm64 qemu-user-static
	libslurm-dev:arm64 libpmix-dev:arm64 libjson-c-dev:arm64 libexpat1-dev:arm64 libhwloc-dev:arm64 libinih-dev:arm64
	zlib1g-dev:arm64 libcmocka-dev:arm64 build-essential bats jq procps debhelper fakeroot bash-completion git xz-utils)
readonly ARM64_BATS=(tests/fake/{fake-nccl,arms,record,ll128,marker,newer,reasons,reward,warm}
	tests/{cmd/summary,chain/chain,lint/exports} lab/programs/programs)

# Unit tests that it cannot run, and why.
declare -rA ARM64_CANNOT=([child]="posix_spawn() tells no error where vfork() is a fork"
	[bench-abi]="no CUDA headers for it")

# Of quick, which ./dev test all runs: what a processor can break. Everything else computes the same on all of them, or does not
# compile. Only with pages of 64 KiB: those of 4 KiB are this machine's, too. All tests and both sizes: --arch arm64 all.
readonly ARM64_UNITS=(
	shm agree agree-siblings agree-recheck two-jobs	# shared memory: atomics, orders, pages, where a field lies
	log-entry order schedule times ticket window-layout calls	# bytes that are packed or sent
	event-slot event-match mask lateness p2p process-life	# atomics between threads of a process
	coll costs chain process-abi	# structures of NCCL and their alignment
	numbers printable json-writer)	# char has no sign; how numbers are rounded

cross=()	# what configure is told

arch_known() {
	[ -n "$1" ] && [[ " ${ARCHES[*]} " = *" $1 "* ]]
}

# test_arch ARCH [TIER|TEST...]: from a machine of any other kind, and then in the chroot.
test_arch() {
	[[ $(uname -n) = nt-arm64-* ]] || test_on "arm64-$(own_release)" --arch "$@"
	cross=(--host="$ARM64_TRIPLET" --with-cuda=no EMULATOR="$ARM64_EMULATOR")
	[ "$1" != arm64-64k ] || pages_of 64
	shift
	begin_test
	case ${1:-quick} in
	cluster) die "the cluster tests need this architecture's Slurm" ;;
	quick|unit|all) arm64_tier "${1:-quick}" ;;
	*) run_some ;;
	esac
}

# pages_of KIB
pages_of() {
	export QEMU_PAGESIZE=$(($1 * 1024))
}

# emulate DIR: NAME.arm64 is the program then, NAME the script.
emulate() {
	local file
	find "$1" -type f -perm -u+x ! -name '*.so*' ! -name '*.arm64' | while read -r file; do
		[ "$(LC_ALL=C head -c 4 "$file" | tr -d '\0')" = $'\177ELF' ] || continue
		mv "$file" "$file.arm64"
		printf '#!/bin/sh\nexec %s -0 "$0" "%s" "$@"\n' "$ARM64_EMULATOR" "$top/$file.arm64" >"$file"
		chmod 755 "$file"
		touch -r "$file.arm64" "$file"	# nothing is to be made again
	done
}

# ---- a tier

arm64_tier() {
	local kib test programs limit=1500
	[ "$1" != quick ] || limit=300
	counted_at=$SECONDS
	mapfile -t programs < <(arm64_programs "$1")
	if [ "$1" = quick ]; then
		build_cross
	else
		build
	fi
	compile build unit-needs "${programs[@]}"
	took+=("$((SECONDS - counted_at)) build")
	for kib in 4 64; do
		[ "${QEMU_PAGESIZE:-0}" -le $((kib * 1024)) ] || continue
		[ "$1/$kib" != quick/4 ] || continue
		pages_of "$kib"
		job_add work 200 "unit, pages of $kib KiB" arm64_units "$1" "$limit" "${programs[@]}"
		[ "$1" != all ] || for test in "${ARM64_BATS[@]}"; do
			job_add work 60 "$test.bats, pages of $kib KiB" bats_job "$test.bats"
		done
		[ "$1/$kib" != all/4 ] || job_add work 100 "Debian packages" arm64_packages
		[ "$1" != quick ] || job_add work 30 "tests/fake/record.bats, pages of $kib KiB" \
			bats_job tests/fake/record.bats --filter with.channels.and.chunks
		run_jobs
	done
}

# arm64_units TIER SECONDS PROGRAM...: each at most so long; and the agreement simulation.
arm64_units() {
	local name tier=$1 limit=$2
	shift 2
	unit_programs build check_PROGRAMS= TESTS="$* lab/sim/agree-quick" \
		LOG_COMPILER="$top/tests/lib/arm64-unit $limit" || return 1
	[ "$tier" != quick ] || return 0
	for name in "${!ARM64_CANNOT[@]}"; do
		echo "1..0 # SKIP unit/$name in an emulator: ${ARM64_CANNOT[$name]}"
		awk '{ print $1, $2, $3 + 1 }' "$job_dir/tally" >"$job_dir/more" && mv "$job_dir/more" "$job_dir/tally"
	done
}

arm64_programs() {
	local file name
	for file in tests/unit/*/*.c; do
		name=${file##*/} name=${name%.c}
		[ -z "${ARM64_CANNOT[$name]:-}" ] || continue
		[[ $1 != quick || " ${ARM64_UNITS[*]} " = *" $name "* ]] || continue
		echo "${file%.c}"
	done
}

# build_cross: what is installed, and of that into the stage what a job of the simulated NCCL needs.
build_cross() {
	local tests=$stage/libexec/nccl-tune/tests
	say "build"
	configure_in build --prefix="$stage" CFLAGS='-Og -g1 -w'
	compile build libnccl-tune.so spank_nccl_tune.so nccl-tune nccl-tune-bench nt-launch nt-recordd nt-calibrate \
		tests/fake/nt-fake-nccl tests/fake/nt-record lab/sim/nt-agree-sim
	rm -rf "$stage"
	install -D -t "$stage/lib/nccl-tune" build/libnccl-tune.so
	install -D -t "$tests" build/tests/fake/{nt-fake-nccl,nt-record}
	chmod -R a+rX "$stage"
}

# arm64_packages: each is for arm64, and so is every program and library in it.
arm64_packages() {
	local deb bad passed=0 failed=0
	packaging/build deb -k -m arm64 -o "$job_dir/debs" >"$job_dir/log" 2>&1 || { cat "$job_dir/log"; return 1; }
	for deb in nccl-tune slurm-spank-nccl-tune libnccl-tune-plugin; do
		mkdir -p "$job_dir/$deb"
		dpkg-deb -x "$job_dir/debs/${deb}"_*_arm64.deb "$job_dir/$deb" && bad=$(other_elf "$job_dir/$deb") && [ -z "$bad" ] &&
			{ passed=$((passed + 1)); continue; }
		failed=$((failed + 1))
		echo "$deb: $bad"
	done
	echo "$passed $failed 0" >"$job_dir/tally"
}

# other_elf DIR: what in it is for another architecture; fails where nothing is for this one.
other_elf() {
	find "$1" -type f -exec readelf -h /dev/null {} + 2>/dev/null | awk '
		/^File: / { file = $2 }
		/Machine:/ { if (/AArch64/) n++; else print file }
		END { exit n == 0 }'
}

# ---- a job of ./dev test all

arm64_job() {
	local host rc=0
	host=arm64-$(own_release)
	if ! (chroot_prepare "$host"); then
		echo "1..0 # SKIP no chroot for arm64: it needs root, debootstrap and a mirror of Debian"
		echo "0 0 1" >"$job_dir/tally"
		return
	fi
	(test_on "$host" --arch arm64 quick) | tee "$job_dir/log" || rc=1
	sed -nE '$s/^([0-9]+) passed, ([0-9]+) failed, ([0-9]+) skipped$/\1 \2 \3/p' "$job_dir/log" >"$job_dir/tally"
	return "$rc"
}
