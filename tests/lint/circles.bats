#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# Files that include each other in a circle can only be understood all at once.
bats_require_minimum_version 1.5.0
load sources

setup() {
	top=$BATS_TEST_DIRNAME/../..
}

# circles TOP: of the product files below it
circles() {
	local files
	cd "$1" || exit 1
	mapfile -t files < <(product_files)
	awk -f "$BATS_TEST_DIRNAME/edges.awk" round=1 "${files[@]}" round=2 "${files[@]}" |
		awk -f "$BATS_TEST_DIRNAME/circles.awk"
}

# made_up FILE 'HEADER...' ...: a tree with these files and what they include
made_up() {
	local header
	made=$BATS_TEST_TMPDIR/made
	while [ $# -gt 0 ]; do
		mkdir -p "$made/${1%/*}"
		for header in $2; do
			echo "#include \"$header\""
		done >"$made/$1"
		shift 2
	done
}

@test "no circle among the product files" {
	cd "$top" || exit 1
	[ "$(product_files | wc -l)" -gt 100 ]
	none "$(circles .)"
}

@test "a tree without a circle passes" {
	made_up contract/a.h '' contract/a.c contract/a.h \
		engine/b.h contract/a.h engine/b.c 'engine/b.h engine/c.h' engine/c.h contract/a.h \
		tuner/d.c 'engine/b.h engine/c.h'
	none "$(circles "$made")"
}

@test "a circle of two is seen, and one through another folder and a header without a source" {
	made_up engine/a.h '' engine/a.c 'engine/a.h engine/b.h' engine/b.h engine/a.h \
		tuner/d.c 'tuner/d.h tuner/e.h' tuner/e.h record/f.h record/f.c tuner/d.h tuner/x.c tuner/d.h
	run -0 circles "$made"
	[[ $output = *"circle of 2:"* && $output = *"engine/a needs engine/b"* && $output = *"engine/b needs engine/a"* ]]
	[[ $output = *"circle of 3:"* && $output = *"tuner/e needs record/f"* && $output = *"record/f needs tuner/d"* ]]
	[[ $output != *tuner/x* ]]
}

@test "a circle that a shared header hides is seen; what stands in comments and texts is not" {
	made_up tuner/s.h '' tuner/one.c tuner/s.h tuner/two.c tuner/s.h tuner/three.c tuner/s.h
	printf 'int one(void);\nint two(int a,\n\tint b);\nint three(void);\n' >>"$made/tuner/s.h"
	printf 'int one(void)\n{\n\treturn two(1, 2);\n}\n' >>"$made/tuner/one.c"
	printf 'int two(int a,\n\tint b)\n{\n\treturn one();\n}\n' >>"$made/tuner/two.c"
	printf '/* one() and\n * two() */\nint three(void)\n{\n\tputs("two()");\n\treturn one();\n}\n' >>"$made/tuner/three.c"
	run -0 circles "$made"
	[[ $output = "a circle of 2:"*"tuner/one needs tuner/two"* ]]
	[[ $output != *three* ]]
}
