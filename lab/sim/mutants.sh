#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# mutants.sh [-a] [-s SECONDS] [-j JOBS] [-l] [-n REGEX] [SYNC] - is it seen when a rule of the agreement is taken away?
#
# Each mutant is a copy of pmix-sync with a line or two changed, built and run until a run is wrong: once by what its ranks do
# (mismatches: they differ; stuck: a wait without end; ...), and once by the trace, which has a transition that the model does
# not allow (tests/model/trace-check.h). Printed for each: the rule, what the ranks did and after how many runs, the
# transition and after how many runs.
#   -a          also those that other rules make up for, which no rank may show, and those that few runs show:
#               docs/results/agreement/README.md says why. The trace may see both.
#   -s SECONDS  at most so much processor time for each of the two (40)
#   -l          lines for a Markdown table
#   -n REGEX    only those whose names match
# SYNC holds a directory pmix-sync (default: this tree). The exit status is 1 if a mutant was seen by neither that should be, or
# by ranks that should not, and 2 if a change no longer fits the source.
set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
everything='' seconds=40 jobs=$(nproc) lines='' some=''
while getopts as:j:ln: option; do
	case $option in
	a) everything=1 ;;
	s) seconds=$OPTARG ;;
	j) jobs=$OPTARG ;;
	l) lines=1 ;;
	n) some=$OPTARG ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))
sync=$(cd "${1:-$top}" && pwd)
work=$(mktemp -d /tmp/nt-mutants.XXXXXX)
trap 'rm -rf "$work"' EXIT
names=() kinds=()

# mutant KIND NAME OPTIONS [FILE SED]...: KIND is seen; covered where another rule makes up for it; or rare, where it does
# in all but few runs, so that both is right.
mutant() {
	local kind=$1 name=$2 options=$3 number=${#names[@]} dir
	shift 3
	[ "$kind" = seen ] || [ -n "$everything" ] || return 0
	[[ $name =~ $some ]] || return 0
	names+=("$name") kinds+=("$kind")
	dir=$work/$number
	mkdir "$dir"
	cp -R "$sync/pmix-sync" "$dir"
	while [ $# -gt 0 ]; do
		sed -E -e "$2" "$sync/pmix-sync/$1" >"$dir/new"
		if cmp -s "$dir/new" "$dir/pmix-sync/$1"; then
			echo "mutants.sh: '$name' changes nothing in pmix-sync/$1: $2" >&2
			exit 2
		fi
		sed -E -e "$2" -i "$dir/pmix-sync/$1"
		shift 2
	done
	printf '%s\n' "$options" >"$dir/options"
}

# run NUMBER: what ranks showed, after how many runs; the transition, after how many runs: into the file result.
run() {
	local dir=$work/$1 options shown transition
	read -ra options <"$dir/options"
	if ! build "$dir" >"$dir/build.log" 2>&1; then
		cat "$dir/build.log" >&2
		echo "not-built 0 - 0" >"$dir/result"
		return
	fi
	shown=$(until_bad "$dir" "${options[@]}" --untraced)
	transition=$(until_bad "$dir" "${options[@]}")
	echo "$shown $transition" >"$dir/result"
}

# until_bad DIR OPTION...: what was wrong, and after how many runs. With a trace: the transition alone counts.
until_bad() {
	local dir=$1 line rc=0 seen=- what
	shift
	line=$("$dir/sim" --until-bad --seconds "$seconds" --runs 10000000 "$@" 2>"$dir/wrong") || rc=$?
	case $rc in
	0|1) ;;
	*) seen="exit-$rc" ;;
	esac
	for what in mismatches stuck unlogged idle wrong_sums holds_left runs_left; do
		if [ "$seen" = - ] && [ "$(field "$line" "$what")" -gt 0 ]; then
			seen=$what
		fi
	done
	if [[ " $* " != *" --untraced "* ]]; then
		seen=$(sed -n 's/.* slot [-0-9]*: \([a-z]*\) is not allowed.*/\1/p' "$dir/wrong" | head -n 1)
	fi
	echo "${seen:--} $(field "$line" runs)"
}

# build DIR: what differs from the source is compiled anew, everything where a header does.
build() {
	local objects=() file name changed
	changed=$(diff -rq "$sync/pmix-sync" "$1/pmix-sync" | sed -E 's/^Files (.*) and .*/\1/')
	for file in "$work"/base/*.o; do
		name=$(basename "$file" .o)
		case "$changed" in
		*.h|*/"$name".c)
			file=$1/$name.o
			compile "$1" "$(source_of "$name" "$1")" "$file" || return
			;;
		esac
		objects+=("$file")
	done
	"${CC:-cc}" -Wl,@"$top/tests/model/trace-wrapped" -o "$1/sim" "${objects[@]}"
}

source_of() {
	if [ -e "$2/pmix-sync/$1.c" ]; then
		echo "$2/pmix-sync/$1.c"
	elif [ "$1" = sim-trace ]; then
		echo "$top/lab/sim/trace.c"	# another is in tests/model
	elif [ -e "$top/lab/sim/$1.c" ] && [ "$1" != trace ]; then
		echo "$top/lab/sim/$1.c"
	elif [ -e "$top/tests/model/$1.c" ]; then
		echo "$top/tests/model/$1.c"
	elif [ -e "$top/lib/$1.c" ]; then
		echo "$top/lib/$1.c"
	else
		echo "$top/contract/$1.c"
	fi
}

# compile SYNC SOURCE OBJECT
compile() {
	"${CC:-cc}" -std=gnu11 -O1 -w -D_GNU_SOURCE -I"$1" -I"$top" -include "$top/lab/sim/interleave.h" \
		-c -o "$3" "$2"
}

# The parts that mutants share.
compile_base() {
	local file
	mkdir "$work/base"
	compile "$sync" "$top/lab/sim/trace.c" "$work/base/sim-trace.o"
	for file in "$top"/lab/sim/{agree-sim,comms,network,rank,tally,tuner,world}.c "$top"/tests/model/{trace,trace-check,trace-wrap}.c \
		"$top"/lib/{append,error,number,printable}.c "$top/contract/reason.c" "$sync"/pmix-sync/*.c; do
		case ${file##*/} in
		pmix-log.c|node-leader.c) ;;
		*) compile "$sync" "$file" "$work/base/$(basename "$file" .c).o" ;;
		esac
	done
}

# field LINE NAME: a number of the line that nt-agree-sim prints; 0 where there is none.
field() {
	local rest=${1#*"\"$2\":"}
	[ "$rest" != "$1" ] || rest=0
	echo "${rest%%[,\}]*}"
}

faults="late,lost,repeat,leave,die,stall,kill,race,probe,graph"
small="--mix --faults $faults"
brief="--mix --brief --faults $faults"
deep="--nodes 11 --ranks-per-node 1 --faults $faults"

mutant seen "a branch's ACK is not waited for" "$deep" \
	tree.c 's/tally->from != \(2u << nt_tree_children\(comm, &child\)\) - 1/!(tally->from \& 1)/'
mutant seen "an ACK is missing: the first child's" "$small" \
	tree.c 's/tally->from != (\(2u << nt_tree_children\(comm, &child\)\) - 1)/(tally->from | 2) != \1/'
mutant seen "a NACK is taken for an ACK" "$small" \
	tree.c 's/^(\t\ttally->refused) = true;/\1 = false;/'
mutant seen "hold_at is not set" "$small" \
	participant.c '/^\t+atomic_store_explicit\(&shm_key->hold_at, plan.at \+ 1, memory_order_seq_cst\);$/ d'
mutant seen "turns are not looked at after the hold" "$small" \
	participant.c 's/held = nt_view_none_reached\(shm_key, shm, plan.at\) &&$/held =/'
mutant seen "turns are looked at before the hold" "$small" \
	participant.c '/^\t+atomic_store_explicit\(&shm_key->hold_at, plan.at \+ 1, memory_order_seq_cst\);$/ { s/.*/\t\t\theld = nt_view_none_reached(shm_key, shm, plan.at);/; }; /^\t+held = nt_view_none_reached\(shm_key, shm, plan.at\) &&$/ { N; s/.*/\t\t\theld = held \&\& !nt_view_objection(shm);\n\t\t\tatomic_store(\&shm_key->hold_at, plan.at + 1);/; }'
mutant rare "no second look at who has left" "$brief" \
	participant.c '/^\t+held = nt_view_none_reached\(shm_key, shm, plan.at\) &&$/ { N; s/ &&\n.*/;/; }'
mutant seen "the hold goes before the plan is in shared memory" "$small" \
	participant.c 's/^(\tkey->in_doubt = false;)/\1 atomic_store_explicit(\&shm_key->hold_at, 0, memory_order_seq_cst);/'
mutant seen "a rank does not read hold_at" "$small" \
	turn.h 's/if \(hold != 0 && turn \+ 1 >= hold\)/if (hold == NT_NEVER)/'
mutant seen "a rank reads hold_at before it shows its turn" "$small" \
	turn.h '/nt_turn_take\(/,/^}/ { s/atomic_store_explicit\(&key->turn\[slot\], turn \+ 1, memory_order_seq_cst\);/hold = atomic_load_explicit(\&key->hold_at, memory_order_seq_cst);/; t; s/hold = atomic_load_explicit\(&key->hold_at, memory_order_seq_cst\);/atomic_store_explicit(\&key->turn[slot], turn + 1, memory_order_seq_cst);/; }'
mutant seen "the epoch is published before the plan is in its place" "$small" \
	participant.c '/shm_key->plan\[entry->epoch & 1\] = key->pending;/ { N; s/(.*)\n(.*)/\2\n\1/; }'
mutant seen "the hold goes before the epoch is published" "$small" \
	participant.c '/atomic_store_explicit\(&shm_key->epoch, entry->epoch/ i atomic_store_explicit(\&shm_key->hold_at, 0, memory_order_seq_cst);'
mutant seen "a rank has passed a plan whose turn has not come" "$small" \
	turn.h 's/^(\t\tmine->next = key->plan\[epoch & 1\];).*/\t{ \1 atomic_store(\&key->passed[slot], epoch); }/'
mutant seen "COMMIT does not wait for ACK" "$small" \
	coordinator.c 's/else if \(key->answered\)$/else if (a->now_ms - key->asked_ms > 100 || key->answered)/'
mutant seen "an answer to another proposal counts" "$small" \
	coordinator.c 's/^\telse if \(sum->epoch == key->plan.epoch\)$/\telse/'
mutant rare "an answer to an earlier coordinator counts" "--mix --brief --calls 1500 --faults late,die,again" \
	agree.c 's/comm->agreed && \(int\)entry->to == comm->coordinator_node;/comm->agreed;/'
mutant covered "an old proposal is answered again" "$small" \
	participant.c 's/if \(epoch <= key->installed.epoch \|\| /if (/'
mutant seen "an epoch is used again after an abort" "$small" \
	coordinator.c 's/key->plan.epoch\+\+;/key->plan.epoch += key->attempts == 0;/'
mutant seen "a plan may follow before the last is over" "$small" \
	participant.c 's/\|\| key->data_due\)/)/; s/return nt_view_passed\(&shm->key\[key->slot\], shm, &key->installed\);/return true;/; s/if \(!key->data_due \|\| !nt_view_passed\(shm_key, shm, &key->installed\)\)/if (!key->data_due)/'
mutant seen "one side takes another stride" "$small" \
	participant.c 's/^(\t)(if \(may_hold\(a, comm, key, plan.epoch\)\) \{)/\1plan.stride += !comm->is_coordinator;\n\1\2/'
mutant seen "a rank counts what it asks itself" "$small" \
	turn.h 's/^\tif \(mine->counted_until < turn\) \{/\tmine->counted++;\n&/'
mutant seen "an entry takes effect before it is in the log" "$small" \
	outbox.c '/^void nt_outbox_say/,/^}/ s/^\tappend_entry\(.*/\tappend_entry(\&a->queue, entry);\n\tif (!comm->local)\n\t\tappend_entry(\&a->log, entry);/' \
	agree.c 's/dispatch_all\(agree, agree->config.self, false, bytes, count\);/;/'
mutant seen "a key is closed while its plan runs" "$small" \
	coordinator.c 's/^\tcase NT_COORDINATOR_RUNNING:$/&\n\t\tif (comm->refused) { close_key(a, comm, key, NULL); return; }/'
mutant seen "a node closes a key while its plan runs" "$small" \
	participant.c 's/ \|\| !nt_view_passed\(shm_key, shm, &key->installed\)\)$/)/; s/if \(!key->data_due\)$/if (!key->data_due || !nt_view_passed(shm_key, shm, \&key->installed))/'
mutant seen "agreed before all ranks are seen" "--mix --faults kill,race,probe" \
	join.c 's/if \(comm->seen == comm->ranks\)/if (comm->seen + 1 >= comm->ranks)/; s/if \(nt_capabilities_same\(&comm->all_caps\[r\], usual\)\)/if (nt_capabilities_same(\&comm->all_caps[r], usual) || comm->all_caps[r].nccl == 0)/'
mutant covered "agreed before all ranks are seen (alone)" "--mix --faults kill,race,probe" \
	join.c 's/if \(comm->seen == comm->ranks\)/if (comm->seen + 1 >= comm->ranks)/'
mutant seen "an unknown turn counts as 0" "--mix --faults race,late" \
	view.c 's/if \(turn == 0 \|\| turn > at\)/if (turn > at)/; s/(nt_view_joined\(shm, m\) && atomic_load\(&key->turn\[m\]\) == 0)\)/(\1) \&\& false)/'
mutant seen "a graph capture is no objection" "$small" \
	view.c 's/if \(flags & NT_PARTICIPANT_GRAPHS\)/if (flags \& 256u)/; s/if \(turn == 0 \|\| turn > at\)/if (turn == 0 || (turn > at \&\& turn < (UINT64_C(1) << 62)))/'
mutant seen "an id may come again" "--mix --brief --faults late,race,again" \
	used-ids.c 's/return ids->cap > 0 && ids->id\[place_of\(ids, id\)\] == id;/return ids->cap > 65536 \&\& id == 0;/'
mutant covered "no deadline for answers" "--mix --faults die,late,lost,race" \
	coordinator.c 's/ \|\| a->now_ms - key->asked_ms > timeout_ms\)/ || timeout_ms == 0)/'
mutant seen "ABORT is not said" "$small" \
	coordinator.c 's/^\ttell_nodes\(a, comm, key, NT_ENTRY_ABORT\);/\t;/'
mutant seen "the hold stays after an ABORT" "$small" \
	participant.c 's/^(\t)(atomic_store_explicit\(&shm_key->hold_at, 0, memory_order_seq_cst\);)/\1if (entry->type == NT_ENTRY_COMMIT)\n\1\t\2/'
mutant seen "an aborted plan keeps its room for samples" "$small" \
	participant.c 's/^\t\tnt_shm_run_free\(a->config.shm, key->pending.run\);/\t\t;/'
mutant seen "data of a branch is left out" "$small" \
	tree.c 's/^\tcount_in\(a, tally, entry\);/\tif (entry->type != NT_ENTRY_DATA || bit != 2)\n\t&/'

recheck="--mix --calls 1500"
mutant seen "a rank looks away and its turn is still known" "$recheck" \
	turn.h 's/NT_TURN_UNKNOWN, memory_order_seq_cst/turn + 1, memory_order_seq_cst/'
mutant seen "a window over a plan for good ends on the baseline" "$recheck" \
	turn.h 's/mine->committed = mine->plan;/;/'
mutant seen "CLOSE ends a plan for good" "$recheck" \
	participant.c 's/^\tif \(key->committed\) \{.*/\tif (key->closed) {/'
mutant seen "a node that refuses ends a plan for good" "$recheck" \
	participant.c 's/key->in_doubt \|\| key->committed \|\| /key->in_doubt || /'
mutant seen "a recheck ends while a window is in force" "$recheck" \
	recheck-timer.c 's/if \(key->in_doubt \|\| key->data_due\) \{/if (false) {/' \
	turn.h '/nt_turn_commit\(/,/^}/ s/if \(mine->next.epoch != 0 \|\| .*/if (false)/'
mutant covered "a recheck ends while a window is in force on the node" "$recheck" \
	recheck-timer.c 's/if \(key->in_doubt \|\| key->data_due\) \{/if (false) {/'
mutant covered "a rank may look away while a window is in force" "$recheck" \
	turn.h '/nt_turn_commit\(/,/^}/ s/if \(mine->next.epoch != 0 \|\| .*/if (mine->next.epoch != 0)/'
mutant covered "a recheck may begin while a window is in force" "$recheck" \
	recheck-timer.c 's/if \(!key->committed \|\| key->rechecking \|\| key->in_doubt \|\| key->data_due \|\|/if (!key->committed ||/'
mutant covered "a rank looks away without a look at the hold" "$recheck" \
	turn.h 's/if \(atomic_load_explicit\(&key->hold_at, memory_order_seq_cst\) == 0 &&/if (true ||/'
mutant covered "READY of a recheck only with known turns (alone)" "$recheck" \
	participant.c 's/if \(nt_recheck_step\(a, comm, key\) && nt_view_turns_known\(shm_key, shm\)\)/if (nt_recheck_step(a, comm, key))/'
mutant covered "READY of another recheck" "$recheck" \
	coordinator.c 's/ && sum->span == key->opened;/;/'
mutant covered "a committed key takes plans outside of a recheck" "$recheck" \
	participant.c 's/\(key->committed && !key->rechecking\) \|\| //'

mutant seen "plans follow only where the last is over (the check alone)" "$small" \
	participant.c 's/return nt_view_passed\(&shm->key\[key->slot\], shm, &key->installed\);/return true;/'
mutant rare "an unknown turn is no answer to PROPOSE (alone)" "$recheck" \
	view.c 's/if \(turn == 0 \|\| turn > at\)/if (turn > at)/'
mutant covered "READY only with known turns (alone)" "$small" \
	participant.c 's/if \(!key->ready && nt_view_turns_known\(shm_key, shm\)\)/if (!key->ready)/'
mutant covered "an outcome of another epoch" "$small" \
	participant.c 's/if \(!key->in_doubt \|\| key->pending.epoch != entry->epoch\)/if (!key->in_doubt)/'
mutant covered "the coordinator does not hear REFUSE" "$small" \
	agree.c 's/^(\t\t)comm->refused = true;/\1;/'
mutant seen "ranks that have left are no objection" "$small" \
	view.c 's/if \(atomic_load\(&shm->slot\[m\].state\) == NT_PARTICIPANT_LEFT\)/if (barred == INT32_MAX)/'
mutant seen "COMMIT is said after ABORT (which nodes ignore)" "$small" \
	coordinator.c 's/^(\ttell_nodes\(a, comm, key, NT_ENTRY_ABORT\);)/\1 if (!key->refused) tell_nodes(a, comm, key, NT_ENTRY_COMMIT);/'

compile_base
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
for number in "${!names[@]}"; do
	read -r seen runs transition steps <"$work/$number/result"
	case ${kinds[number]}:$seen:$transition in
	seen:-:-|covered:[!-]*|*:not-built:*|*:exit-*) wrong=1 mark=WRONG ;;
	*) mark=ok ;;
	esac
	if [ -n "$lines" ]; then
		printf '| %s | %s | %s | %s | %s |\n' "${names[number]}" "$seen" "$runs" "$transition" "$steps"
	else
		printf '%-5s %-62s %-10s %8s runs  %-8s %8s runs\n' "$mark" "${names[number]}" "$seen" "$runs" "$transition" "$steps"
	fi
done
exit "$wrong"
