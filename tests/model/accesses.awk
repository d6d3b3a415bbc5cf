# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# accesses.awk - atomic accesses to shared memory in C files, one line each: word, access, order, file
#
# The first file is contract/shm-layout.h: its atomic members are the words. Members of the same names that a process has
# for itself are reached through one of `own`. `times` are samples, periods or durations (tuner/explorer.c).

BEGIN {
	own = "^(d|m|mine|process|launch|helper|decision|events|laps|func)$"
}

function without_comments(text) {
	gsub(/\/\*([^*]|\*+[^*\/])*\*+\//, "", text)
	return text
}

function learn_words(   word) {
	text = without_comments(text)
	while (match(text, /_Atomic[ \t\n]+[a-z0-9_]+[ \t\n]+[a-z_]+/)) {
		word = substr(text, RSTART, RLENGTH)
		text = substr(text, RSTART + RLENGTH)
		sub(/.*[ \t\n]/, "", word)
		shared[word] = 1
	}
	shared["times"] = learned = 1
	text = ""
}

# The arguments of the call that begins at `at` of `text`: into arg[1]...; their number.
function arguments(text, at,   depth, n, c) {
	n = 1
	arg[1] = ""
	for (depth = 1; depth > 0 && at <= length(text); at++) {
		c = substr(text, at, 1)
		depth += (c == "(" || c == "[") - (c == ")" || c == "]")
		if (c == "," && depth == 1)
			arg[++n] = ""
		else if (depth > 0)
			arg[n] = arg[n] c
	}
	return n
}

function word_of(place) {
	gsub(/[ \t\n]+|^&|\)$/, "", place)
	sub(/^&/, "", place)
	while (place ~ /\]$/)
		place = unindexed(place)
	rest = place
	sub(/(->|\.)?[a-z_]+$/, "", rest)
	sub(/^.*(->|\.)/, "", place)
	return place
}

# What the word is a member of; word_of() comes before.
function parent() {
	while (rest ~ /\]$/)
		rest = unindexed(rest)
	sub(/^.*(->|\.)/, "", rest)
	return rest
}

# Without the last index, which may hold others.
function unindexed(place,   at, depth) {
	for (at = length(place); at > 0; at--) {
		depth += (substr(place, at, 1) == "]") - (substr(place, at, 1) == "[")
		if (depth == 0)
			break
	}
	return substr(place, 1, at - 1)
}

function order_of(name, n) {
	if (name !~ /explicit/)
		return "seq_cst"
	gsub(/[ \t\n]|memory_order_/, "", arg[name ~ /compare/ ? 4 : n])
	return arg[name ~ /compare/ ? 4 : n]
}

function flush_file(   name, n, word, access, place) {
	text = without_comments(text)
	gsub(/#define NT_CLEAR[^\n]*\n/, "", text)
	while (match(text, /(atomic_(load|store|compare_exchange_(strong|weak)|fetch_(or|add|sub)|exchange)(_explicit)?|NT_CLEAR)\(/)) {
		name = substr(text, RSTART, RLENGTH - 1)
		text = substr(text, RSTART + RLENGTH)
		n = arguments(text, 1)
		place = arg[1]
		word = word_of(place)
		if (!(word in shared) || parent() ~ own)
			continue
		access = name ~ /load/ ? "load" : name ~ /compare/ ? "cas" : name ~ /_or/ ? "or" : name ~ /add|sub/ ? "add" : \
			name ~ /exchange/ ? "swap" : "store"
		print word "\t" access "\t" (name == "NT_CLEAR" ? "relaxed" : order_of(name, n)) "\t" file
	}
	text = ""
}

function end_of_file() {
	if (learned)
		flush_file()
	else
		learn_words()
}

FNR == 1 {
	if (file != "")
		end_of_file()
	file = FILENAME
}

{ text = text $0 "\n" }

END { end_of_file() }
