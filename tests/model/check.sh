#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# check.sh [--sizes|--mutants|--deep] [-j JOBS] - check the model of the agreement with Spin, as it is and with one rule taken away
#
# Each size is searched to its end: no assertion may fail, and no process may wait without end. Each mutant must be found
# out, by what is named. --deep takes larger sizes, and looks for cycles, too: minutes, up to 7 GiB each.
# Prints a table as comments and a TAP line for each; the exit status is 1 if anything was not as expected.
set -euo pipefail

model=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/agree.pml
jobs=2 deep='' sizes=1 mutants=1
while [ $# -gt 0 ]; do
	case $1 in
	--sizes) mutants='' ;;
	--mutants) sizes='' ;;
	--deep) deep=1 sizes='' mutants='' ;;
	-j) jobs=$2; shift ;;
	*) sed -n '/^# check.sh/,/^[^#]/{s/^# \{0,1\}//p}' "$0" >&2; exit 2 ;;
	esac
	shift
done
if ! command -v spin >/dev/null; then
	echo "1..0 # skip no spin here: the model of the agreement was NOT checked (Debian: apt-get install spin)"
	exit 0
fi
work=$(mktemp -d /tmp/nt-model.XXXXXX)
trap 'rm -rf "$work"' EXIT
limit_s=400 limit_mb=900 optimize=-O0	# most of the time is the compiler's; a guard, not a measure
[ -z "$deep" ] || { limit_s=600 limit_mb=7000 optimize=-O2; }
names=() wants=() defines=() cycles=()

# check NAME EXPECTED DEFINES [cycles]: EXPECTED is "none", or a part of what Spin must say.
check() {
	names+=("$1") wants+=("$2") defines+=("$3") cycles+=("${4:-}")
}

size() {
	check "$1" none "$2" "${3:-}"
}

# run NUMBER: states, depth, seconds, MiB and what was found, into the file result.
run() {
	local dir=$work/$1 flags=(-DCOLLAPSE -DMEMLIM="$limit_mb") args=(-m1000000 -w20) found states depth mb began=$EPOCHREALTIME
	local options
	read -ra options <<<"${defines[$1]}"
	mkdir "$dir"
	if [ -n "${cycles[$1]}" ]; then
		flags+=(-DNP)
		args+=(-l)
	else
		flags+=(-DSAFETY)
	fi
	if ! (cd "$dir" && spin -a "${options[@]}" "$model" && "${CC:-cc}" "$optimize" -w "${flags[@]}" -o pan pan.c) \
		>"$dir/build" 2>&1; then
		cat "$dir/build" >&2
		echo "0 0 0 0 not built" >"$dir/result"
		return
	fi
	(cd "$dir" && timeout "$limit_s" ./pan "${args[@]}") >"$dir/out" 2>&1 || echo "ended with $?" >>"$dir/out"
	found=$(what_was_found "$dir")
	states=$(awk '/states, stored/ { print $1 }' "$dir/out")
	depth=$(sed -n 's/.*depth reached \([0-9]*\).*/\1/p' "$dir/out")
	mb=$(awk '/total actual memory usage/ { print $1 }' "$dir/out")
	printf '%s %s %s %s %s\n' "${states:-0}" "${depth:-0}" \
		"$(awk -v a="$began" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }')" "${mb:-0}" "$found" >"$dir/result"
}

# What an assertion is about, by what it names.
what_was_found() {
	local text
	text=$(grep '^pan:1' "$1/out" || :)
	case $text in
	*'assertion violated'*'choice['*) echo "ranks differ" ;;
	*'assertion violated'*'next.epoch=='*) echo "another plan in the slot" ;;
	*'assertion violated'*'passed['*) echo "slot rewritten too early" ;;
	*'assertion violated'*'committed['*) echo "a plan without COMMIT" ;;
	*'assertion violated'*) echo "an assertion" ;;
	*'invalid end state'*) echo "a wait without end" ;;
	*'non-progress cycle'*) echo "a cycle" ;;
	*)
		if grep -q 'errors: 0' "$1/out" &&
			! grep -qE 'Search not completed|ended with|out of memory|too small' "$1/out"; then
			echo "none"
		else
			echo "not searched to the end"
		fi ;;
	esac
}

differ="ranks differ" waits="a wait without end"
small="-DCOARSE -DTURNS=2 -DPROPOSALS=1"
two="-DCOARSE -DTURNS=3 -DPROPOSALS=1"

if [ -n "$sizes" ]; then
	size "2 nodes, 1 plan, every access a step" "-DTURNS=3 -DPROPOSALS=1"
	size "2 nodes, 2 proposals" "-DCOARSE -DTURNS=2 -DPROPOSALS=2"
	size "2 nodes, ranks leave at the end" "$two -DRETIRING"
	size "2 nodes, a leader leaves" "$small -DLEAVES=1"
	size "2 nodes, a leader dies" "$small -DDEATHS=1"
	size "2 nodes, a rank freezes" "$small -DFREEZES=1"
	size "2 nodes, a key is opened" "-DCOARSE -DTURNS=3 -DPROPOSALS=1 -DOPENING"
	size "2 nodes, a second life of the id" "-DCOARSE -DTURNS=3 -DPROPOSALS=1 -DOPENING -DSECOND_LIFE"
	size "2 nodes, no cycles" "$small" cycles
	size "1 node of 2 ranks, a recheck" "-DCOARSE -DNODES=1 -DRPN=2 -DTURNS=5 -DPROPOSALS=2 -DRECHECKS=1"
	size "2 nodes, a recheck beside a plan for good" "-DCOARSE -DTURNS=3 -DPROPOSALS=1 -DRECHECKS=1 -DCOMMITTED_FIRST"
	size "1 node of 2 ranks, 3 proposals" "-DCOARSE -DNODES=1 -DRPN=2 -DTURNS=4 -DPROPOSALS=3"
fi

mutant() {
	check "mutant: $1" "$2" "$3"
}
if [ -n "$mutants" ]; then
	mutant "no hold" "$differ" "$two -DNO_HOLD"
	mutant "turns are not looked at after the hold" "$differ" "$two -DNO_TURN_CHECK"
	mutant "turns are looked at before the hold" "$differ" "$two -DTURNS_FIRST"
	mutant "a rank does not read the hold" "$differ" "$two -DRANK_IGNORES_HOLD"
	mutant "a rank reads the hold before it shows its turn" "$differ" "$two -DRANK_HOLD_FIRST"
	mutant "an ACK is missing" "$differ" "$two -DMISSING_ACK"
	mutant "a NACK is taken for an ACK" "$differ" "$two -DNACK_IS_ACK"
	mutant "an ACK to an earlier coordinator counts" "$differ" "$two -DSECOND_LIFE -DANY_COORDINATOR"
	mutant "READY and ACK to an earlier coordinator count" "$differ" "$two -DOPENING -DSECOND_LIFE -DANY_COORDINATOR"
	mutant "a branch's ACK is not waited for" "$differ" \
		"-DCOARSE -DNODES=3 -DCHAIN -DTURNS=2 -DPROPOSALS=1 -DBRANCH_NOT_WAITED"
	mutant "the hold goes before the plan is there" "$differ" "$two -DHOLD_CLEARED_FIRST"
	mutant "the epoch is there before the plan" "another plan in the slot" "-DTURNS=3 -DPROPOSALS=1 -DEPOCH_FIRST"
	mutant "COMMIT has its effect before it is in the log" "a plan without COMMIT" "$two -DEARLY_EFFECT"
	mutant "an epoch is used again after an ABORT" "$differ" "-DCOARSE -DTURNS=3 -DPROPOSALS=2 -DEPOCH_REUSED"
	mutant "plans follow before the last is passed" "$differ" "-DCOARSE -DTURNS=3 -DPROPOSALS=2 -DNO_PASSED"
	mutant "the coordinator closes a key in force" "$differ" "$two -DRETIRING -DCLOSE_IN_FORCE"
	mutant "a node closes a key in force" "$differ" "$two -DRETIRING -DCLOSED_IN_FORCE"
	mutant "no second look at who has left" "$differ" "$two -DRETIRING -DOBJECTION_ONCE"
	mutant "no second look at flags" "$differ" "-DCOARSE -DTURNS=2 -DPROPOSALS=1 -DFREEZES=1 -DOBJECTION_ONCE"
	mutant "an unknown turn counts as none" "$differ" "$two -DOPENING -DUNKNOWN_IS_ZERO"
	mutant "no hold, in a recheck of two nodes" "$differ" "-DCOARSE -DTURNS=3 -DPROPOSALS=1 -DRECHECKS=1 -DCOMMITTED_FIRST -DNO_HOLD"
	mutant "a rank looks away without a look at the hold" "$differ" "-DCOARSE -DNODES=1 -DRPN=2 -DTURNS=5 -DPROPOSALS=2 -DRECHECKS=1 -DAWAY_UNSEEN"
	mutant "a rank looks away and its turn stays known" "$differ" "-DCOARSE -DNODES=1 -DRPN=2 -DTURNS=5 -DPROPOSALS=2 -DRECHECKS=1 -DAWAY_TURN_KEPT"
	mutant "no deadline" "$waits" "$two -DDEATHS=1 -DNO_DEADLINE"
	mutant "the hold stays after an ABORT" "$waits" "$two -DHOLD_STAYS"
	mutant "the coordinator leaves without ABORT" "$waits" "$two -DLEAVES=1 -DLEAVES_SILENTLY"
fi

if [ -n "$deep" ]; then
	size "2 x 1, 3 turns, 2 proposals, every access a step" "-DTURNS=3 -DPROPOSALS=2"
	size "2 x 1, 3 turns, ranks leave, every access a step" "-DTURNS=3 -DPROPOSALS=1 -DRETIRING"
	size "2 x 1, 4 turns, 2 proposals" "-DCOARSE -DTURNS=4 -DPROPOSALS=2"
	size "2 x 1, 3 turns, 3 proposals" "-DCOARSE -DTURNS=3 -DPROPOSALS=3"
	size "2 x 1, 3 turns, 2 proposals, no cycles" "-DCOARSE -DTURNS=3 -DPROPOSALS=2" cycles
	size "2 x 1, 4 turns, a recheck beside a plan for good" "-DCOARSE -DTURNS=4 -DPROPOSALS=1 -DRECHECKS=1 -DCOMMITTED_FIRST"
	size "2 x 1, 3 turns, a recheck, every access a step" "-DTURNS=3 -DPROPOSALS=1 -DRECHECKS=1 -DCOMMITTED_FIRST"
	size "2 x 2, 2 turns, 1 proposal" "-DCOARSE -DRPN=2 -DTURNS=2 -DPROPOSALS=1"
	size "3 x 1, 2 turns, 1 proposal" "-DCOARSE -DNODES=3 -DTURNS=2 -DPROPOSALS=1"
	size "3 x 1 in a chain, 2 turns, 1 proposal" "-DCOARSE -DNODES=3 -DCHAIN -DTURNS=2 -DPROPOSALS=1"
	size "1 x 2, 5 turns, 4 proposals" "-DCOARSE -DNODES=1 -DRPN=2 -DTURNS=5 -DPROPOSALS=4"
	size "2 x 1, 3 turns, 2 proposals, ranks leave" "-DCOARSE -DTURNS=3 -DPROPOSALS=2 -DRETIRING"
	size "2 x 1, 3 turns, 2 proposals, a leader leaves" "-DCOARSE -DTURNS=3 -DPROPOSALS=2 -DLEAVES=1"
	size "2 x 1, 3 turns, a leader dies" "-DCOARSE -DTURNS=3 -DPROPOSALS=1 -DDEATHS=1"
	size "2 x 1, 2 turns, one leader leaves, one dies" "-DCOARSE -DTURNS=2 -DPROPOSALS=1 -DLEAVES=1 -DDEATHS=1"
	size "2 x 1, 3 turns, a rank freezes" "-DCOARSE -DTURNS=3 -DPROPOSALS=1 -DFREEZES=1"
	size "2 x 1, 3 turns, 2 proposals, opened, ranks leave" \
		"-DCOARSE -DTURNS=3 -DPROPOSALS=2 -DOPENING -DRETIRING"
fi

echo "1..${#names[@]}"
active=0 wrong=0
for number in "${!names[@]}"; do
	run "$number" &
	active=$((active + 1))
	if [ "$active" -ge "$jobs" ]; then
		wait -n
		active=$((active - 1))
	fi
done
wait
printf '# %-52s %12s %6s %8s %8s  %s\n' "" states depth s MiB found
for number in "${!names[@]}"; do
	read -r states depth took mb found <"$work/$number/result"
	printf '# %-52s %12s %6s %8s %8s  %s\n' "${names[number]}" "$states" "$depth" "$took" "$mb" "$found"
	if [ "$found" = "${wants[number]}" ]; then
		echo "ok $((number + 1)) - ${names[number]}"
	else
		echo "not ok $((number + 1)) - ${names[number]}: ${wants[number]} was expected"
		wrong=1
	fi
done
exit "$wrong"
