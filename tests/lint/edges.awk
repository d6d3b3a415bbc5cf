# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# awk -f edges.awk round=1 FILE... round=2 FILE...: what each of these C files needs of the others, as "FILE:OTHER" lines:
# the headers that it includes, and the files whose functions it calls. A function may be declared in a header that
# several files share, so includes alone do not tell.

FNR == 1 { comment = 0; head = "" }

# Neither texts nor comments.
{
	line = $0
	if (round == 2 && match(line, /^[ \t]*#[ \t]*include[ \t]*"[^"]+"/)) {
		split(line, words, "\"")
		print FILENAME ":" words[2]
		next
	}
	gsub(/"([^"\\]|\\.)*"|\047([^\\]|\\.)\047/, " ", line)
	if (comment && !sub(/^.*\*\//, "", line))
		next
	comment = 0
	gsub(/\/\*([^*]|\*+[^*\/])*\*+\//, " ", line)
	if (sub(/\/\*.*$/, "", line))
		comment = 1
}

# A function is defined where a line begins one and a "{" follows at the start of a line before any ";".
round == 1 && line ~ /^[a-z][A-Za-z0-9_ *]*\(/ {
	head = line
	sub(/\(.*/, "", head)
	own = head ~ /^static|^inline/
	sub(/.*[ *]/, "", head)
}
round == 1 && head != "" && line ~ /;/ { head = "" }
round == 1 && head != "" && /^{/ {
	if (own)
		hidden[FILENAME, head] = 1
	else
		homes[head] = homes[head] FILENAME " "
	head = ""
}

# The file below the same folder, where two have a function of that name.
function home_of(name, file,    places, n, i, dir) {
	n = split(homes[name], places, " ")
	dir = file
	sub(/[^\/]*$/, "", dir)
	for (i = 1; i <= n; i++)
		if (n == 1 || index(places[i], dir) == 1)
			return places[i]
	return file
}

# A declaration is no call, and a structure may have a function's name.
round == 2 {
	gsub(/(struct|union|enum) +[A-Za-z0-9_]+/, " ", line)
	if (line ~ /^[a-z][A-Za-z0-9_ *]*\(/)
		sub(/^[^(]*/, " ", line)
	n = split(line, names, /[^A-Za-z0-9_]+/)
	for (i = 1; i <= n; i++)
		if (names[i] in homes && names[i] != "main" && !((FILENAME, names[i]) in hidden))
			print FILENAME ":" home_of(names[i], FILENAME)
}
