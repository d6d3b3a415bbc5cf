# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# awk -v names="WORD=NEW ..." -v prose="WORD=NEW ..." -f words.awk FILE.c...: where a WORD stands. In names: as a part of an
# identifier between underscores, or of the file's own name. In prose: in a comment. WORD is a regular expression for all
# of it, and minds capitals if it has any. Texts in quotes are left alone: records and options are spelt as they are.

BEGIN {
	name_count = read_table(names, name_word, name_new)
	prose_count = read_table(prose, prose_word, prose_new)
}

function read_table(text, words, news,    items, pair, n, i) {
	n = split(text, items, " ")
	for (i = 1; i <= n; i++) {
		split(items[i], pair, "=")
		words[i] = "^(" pair[1] ")$"
		news[i] = pair[2]
		gsub(/-/, " ", news[i])
	}
	return n
}

function look(text, words, news, count,    parts, n, i, w) {
	n = split(text, parts, /[^A-Za-z]+/)
	for (i = 1; i <= n; i++)
		for (w = 1; w <= count; w++)
			if ((words[w] ~ /[A-Z]/ ? parts[i] : tolower(parts[i])) ~ words[w])
				print FILENAME ":" FNR ": " parts[i] " (say: " news[w] ")"
}

FNR == 1 {
	comment = 0
	base = FILENAME
	sub(/.*\//, "", base)
	look(base, name_word, name_new, name_count)
}

{
	code = $0
	said = ""
	gsub(/"([^"\\]|\\.)*"|\047([^\\]|\\.)\047/, " ", code)
	if (comment && !match(code, /\*\//)) {
		look(code, prose_word, prose_new, prose_count)
		next
	}
	if (comment) {
		said = substr(code, 1, RSTART)
		code = substr(code, RSTART + 2)
		comment = 0
	}
	while (match(code, /\/\*([^*]|\*+[^*\/])*\*+\//)) {
		said = said " " substr(code, RSTART, RLENGTH)
		code = substr(code, 1, RSTART - 1) " " substr(code, RSTART + RLENGTH)
	}
	if (match(code, /\/\*/)) {
		said = said " " substr(code, RSTART)
		code = substr(code, 1, RSTART - 1)
		comment = 1
	}
	look(said, prose_word, prose_new, prose_count)
	look(code, name_word, name_new, name_count)
}
