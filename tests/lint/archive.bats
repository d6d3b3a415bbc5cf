#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# A release archive holds what is tracked (but for what .gitattributes keeps out of git's own archives) and what autoreconf
# and configure write, and nothing else. Needs a build directory (NT_BUILD).
bats_require_minimum_version 1.5.0
load sources

setup() {
	export LC_ALL=C
	build=${NT_BUILD:-$BATS_TEST_DIRNAME/../../build}
	[ -e "$build/Makefile" ] || skip "nothing is configured in $build"
	cd "$BATS_TEST_DIRNAME/../.." || exit 1
}

tracked() {
	git ls-files | git check-attr --stdin export-ignore | sed -n 's/: export-ignore: unspecified$//p' |
		grep -vE '^\.(ci/|gitattributes$|gitignore$)' | sort
}

# What is made, and belongs in the archive.
generated() {
	grep -E '^(configure|aclocal\.m4|config\.h\.in|Makefile\.in|\.dist-version|packaging/nccl-tune\.spec)$|^build-aux/(ar-lib|compile|config\.(guess|sub)|depcomp|install-sh|missing|(tap|test)-driver(\.sh)?)$'
}

@test "the archive holds every tracked file, and no unknown ones" {
	local found=$BATS_TEST_TMPDIR/archive
	git rev-parse HEAD >/dev/null 2>&1 || skip "no git here"
	make -s -C "$build" distdir distdir="$found" top_distdir="$found"
	(cd "$found" && find . -type f | sed 's,^\./,,' | sort) >"$BATS_TEST_TMPDIR/has"
	tracked >"$BATS_TEST_TMPDIR/tracked"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/tracked")" -gt 300 ]
	none "$(comm -23 "$BATS_TEST_TMPDIR/tracked" "$BATS_TEST_TMPDIR/has" | sed 's/$/ is not in the archive (EXTRA_DIST of its local.mk?)/')"
	none "$(comm -13 "$BATS_TEST_TMPDIR/tracked" "$BATS_TEST_TMPDIR/has" | grep -vxF -f <(generated <"$BATS_TEST_TMPDIR/has") |
		sed 's/$/ is in the archive and not tracked/')"
}

# What is packed is what ./dev test tests; without optimisation, and without building and running unit tests again.
@test "make distcheck: the archive builds elsewhere, installs and leaves nothing" {
	[ -n "${NT_SLOW:-}" ] || skip "NT_SLOW is not set: it takes minutes, and ./dev test all does it"
	env -u MAKEFLAGS -u MAKELEVEL XZ_OPT=-1 make -s -C "$build" -j"$(nproc)" distcheck TESTS= check_PROGRAMS= \
		DISTCHECK_CONFIGURE_FLAGS='--disable-dependency-tracking CFLAGS="-O0 -w"' >"$BATS_TEST_TMPDIR/log" 2>&1 ||
		{ tail -n 50 "$BATS_TEST_TMPDIR/log"; false; }
	rm -f "$build"/nccl-tune-*.tar.xz
}
