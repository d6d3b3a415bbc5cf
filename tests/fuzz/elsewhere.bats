#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# The targets as OSS-Fuzz and ClusterFuzzLite build and check them: tests/fuzz/build.sh, called as they call it.
bats_require_minimum_version 1.5.0
load ../lib/fuzz

TARGETS=(page log-entry)	# one of text, one of bytes; all others are built the same way

setup_file() {
	local lacks
	lacks=$(fuzz_lacks)
	[ -z "$lacks" ] || skip "$lacks"
	if ! command -v zip >/dev/null || ! command -v unzip >/dev/null; then
		skip "no zip and unzip here"
	fi
	export SRC=$BATS_FILE_TMPDIR/src WORK=$BATS_FILE_TMPDIR/work OUT=$BATS_FILE_TMPDIR/out
	mkdir -p "$SRC" "$WORK" "$OUT"
	ln -s "$(cd "$BATS_TEST_DIRNAME/../.." && pwd)" "$SRC/nccl-tune"
	export CC=clang CXX=clang++ LIB_FUZZING_ENGINE=-fsanitize=fuzzer
	export CFLAGS='-O0 -fno-omit-frame-pointer -gline-tables-only -fsanitize=address -fsanitize=fuzzer-no-link'
	export CXXFLAGS=$CFLAGS
	"$SRC/nccl-tune/tests/fuzz/build.sh" "${TARGETS[@]}" >"$BATS_FILE_TMPDIR/log" 2>&1 || { tail -n 30 "$BATS_FILE_TMPDIR/log"; return 1; }
}

@test "a target runs from its folder, with its seeds and its words" {
	local target
	for target in "${TARGETS[@]}"; do
		mkdir "$BATS_TEST_TMPDIR/$target"
		unzip -q "$OUT/${target}_seed_corpus.zip" -d "$BATS_TEST_TMPDIR/$target"
		[ "$(find "$BATS_TEST_TMPDIR/$target" -type f | wc -l)" -ge 10 ]
		run -0 "$OUT/$target" -runs=2000 -max_len="$(sed -n 's/^max_len = //p' "$OUT/$target.options")" \
			"-dict=$OUT/$target.dict" "$BATS_TEST_TMPDIR/$target"
		[[ $output = *"INITED cov: "* ]]
	done
	[[ $output != *"ParseDictionaryFile: error"* ]]
	[ "$(wc -l <"$OUT/page.dict")" -gt 20 ]
	run -0 "$OUT/page" -runs=1 -dict="$OUT/page.dict"
	[[ $output = *"Dictionary: $(wc -l <"$OUT/page.dict") entries"* ]]
}

@test "no library comes from the machine that built it, but those of C" {
	run -0 ldd "$OUT/page"
	[[ $output = *"$OUT/lib/libjson-c"* ]]
	run -1 grep -vE "$OUT/lib/|lib(c|m|dl|rt|resolv|pthread|gcc_s|stdc\+\+)\.so|linux-vdso|ld-linux" <<<"$output"
}

@test "the files that both want name no host, and each package that they install is one of ./dev setup" {
	local package
	cd "$BATS_TEST_DIRNAME/../.."
	run -1 grep -nE '[a-z0-9-]+\.(io|com|org|dev)\b' .clusterfuzzlite/*
	grep -q '^language: c$' .clusterfuzzlite/project.yaml
	while read -r package; do
		grep -q -- "$package" dev
	done < <(grep -oE '\b(lib[a-z0-9-]+|zlib1g)-dev\b' .clusterfuzzlite/Dockerfile)
}
