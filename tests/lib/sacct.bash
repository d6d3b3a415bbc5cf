# shellcheck shell=bash
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# A sacct of our own, for what reads many jobs' records without a cluster.

# fake_sacct: from here on, in front of $PATH, with the command under test; jobs are those of texts.
fake_sacct() {
	mkdir "$BATS_TEST_TMPDIR/bin"
	cat >"$BATS_TEST_TMPDIR/bin/sacct" <<-'END'
	#!/bin/bash
	for word; do
		case $word in
		--delimiter=*) d=${word#*=} ;;
		--starttime=uts*) from=${word#*uts} ;;
		esac
	done
	while IFS= read -r text; do
		printf '%s' "$((++n))${d}nt${d}gpu${d}ann${d}2${d}6000${d}COMPLETED${d}$text$d$((from + 1))"$'\n'
	done <"${0%/*}/texts"
	exec "${0%/*}/more"
	END
	printf '#!/bin/sh\n' >"$BATS_TEST_TMPDIR/bin/more"
	: >"$BATS_TEST_TMPDIR/bin/texts"
	chmod +x "$BATS_TEST_TMPDIR"/bin/{sacct,more}
	PATH=$BATS_TEST_TMPDIR/bin:$NT_STAGE/bin:$PATH
}

# texts LINE...: what a job each has in its AdminComment
texts() {
	printf '%s\n' "$@" >"$BATS_TEST_TMPDIR/bin/texts"
}

row() {
	printf '"AllReduce %s":{"auto":"RING/LL","arm":"%s","us":[20,10],"calls":100,"spent_ms":2,"saved_ms":%s}' "$@"
}

# record PROFILE [MEMBER]...
record() {
	printf '{"nccl_tune":{"v":1,"0":{"mode":"bandit","ranks":8,"nodes":2,"launch":"%s","fp":"00112233445566ff","nccl":"2.28.9",' "$1"
	printf '"fabric":"ib","per_node":4,"step_us":[1,1000,2],"steps":600%s,"8r2n":{%s,%s}}}}' "${2:-}" "$(row 1M TREE/LL 50)" \
		"$(row 16K AUTO 0 | sed 's/}$/,"why":"small"}/')"
}

some() {
	texts "$(record wide ',"measured":1.25')" "$(record wide ',"measured":1.25')" "$(record wide ',"measured":1.25')" \
		"$(record default)" '' JS1:H4sI '{"nccl_tune":{"v":1,'
}
