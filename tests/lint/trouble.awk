# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# The texts of C files, one a line: adjacent ones joined, what is put in as "…". With -v lines=1 every line is a piece of
# code by itself.
function flush(    n, i, part) {
	gsub(/'"'/, "' '", all)
	gsub(/\\"/, "'", all)
	gsub(/" *NT_OPTION *"/, "nccl-tune", all)
	gsub(/" *NT_OPTION/, "nccl-tune\"", all)
	gsub(/" *(PRI[a-zA-Z0-9]+|[A-Z_]+) *"/, "…", all)	# a macro among texts, at their end, before them
	gsub(/" *PRI[a-zA-Z0-9]+/, "…\"", all)
	gsub(/(LOG|NT_[A-Z_]+) *"/, "\"", all)
	gsub(/"[ \t]*"/, "", all)
	gsub(/%[-+0#]*[0-9*]*(\.[0-9*]+)?(hh|h|ll|l|z|j|t)?[diouxXcsmpgfe]/, "…", all)
	gsub(/%…/, "…", all)
	gsub(/%%/, "%", all)
	gsub(/\\n/, "", all)
	n = split(all, part, "\"")
	for (i = 2; i <= n; i += 2)
		print part[i]
	all = ""
}
FNR == 1 || lines { flush() }
{ all = all $0 " " }
END { flush() }
