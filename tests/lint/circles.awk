# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# Reads "FILE:OTHER" lines (edges.awk): FILE needs OTHER; X.c and X.h are one piece. Prints each largest set of pieces that
# all need each other, directly or through others, and who needs whom in it. Nothing is printed without a circle.

BEGIN { FS = ":" }

function piece(file) {
	sub(/\.(c|h|cu)$/, "", file)
	return file
}

{
	from = piece($1)
	to = piece($2)
	if (from == to || (from, to) in edge)
		next
	edge[from, to] = 1
	next_of[from] = next_of[from] " " to
	known[from] = known[to] = 1
}

# Marks what can be got to from start: seen[start, piece].
function walk(start,    todo, at, n, i, names, head, tail) {
	head = tail = 1
	todo[tail++] = start
	while (head < tail) {
		at = todo[head++]
		n = split(next_of[at], names, " ")
		for (i = 1; i <= n; i++) {
			if (!((start, names[i]) in seen)) {
				seen[start, names[i]] = 1
				todo[tail++] = names[i]
			}
		}
	}
}

function print_circle(members, count,    i, j) {
	print "a circle of " count ":"
	for (i = 1; i <= count; i++)
		for (j = 1; j <= count; j++)
			if ((members[i], members[j]) in edge)
				print "  " members[i] " needs " members[j]
}

END {
	for (name in known)
		walk(name)
	for (name in known) {
		if (name in told || !((name, name) in seen))
			continue
		split("", members)
		count = 0
		for (other in known) {
			if ((name, other) in seen && (other, name) in seen) {
				members[++count] = other
				told[other] = 1
			}
		}
		print_circle(members, count)
	}
}
