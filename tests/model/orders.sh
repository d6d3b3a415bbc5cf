#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# orders.sh [search|litmus|mutants|accesses|table] - the agreement's shared memory in all executions that C11 allows
#
# search    every scenario of tests/model/orders.c to its end (TAP)
# litmus    does the explorer allow what C11 allows, and no more? (TAP)
# mutants   each access with each weaker order: word, access, order, file, function, weaker order, what was found, by which
#           scenario (docs/results/agreement/orders.txt)
# accesses  atomic accesses to shared memory in the source: word, access, order, file
# table     the columns of docs/memory-orders.md but the last, from accesses and from mutants (on standard input)
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."

# Small, so that all can be searched.
small() {
	mkdir "$work/contract"
	sed -E 's/^(#define NT_SHM_(COMMS|SLOTS|RUNS)) .*/\1 2/; s/^(#define NT_SHM_KEYS(_AT_ONCE)?) .*/\1 1/' \
		contract/shm-layout.h >"$work/contract/shm-layout.h"
	sed -E 's/^(#define NT_RUN_POSITIONS) .*/\1 2/' contract/key-id.h >"$work/contract/key-id.h"
}

# What is not called is not linked; orders.c has some functions instead of the real ones.
build() {
	local file objects=()
	local flags=(-std=gnu11 -O2 -w -U_FORTIFY_SOURCE -D_GNU_SOURCE -ffunction-sections -fdata-sections
		-fmacro-prefix-map=./= -I"$work" -I.)
	small
	for file in tests/model/orders pmix-sync/{participant,view,shm,recheck-timer} tests/model/orders-{parts,litmus} \
		tuner/{key-shares,comm,comm-status} contract/reason lib/{error,printable}; do
		objects+=("$work/${file//\//-}.o")
		gcc "${flags[@]}" -fsanitize=thread -include tests/model/orders.h -c -o "${objects[-1]}" "$file.c"
	done
	for file in explorer plain main; do
		objects+=("$work/$file.o")
		gcc "${flags[@]}" -c -o "${objects[-1]}" "tests/model/orders-$file.c"
	done
	gcc -Wl,--gc-sections -Wl,--allow-multiple-definition -o "$work/orders" "${objects[@]}"
}

accesses() {
	find pmix-sync tuner engine -name '*.[ch]' ! -name 'event-slot.*' ! -name 'call-counts.*' | LC_ALL=C sort |
		xargs awk -f tests/model/accesses.awk contract/shm-layout.h | LC_ALL=C sort -u
}

# A row for each word, access and order: its files, and which weaker orders are found in all, some or none of its places.
table() {
	awk -F '\t' '
		NF == 8 {
			key = $1 "\t" $2 "\t" $3
			if (!index(tried[key], $6))
				tried[key] = tried[key] (tried[key] == "" ? "" : " ") $6
			all[key, $6]++
			found[key, $6] += $7 != "none"
		}
		NF == 4 {
			key = $1 "\t" $2 "\t" $3
			if (!(key in where))
				keys[++n] = key
			where[key] = where[key] (key in where && where[key] != "" ? ", " : "") $4
		}
		END {
			for (i = 1; i <= n; i++) {
				key = keys[i]
				text = ""
				count = split(tried[key], orders, " ")
				for (j = 1; j <= count; j++) {
					f = found[key, orders[j]]
					text = text (j > 1 ? ", " : "") orders[j] ": " (f == 0 ? "no" : f == all[key, orders[j]] ? "yes" : "some")
				}
				print key "\t" where[key] "\t" (text == "" ? "–" : text)
			}
		}' - <(accesses)
}

case ${1:-search} in
accesses) accesses ;;
table) table ;;
search|litmus|mutants)
	work=$(mktemp -d /tmp/nt-orders.XXXXXX)
	trap 'rm -rf "$work"' EXIT
	build
	"$work/orders" "${1:-search}" ;;
*) sed -n '/^# orders.sh/,/^[^#]/{s/^# \{0,1\}//p}' "$0" >&2; exit 2 ;;
esac
