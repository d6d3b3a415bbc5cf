/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Text that may go to a log or a terminal, and the replacement of the rest. */
#include "lib/printable.h"

#include "tests/lib/unit.h"

static const struct {
	const char *text, *shown;
} cases[] = {
	{ "", "" },
	{ "launch=sockets-wide 38.2 % ~", "launch=sockets-wide 38.2 % ~" },
	{ "x\n[2026-01-01] error: FORGED", "x?[2026-01-01] error: FORGED" },
	{ "x\r\nFORGED", "x??FORGED" },
	{ "\033[2J\033]0;title\007", "?[2J?]0;title?" },
	{ "a\tb\vc\fd\be\177", "a?b?c?d?e?" },
	{ "\302\233" /* U+009B, an escape of one character */, "??" },
	{ "\233" /* the same in one byte */ "2J", "?2J" },
	{ "\342\200\256" /* U+202E, the text runs backwards */ "txt", "???txt" },
	{ "\342\200\250" /* U+2028, a line's end */, "???" },
	{ "caf\303\251", "caf??" },
	{ "\360\237\246\200", "????" },
	{ "\300\212" /* a line's end in too many bytes */, "??" },
	{ "cut \303", "cut ?" },
};

static void only_printable_ascii_is_left(void **state)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[64], copy[64];
		struct nt_shown shown;

		strncpy(text, cases[i].text, sizeof(text) - 1);
		text[sizeof(text) - 1] = '\0';
		assert_int_equal(nt_printable_copy(copy, sizeof(copy), text, strlen(text)), 0);
		assert_string_equal(copy, cases[i].shown);
		assert_string_equal(nt_shown(&shown, text), cases[i].shown);
		assert_string_equal(nt_printable(text), cases[i].shown);
	}
}

static void what_does_not_fit_is_cut(void **state)
{
	char text[2 * sizeof(struct nt_shown)], copy[4];
	struct nt_shown shown;

	memset(text, '\n', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(nt_printable_copy(copy, sizeof(copy), text, 4), -1);
	assert_string_equal(copy, "???");
	assert_int_equal(strlen(nt_shown(&shown, text)), sizeof(shown.text) - 1);
}

UNIT_TESTS(only_printable_ascii_is_left, what_does_not_fit_is_cut);
