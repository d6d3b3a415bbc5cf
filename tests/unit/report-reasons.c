/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Every reason has a sentence and what to do; every text that a rank can write has its reason. What
 * a reader then sees is in data/report/reasons.txt (report-print). */
#include "report/reasons.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "engine/schedule.h"
#include "pmix-sync/card.h"
#include "record/step.h"

static void every_reason_has_words_and_advice(void **state)
{
	(void)state;
	for (int reason = NT_REASON_OTHER + 1; reason < NT_REASON_COUNT; reason++) {
		struct nt_said said;

		nt_reason_say(&said, reason, NULL, NULL);
		if (!said.says[0] || !said.type[0])
			fail_msg("reason '%s' has no words or no advice", nt_reason_code(reason));
		assert_null(strchr(said.says, '{'));
		assert_null(strchr(said.type, '{'));
	}
}

/* An entry's words with something in place of each '*'. */
static void fill(char *out, size_t out_bytes, const char *words)
{
	size_t used = 0;

	out[0] = '\0';
	for (; *words; words++)
		used += (size_t)snprintf(out + used, out_bytes - used, "%.*s",
					 *words == '*' ? 2 : 1, *words == '*' ? "xy" : words);
}

static void every_entry_is_found_by_its_words(void **state)
{
	const struct nt_reason_words *entry;

	(void)state;
	for (size_t i = 0; (entry = nt_reason_at(i)) != NULL; i++) {
		char words[200], first[sizeof(((struct nt_said *)NULL)->says)];
		struct nt_said said;

		if (!entry->words)
			continue;
		fill(words, sizeof(words), entry->words);
		nt_reason_say(&said, NT_REASON_OTHER, words, NULL);
		snprintf(first, sizeof(first), "%.*s", (int)strcspn(entry->says, "{"), entry->says);
		if (strncmp(said.says, first, strlen(first)) != 0)
			fail_msg("'%s' is said as '%s'", words, said.says);
	}
}

static void knows(const char *words)
{
	struct nt_said said;

	if (nt_reason_find(words) == NT_REASON_OTHER)
		fail_msg("'%s' has no reason", words);
	nt_reason_say(&said, nt_reason_find(words), words, NULL);
	if (strcmp(said.says, words) == 0)
		fail_msg("'%s' has no words of its own", words);
	assert_true(said.type[0]);
}

static void what_ranks_write_is_known(void **state)
{
	(void)state;
	for (unsigned verdict = 0; verdict < NT_VERDICTS; verdict++) {
		if (verdict != NT_VERDICT_FASTER)
			knows(nt_schedule_verdict_name(verdict));
	}
	for (uint32_t idle = NT_IDLE_MODE; idle <= NT_IDLE_BOARD; idle++)
		knows(nt_card_idle(idle));
	for (size_t i = 0; i < NT_STEP_WHYS; i++)
		knows(nt_step_whys[i].text);
}

static void names_what_differs(void **state)
{
	struct nt_said said;

	(void)state;
	nt_reason_say(
		&said, NT_REASON_UNSEEN,
		"rank 3 was not seen: no plugin there, or its node cannot be heard (7 of 8 seen)",
		NULL);
	assert_string_equal(said.says, "Rank 3 did not show up (7 of 8 seen): it has no plugin, or "
				       "its node cannot be heard.");
	nt_reason_say(&said, NT_REASON_HARDWARE, "rank 3 on n2 differs: hardware 1, others 2",
		      NULL);
	assert_string_equal(said.says, "Rank 3 on n2 has other hardware: 1, others 2.");
}

static void names_the_best_other_arm(void **state)
{
	const struct nt_reason_facts facts = { "RING/SIMPLE", "TREE/LL", 5.9, 0.21 };
	const struct nt_reason_facts none = { NULL, "", NAN, NAN };
	struct nt_said said;

	(void)state;
	nt_reason_say(&said, NT_REASON_CHANCE, NULL, &facts);
	assert_string_equal(said.says, "NCCL's choice (RING/SIMPLE) stays: TREE/LL looked better, "
				       "by 5.9 %, but that may be chance (p 0.21).");
	nt_reason_say(&said, NT_REASON_CHANCE, NULL, &none);
	assert_string_equal(said.says, "NCCL's choice stays: another one looked better, but that "
				       "may be chance.");
}

static void says_the_unknown_as_it_is(void **state)
{
	struct nt_said said;

	(void)state;
	nt_reason_say(&said, NT_REASON_OTHER, "the moon is full", NULL);
	assert_string_equal(said.says, "the moon is full");
	assert_string_equal(said.type, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_reason_has_words_and_advice),
		cmocka_unit_test(every_entry_is_found_by_its_words),
		cmocka_unit_test(what_ranks_write_is_known),
		cmocka_unit_test(names_what_differs),
		cmocka_unit_test(names_the_best_other_arm),
		cmocka_unit_test(says_the_unknown_as_it_is),
	};

	return cmocka_run_group_tests_name("report-reasons", tests, NULL, NULL);
}
