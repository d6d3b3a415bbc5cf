#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# The commands that documents show for ./dev bench, ./dev run, ./dev gpu and the scripts of lab/: each in its smallest size, and
# what it prints is what it says. ./dev's build is left out: this tree is built. Elsewhere are ./dev cluster and demo
# (cluster/05-dev), ./dev COMMAND --help (lint/dev), and ./dev test and fuzz, which run this.
bats_require_minimum_version 1.5.0

# A copy, for these may write in it; with this build.
setup_file() {
	local top
	top=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	export TREE=$BATS_FILE_TMPDIR/tree NT_STAGE=${NT_STAGE:-$top/build/stage}
	mkdir "$TREE"
	tar -C "$top" --exclude=./.git --exclude='./build*' -c . | tar -C "$TREE" -x
	cp -R "$top/build-aux" "$TREE/"
	ln -s "${NT_BUILD:-$top/build}" "$TREE/build"
	sed -e 's/^build() {/build() {\n\treturn 0/' -e "s,^stage=.*,stage=$NT_STAGE," "$top/dev" >"$TREE/dev"
}

setup() {
	cd "$TREE" || exit 1
	export TMPDIR=$BATS_TEST_TMPDIR
}

# prints FILTER COMMAND...: JSON for which the filter holds of every line.
prints() {
	local filter=$1
	shift
	run --separate-stderr "$@"
	[ "$status" = 0 ] || { printf '%s\n' "$*: exit status $status" "$output" "$stderr" >&2; return 1; }
	jq -es "length > 0 and all($filter)" <<<"$output" >/dev/null ||
		{ printf '%s\n' "$*" "$output" "$stderr" >&2; return 1; }
}

as_root() {
	[ "$(id -u)" = 0 ] || skip "needs root, as the cluster tests do"
	unset TMPDIR	# the jobs run as another user
}

@test "./dev bench hot: the time of a decision in each state, and its instructions" {
	prints '.' ./dev bench hot 1000
	jq -es '.[0] | .calls == 1000 and ([.counted, .explored, .committed, .group_api, .p2p_api] |
			all(.p50_ns > 0 and .p99_ns >= .p50_ns)) and
		(.callbacks | .explored_share > 0.9 and .explored_share <= 1 and .kernel_first.p50_ns > 0)' <<<"$output"
	if command -v valgrind >/dev/null; then
		jq -es '.[1].instructions_per_decision | . > 100 and . < 5000' <<<"$output"
	fi
}

@test "./dev bench cost: what a process pays, with and without the plugin" {
	prints '.rounds == 1 and .threads_added == 1 and .init.many_us.median > 0 and .kib.many.rss.median > 100' \
		./dev bench cost 1 1
}

@test "nt-replay and nt-engine-sim" {
	run -0 ./dev run nt-replay tests/traces/h200-2x4-seq.csv
	[[ $output = *allreduce*TREE/SIMPLE*faster* ]]
	run -0 ./dev run nt-engine-sim -n 20 aa
	[[ $output = *20* ]]
}

@test "nt-agree-sim, as a part of the tree and built by hand" {
	local ok='.mismatches == 0 and .stuck == 0 and .runs > 0'
	prints "$ok" ./dev run nt-agree-sim --mix --runs 20
	prints "$ok" ./dev run nt-agree-sim --mix --brief --runs 20
	prints "$ok" ./dev run nt-agree-sim --nodes 4 --ranks-per-node 2 --runs 20 --seed 7 --faults late,die
	prints "$ok" ./dev run nt-agree-sim --plain --nodes 64 --ranks-per-node 8 --runs 1 --faults none
	run -0 lab/sim/build.sh "$TMPDIR/nt-agree-sim" . -static
	prints "$ok" "$TMPDIR/nt-agree-sim" --mix --runs 5
	run -0 lab/sim/mutants.sh -s 10 -n 'hold_at is not set'
	[[ $output = "ok "*"hold_at is not set"* ]]
}

@test "nt-programs" {
	run -0 ./dev run nt-programs --list
	[[ $output = *ddp-1b* ]]
	prints '.program == "tp-dp-world" and .wrong == 0' ./dev run nt-programs --json --seconds 3 tp-dp-world
	run -0 ./dev run nt-programs --seconds 3 tp-dp-world
	[[ $output = *"tp-dp-world, seed 1: "*"decided "*" worth it"* ]]
}

@test "rules.sh" {
	TRIALS=2 run -0 lab/stats/rules.sh "$TMPDIR/rules"
	[[ $output = *"| lognormal-3 |"*"| cells |"*"| 34 |"* ]]
	jq -e 'length > 0' "$TMPDIR/rules/cells.json"
}

@test "./dev bench agree: what ranks agree on, and how long it takes" {
	as_root
	prints '.mismatches == 0 and .calls > 100 and (.fetches | length) == 4' ./dev bench agree day 2 5
	prints '.mismatches == 0 and .idle_s == 1 and .commits > 0 and (.threads | length) > 0' ./dev bench agree idle 1
}

@test "./dev bench launch: a round of steps of each kind" {
	as_root
	run -0 ./dev bench launch -o "$BATS_TEST_TMPDIR/steps" 1 1
	[ "$(grep -cE '^(start|end) +1 +(none|no-option|off|observe|bandit|record) +[0-9.]+ +[0-9.]+' <<<"$output")" -ge 10 ]
	[ "$(wc -l <"$BATS_TEST_TMPDIR/steps")" -ge 6 ]
}

@test "./dev bench crowd: nothing is left behind" {
	as_root
	prints '.steps == 10 and .records > 5 and .lost == [] and .left == [] and .updates > 0' ./dev bench crowd 10 5 1
}

@test "./dev bench summary: a summary of made-up jobs" {
	as_root
	prints '.found == 200 and ([.runs[].kind] == ["fill", "summary", "sacct"]) and all(.runs[]; .seconds > 0)' \
		./dev bench summary 200
}

@test "accounting.sh: what records cost slurmctld" {
	as_root
	prints '.[0] | .kind == "one_job" and .updates > 0 and .records.whole == 2' lab/measure/accounting.sh 2 2 one_job
}

@test "./dev gpu --dry: the parts that the document names, without a GPU" {
	as_root
	run -0 ./dev gpu --dry --parts smoke --topologies 2x1 --budget 200 --out "$BATS_TEST_TMPDIR/gpu"
	[[ $output = *"== exit status 0 after "* ]]
	[[ $output = *"smoke-check.2x1.off.1: exit status and seconds: 0 "*'"mismatches":0'* ]]
}

@test "./dev format: changes nothing in a tree that is formatted" {
	clang-format --version | grep -q 'version 14\.' || skip "no clang-format 14"
	cp -R "$TREE" "$TMPDIR/tree"
	cd "$TMPDIR/tree" || exit 1
	git init -q .
	run -0 ./dev format
	run -0 diff -rq --exclude=.git "$TREE" .
}
