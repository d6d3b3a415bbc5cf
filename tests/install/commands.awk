# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# awk -v to=DIRECTORY -f commands.awk GUIDE.md - the commands that a guide shows, a file each in DIRECTORY
#
# A fenced block that begins with "$ " or "# " is a session: its lines with the user's prompt or root's are commands, with
# what belongs to them (a line that ends in a backslash, a here-document), all others are output. Comments that may stand
# in the line before a block:
#
#   <!-- not run: REASON -->   its commands cannot run on a fresh machine
#   <!-- file: PATH -->        it is the content of a file of root's
#   <!-- output -->            it is what a program has written
#
# Files are NUMBER.LINE.KIND: user, root, skip (not run), file (its first line is the path), bare (a block of commands
# without a prompt, which nobody would run).

function emit(kind, text) {
	file = sprintf("%s/%03d.%d.%s", to, ++count, NR, kind)
	printf "%s", text >file
	close(file)
}

function end_command() {
	emit(skip ? "skip" : (prompt == "$" ? "user" : "root"), command)
	command = ""
}

# A here-document's end, "" where the line begins none.
function here_end(line) {
	if (!match(line, /<<-?'?[A-Z]+'?/))
		return ""
	line = substr(line, RSTART, RLENGTH)
	gsub(/[^A-Z]/, "", line)
	return line
}

!fenced && /^<!-- not run: [^ ].* -->$/ { skip = 1; next }
!fenced && /^<!-- output -->$/ { output = 1; next }
!fenced && /^<!-- file: \/[^ ]* -->$/ { path = $3; next }

!fenced && /^```/ {
	fenced = 1
	first = 1
	session = 0
	content = path ? path "\n" : ""
	next
}

fenced && /^```$/ && until == "" {
	if (path)
		emit("file", content)
	if (command != "")
		end_command()
	fenced = skip = output = 0
	path = ""
	next
}

!fenced || output { next }

path { content = content $0 "\n"; next }

until != "" {
	command = command $0 "\n"
	if ($0 == until) {
		until = ""
		end_command()
	}
	next
}

command != "" {
	command = command $0 "\n"
	if ($0 !~ /\\$/)
		end_command()
	next
}

first {
	first = 0
	session = /^[$#] /
	if (!session && $1 ~ /^(srun|sbatch|salloc|sacct|nccl-tune|apt-get|packaging\/build|systemctl|ln|mkdir|export|git|\.\/dev)$/)
		emit("bare", $0 "\n")
}

session && /^[$#] / {
	prompt = substr($0, 1, 1)
	command = substr($0, 3) "\n"
	until = here_end($0)
	if (until == "" && $0 !~ /\\$/)
		end_command()
}
