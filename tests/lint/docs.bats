#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# Files that the documents name or link to exist.
bats_require_minimum_version 1.5.0
load sources

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || exit 1
}

documents() {
	ls README.md CONTRIBUTING.md tests/README.md lab/README.md docs/*.md docs/decisions/*.md docs/results/README.md docs/results/*/README.md
}

# missing DOCUMENT: the paths on stdin that exist neither in the document's directory nor in the top one; a test may be named
# without its suffix
missing() {
	local path near
	near=$(dirname "$1")
	while read -r path; do
		[ -e "$near/$path" ] || [ -e "$path" ] || compgen -G "$path.*" >/dev/null || echo "$1 names $path, which does not exist"
	done
}

# linked DOCUMENT: the targets of its links, except addresses and places on the page itself
linked() {
	grep -oE '\]\([^)#]+' "$1" | sed 's/^](//' | grep -v '^[a-z]*:' | sort -u
}

# named DOCUMENT: words in back quotes that are a path below one of our directories, without a pattern or NAME
named() {
	local tops
	tops=$(IFS='|'; echo "${PRODUCT[*]}|build-aux|docs|etc|packaging|tests|lab")
	grep -oE '`[^` ]+`' "$1" | tr -d '`' | sed 's/:[0-9]*$//; s,/$,,' | grep -E "^($tops)/[A-Za-z0-9_./-]+$" | grep -v /NAME | sort -u
}

@test "every file that a document links to exists" {
	local document
	none "$(for document in $(documents); do linked "$document" | missing "$document"; done)"
}

@test "every file of the tree that a document names exists" {
	local document
	none "$(for document in $(documents); do named "$document" | missing "$document"; done)"
}
