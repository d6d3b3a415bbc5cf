#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# build.sh [TARGET...] - the targets of tests/fuzz as OSS-Fuzz and ClusterFuzzLite want them
#
# They set CC, CXX, CFLAGS, CXXFLAGS (with the sanitizer), LIB_FUZZING_ENGINE, SRC (nccl-tune is in it), WORK and OUT. Left in
# OUT for each target: the program, which finds the libraries that it needs in OUT/lib; NAME_seed_corpus.zip, NAME.dict (the
# words of FUZZ_TEXT_TARGET) and NAME.options. tests/fuzz/elsewhere.bats does the same here.
set -euo pipefail

top=$SRC/nccl-tune
build=${WORK:-$SRC}/nccl-tune-build
# shellcheck source=tests/lib/fuzz.bash
. "$top/tests/lib/fuzz.bash"
targets=("$@")
[ $# -gt 0 ] || targets=("${FUZZ_TARGETS[@]}")

compile() {
	[ -x "$top/configure" ] || (cd "$top" && autoreconf -fi)
	mkdir -p "$build"
	cd "$build"
	[ -e Makefile ] || "$top/configure" --disable-shared CC="$CC" CFLAGS="$CFLAGS" LDFLAGS="-Wl,-rpath,'\$\$ORIGIN/lib'"
	# An engine may be of C++.
	make -s -j"$(nproc)" CCLD="$CXX ${CXXFLAGS:-}" fuzz_ldflags='$(AM_LDFLAGS)' fuzz_engine="$LIB_FUZZING_ENGINE" \
		"${targets[@]/#/tests/fuzz/}"
}

# What a target needs beside libc: the machine that runs it may not have it.
take_libraries() {
	local library
	mkdir -p "$OUT/lib"
	while read -r library; do
		case ${library##*/} in
		libc.so*|libm.so*|libpthread.so*|libdl.so*|librt.so*|libresolv.so*|ld-linux*|libstdc++.so*|libgcc_s.so*) ;;
		*) cp -L -n "$library" "$OUT/lib/" ;;
		esac
	done < <(ldd "$1" | sed -n 's,.* => \(/[^ ]*\) .*,\1,p')
}

# words TARGET: in the form of a dictionary, whatever escapes C has for them
words() {
	{
		echo '#include <stdio.h>'
		echo '#define FUZZ_TEXT_TARGET(...) static const char *const words[] = { __VA_ARGS__, NULL };'
		sed -n '/^FUZZ_TEXT_TARGET(/,$p' "$top/tests/fuzz/$1.c"
		cat <<-'END'
			int main(void)
			{
				for (const char *const *word = words; *word; word++) {
					putchar('"');
					for (const unsigned char *at = (const unsigned char *)*word; *at; at++)
						printf(*at < ' ' || *at > '~' || *at == '"' || *at == '\\' ? "\\x%02X" : "%c", *at);
					puts("\"");
				}
			}
		END
	} >"$build/words.c"
	"$CC" -o "$build/words" "$build/words.c" && "$build/words"
}

package() {
	local target=$1 seeds=()
	cp "$build/tests/fuzz/$target" "$OUT/$target"
	take_libraries "$OUT/$target"
	mapfile -t seeds < <(find "$top/tests/fuzz/corpus/$target" "$top/tests/fuzz/crashes/$target" -type f 2>/dev/null)
	rm -f "$OUT/${target}_seed_corpus.zip"
	[ ${#seeds[@]} = 0 ] || zip -q -j "$OUT/${target}_seed_corpus.zip" "${seeds[@]}"
	if grep -q '^FUZZ_TEXT_TARGET(' "$top/tests/fuzz/$target.c"; then
		words "$target" >"$OUT/$target.dict"
	fi
	printf '[libfuzzer]\nmax_len = %s\n' "$(input_bytes "$target")" >"$OUT/$target.options"
}

compile
for target in "${targets[@]}"; do
	package "$target"
done
