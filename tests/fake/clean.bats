#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# What nccl-tune prints of arguments, files and their names: one line of printable ASCII for what is one line, whoever
# chose the text.
bats_require_minimum_version 1.5.0

setup() {
	PATH=$NT_STAGE/bin:$PATH
	nasty=$'x\nFORGED\033[2J\302\233\342\200\256\r'
	cd "$BATS_TEST_TMPDIR" || exit 1
	export HOME=$PWD
}

# shown CMD...: what CMD says, of both streams, holds the nasty text as it should.
shown() {
	"$@" >output 2>&1 </dev/null || :
	[ -s output ] || { echo "nothing was said by: $*"; return 1; }
	! LC_ALL=C grep -anP '[^\x20-\x7e]' output || { echo "said by: $*"; return 1; }
	! grep -an '^FORGED' output || { echo "said by: $*"; return 1; }
	grep -q 'x?FORGED' output || { echo "it was not named by: $*"; cat output; return 1; }
}

@test "arguments" {
	shown nccl-tune "$nasty"
	shown nccl-tune "-$nasty"
	shown nccl-tune help "$nasty"
	shown nccl-tune report "$nasty"
	shown nccl-tune backfill "--$nasty"
	shown nccl-tune calibrate --time "$nasty"
	shown nccl-tune memory "$nasty"
}

@test "names of files and directories" {
	mkdir "$nasty"
	echo garbage >"$nasty/file"
	shown nccl-tune backfill --spool "$nasty/none"
	shown nccl-tune memory show --memory "$PWD/$nasty"
	shown nccl-tune memory export "$nasty/lines" --memory "$PWD/$nasty"
	NCCL_TUNE_MEMORY=$PWD/$nasty shown nccl-tune memory
}

@test "a FIFO without a writer blocks nothing; one with a writer is read" {
	mkfifo pipe
	run -1 timeout -k 1 60 nccl-tune report --file pipe
	run -1 timeout -k 1 60 nccl-tune memory import pipe
	run -0 timeout -k 1 60 nccl-tune report --file <(sleep 0.3; echo '{"nccl_tune":{"v":1,"0":{"mode":"bandit","ranks":2,"nodes":1}}}')
	[[ $output = *bandit* ]]
}

@test "the content of a record" {
	printf '{"nccl_tune":{"v":1,"0":{"mode":"bandit","launch":"x\\nFORGED\\u001b[2J\\u009b"}}}\n' >record
	shown nccl-tune report --file record
}
