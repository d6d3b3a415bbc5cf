#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# One word for one thing: words that docs/glossary.md has replaced are not in product code. Texts in quotes are exempt.
bats_require_minimum_version 1.5.0
load sources

# Where tuning is spoken of. Elsewhere these words have their everyday meaning (the session of a process).
TUNING=(contract pmix-sync engine record launch tuner replay)

# WORD=NEW: as a part of a name of ours, or of a file's.
NAMES='
again=recheck
reopen(s|ed)?=recheck
sessions?=process,-or-recheck-of-a-key
FINAL=committed
latch(es|ed)?=commit,-committed
settle[ds]?=commit,-committed
thrifty=limited
tired=stalled
dear=over-budget
nap(s|ped|ping)?=stand-aside
'
# In comments only what cannot be meant otherwise.
PROSE='
reopen(s|ed|ing)?=recheck
sessions?=process,-or-recheck-of-a-key
latch(es|ed|ing)?=commit,-committed
settle[ds]?=commit,-committed
thrifty=limited
tired=stalled
dear=over-budget
nap(s|ped|ping)?=stand-aside
'

# old_words FILE...
old_words() {
	awk -v names="${NAMES//$'\n'/ }" -v prose="${PROSE//$'\n'/ }" -f "$BATS_TEST_DIRNAME/words.awk" "$@"
}

@test "no replaced word in product code" {
	local files
	cd "$BATS_TEST_DIRNAME/../.." || exit 1
	mapfile -t files < <(c_files_in "${TUNING[@]}")
	[ "${#files[@]}" -gt 100 ]
	none "$(old_words "${files[@]}")"
}

@test "names, comments and file names are looked at; texts, other words and everyday ones are not" {
	cd "$BATS_TEST_TMPDIR" || exit 1
	cat >plain.c <<-'END'
		/* Once again: an hour's rest. Snapshots stay, unlatchable too. */
		static int finally(bool final) { return errno == EAGAIN; }	/* the final line */
		const char *member = "sessions", c = 's';
	END
	run -0 old_words plain.c
	[ -z "$output" ] || { echo "$output"; false; }
	cat >settle.c <<-'END'
		enum { NT_STATE_AGAIN, NT_STATE_FINAL };	/* a nap */
		/* over two
		 * lines, latched */ int thrifty_node;
		bool session_ended;	/* "settled" in quotes */
	END
	run -0 old_words settle.c
	[ "$(printf '%s\n' "${lines[@]% (*}" | LC_ALL=C sort)" = "$(LC_ALL=C sort <<-'END'
		settle.c:1: settle
		settle.c:1: AGAIN
		settle.c:1: FINAL
		settle.c:1: nap
		settle.c:3: latched
		settle.c:3: thrifty
		settle.c:4: session
	END
	)" ] || { echo "$output"; false; }
}
