#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# Ranks inside a container: an image with a glibc that is older than the build's and nothing else of what we use, with what
# the installed mount file for enroot mounts into it (84-container.sh). The image is fetched once (lib/image.bash).
bats_require_minimum_version 1.5.0
load ../lib/cluster
load ../lib/image

JOB=(/nt-fake-nccl --arm RING/SIMPLE=0.4 --sizes 256K --iters 3000 --more 40000 --settled --call-gap-us 100)

setup_file() {
	local why
	cluster_setup
	export image=$NT_BASE/image records=$NT_BASE/records
	why=$(image_unpack "$image") || skip "no image: $why"
	as_nt_test unshare --map-root-user --mount true 2>/dev/null || skip "no namespaces for users here"
	image_program "$image"
	chmod 755 "$image"
	chown "$NT_USER" "$image" "$image/usr" "$image/usr/lib"
	make_fstab
	cp "$BATS_TEST_DIRNAME/84-container.sh" "$NT_BASE"
	chmod a+rx "$NT_BASE/84-container.sh"
	cluster_start 2 -n -p "$(nt_plugstack_line record=file:"$records")"
	need_pmix
}

setup() {
	out=$BATS_TEST_TMPDIR/out
	err=$BATS_TEST_TMPDIR/err
}

as_nt_test() {
	setpriv --reuid "$NT_USER" --regid "$(id -g "$NT_USER")" --clear-groups "$@"
}

# The installed file; the path is this stage's.
make_fstab() {
	export fstab=$NT_BASE/50-nccl-tune.fstab
	sed "s,^[^#].*/lib/nccl-tune\t.*/lib/nccl-tune\t,$NT_STAGE/lib/nccl-tune\t$NT_STAGE/lib/nccl-tune\t," \
		"$NT_STAGE/share/nccl-tune/50-nccl-tune.fstab" >"$fstab"
	[ "$(grep -c "^/" "$fstab")" = 1 ]
	[ "$(grep -c "^$NT_STAGE/" "$fstab")" = 1 ]
	# Directories that the mounts, and the programs, need in the image.
	mkdir -p "$image$NT_STAGE/lib" "$image${TMPDIR:-/tmp}"
	chown -R "$NT_USER" "$image"
}

# contained SRUN-OPTION... -- CMD...: a tuned step in the image; its output is in $out and $err.
contained() {
	local options=()
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	as_user srun -t 20 --mpi=pmix --nccl-tune=bandit "${options[@]}" env NT_CLOSE="${close:-0}" "$NT_BASE/84-container.sh" "$image" "$fstab" "$@" \
		>"$out" 2>"$err" || { echo "exit status $?"; cat "$out" "$err"; return 1; }
}

# The record of the one step since the last call.
record() {
	wait_for 60 compgen -G "$records/nt.*.json"
	jq -r .record "$records"/nt.*.json
	rm "$records"/nt.*.json
}

@test "the image has an older C library, and neither nccl-tune nor its libraries" {
	[ ! -e "$image$NT_STAGE/lib/nccl-tune" ]
	run -0 find "$image" -name 'libjson-c*' -o -name 'libhwloc*' -o -name 'libpmix*' -o -name 'libnccl-tune*'
	[ -z "$output" ]
	run -0 find "$image" -name 'libc-2.*.so'
	[[ $output = */libc-2.27.so ]]
}

@test "ranks of a node in containers are tuned, with only the mounts of the mount file" {
	contained -N1 -n4 -- "${JOB[@]}"
	jq -e '.mismatches == 0 and .keys[0].arm == "RING/SIMPLE" and .forced > 0' "$out" >/dev/null ||
		{ cat "$out" "$err"; false; }
	run -0 record
	jq -e '."4r1n"."AllReduce 256K"' <<<"$output" || { echo "$output"; false; }
}

# As enroot without pyxis does.
@test "ranks of a node are tuned if the launcher of the container closes the task's descriptors" {
	close=1 contained -N1 -n4 -- "${JOB[@]}"
	jq -e '.mismatches == 0 and .keys[0].arm == "RING/SIMPLE" and .forced > 0' "$out" >/dev/null ||
		{ cat "$out" "$err"; false; }
	run -0 record
	jq -e '."4r1n"."AllReduce 256K"' <<<"$output" || { echo "$output"; false; }
}

@test "across nodes an image without libpmix stays with NCCL's choice, and the record says what is missing" {
	contained -N2 --ntasks-per-node=2 -- "${JOB[@]}" --iters 12000 --more 0
	jq -e '.mismatches == 0 and .forced == 0' "$out" >/dev/null || { cat "$out" "$err"; false; }
	run -0 record
	jq -e '.why | any(endswith(" nolibpmix"))' <<<"$output" || { echo "$output"; false; }
}

@test "in the container the plugin's directory is read-only, and nothing else of ours is there" {
	contained -N1 -n1 -- /nt-fake-nccl --help
	run ! as_nt_test "$NT_BASE/84-container.sh" "$image" "$fstab" /nonexistent
	sed 's/^exec chroot.*/cat \/proc\/self\/mounts/' "$BATS_TEST_DIRNAME/84-container.sh" >"$NT_BASE/mounts.sh"
	chmod 755 "$NT_BASE/mounts.sh"
	run -0 as_nt_test "$NT_BASE/mounts.sh" "$image" "$fstab"
	grep -E " $image$NT_STAGE/lib/nccl-tune [^ ]* [^ ]*\bro\b" <<<"$output" | grep nosuid | grep -q nodev
	run ! grep -F " $image$NT_CLUSTER" <<<"$output"
}
