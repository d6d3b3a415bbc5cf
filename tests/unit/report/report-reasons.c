/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Every reason has a sentence and advice; the givers of reasons give the intended ones; reasons
 * from other nodes are bounded and cleaned. */
#include "report/text/reasons.h"

#include <math.h>
#include "tests/lib/unit.h"
#include "engine/schedule.h"
#include "pmix-sync/capabilities.h"
#include "pmix-sync/view.h"
#include "record/step.h"

static const char *says(const char *text)
{
	static char said[NT_REASON_SENTENCE_MAX];
	struct nt_reason why;

	nt_reason_read(&why, text, strlen(text));
	return nt_reason_say(&why, NULL, 0, said, sizeof(said));
}

static unsigned count_fields(int id)
{
	const char *fields = nt_reason_fields(id);
	unsigned count = fields[0] != '\0';

	for (; *fields; fields++)
		count += *fields == ' ';
	return count;
}

static void every_reason_has_a_sentence_and_advice(void **state)
{
	for (int id = NT_REASON_OTHER + 1; id < NT_REASON_COUNT; id++) {
		struct nt_said said;

		nt_said_key(&said, id, NULL);
		if (!said.says[0] || !said.type[0])
			fail_msg("reason '%s' has no sentence or no advice", nt_reason_code(id));
		assert_null(strpbrk(said.says, "{}"));
		assert_null(strpbrk(said.type, "{}"));
		assert_int_equal(said.says[strlen(said.says) - 1], '.');
		assert_int_equal(nt_reason_parse(nt_reason_code(id)), id);
		assert_true(count_fields(id) <= NT_REASON_ARGS);
		assert_int_not_equal(nt_reason_about(id), NT_ABOUT_NOTHING);
	}
}

/* The sentence has all fields in order, and no others except those of a report. */
static void sentences_name_their_fields(void **state)
{
	for (int id = NT_REASON_OTHER; id < NT_REASON_COUNT; id++) {
		const char *at = nt_reason_sentence(id);
		char fields[64];

		snprintf(fields, sizeof(fields), " %s auto arm gain p ", nt_reason_fields(id));
		while ((at = strchr(at, '{')) != NULL) {
			char name[16];

			snprintf(name, sizeof(name), " %.*s ", (int)strcspn(at + 1, "}"), at + 1);
			if (!strstr(fields, name))
				fail_msg("'%s' has no field%s", nt_reason_code(id), name);
			at++;
		}
		at = nt_reason_sentence(id);
		for (const char *field = nt_reason_fields(id); *field;) {
			size_t bytes = strcspn(field, " ");
			char name[16];

			snprintf(name, sizeof(name), "{%.*s}", (int)bytes, field);
			at = strstr(at, name);
			if (!at)
				fail_msg("'%s' does not name %s there", nt_reason_code(id), name);
			field += bytes + (field[bytes] == ' ');
		}
	}
}

static void those_who_give_reasons_give_those_meant(void **state)
{
	static const int verdicts[NT_VERDICTS] = {
		[NT_VERDICT_NONE] = NT_REASON_UNFINISHED,
		[NT_VERDICT_FASTER] = NT_REASON_NONE,
		[NT_VERDICT_ALONE] = NT_REASON_ALONE,
		[NT_VERDICT_SCREENED] = NT_REASON_SCREENED,
		[NT_VERDICT_SMALL] = NT_REASON_SMALL,
		[NT_VERDICT_CHANCE] = NT_REASON_CHANCE,
		[NT_VERDICT_MEAN] = NT_REASON_MEAN,
		[NT_VERDICT_PERIOD] = NT_REASON_PERIOD,
		[NT_VERDICT_SLOWEST] = NT_REASON_SLOWEST,
		[NT_VERDICT_SAMPLES] = NT_REASON_SAMPLES,
		[NT_VERDICT_BUDGET] = NT_REASON_BUDGET,
		[NT_VERDICT_REMEMBERED] = NT_REASON_REMEMBERED,
	};
	static const int idle[] = { NT_REASON_NOT_READY, NT_REASON_MODE, NT_REASON_API,
				    NT_REASON_HALF,	 NT_REASON_SHM,	 NT_REASON_SHM_SMALL,
				    NT_REASON_LIMITS };
	static const int whys[NT_STEP_WHYS] = { NT_REASON_OWN_TUNER,   NT_REASON_OWN_PROFILER,
						NT_REASON_OWN_ALGO,    NT_REASON_OWN_PROTO,
						NT_REASON_LL128,       NT_REASON_LL128_C2C,
						NT_REASON_OTHER_TUNER, NT_REASON_OTHER_PROFILER };

	for (unsigned i = 0; i < NT_VERDICTS; i++)
		assert_int_equal(nt_schedule_verdict_reason(i), verdicts[i]);
	assert_int_equal(nt_schedule_verdict_reason(NT_VERDICTS), NT_REASON_NONE);
	for (uint32_t i = NT_IDLE_NO; i < NT_IDLES; i++)
		assert_int_equal(nt_capabilities_idle(i), idle[i]);
	for (size_t i = 0; i < NT_STEP_WHYS; i++)
		assert_int_equal(nt_step_whys[i].reason, whys[i]);
	assert_int_equal(nt_view_barred(0), NT_REASON_NONE);
	assert_int_equal(nt_view_barred(NT_PARTICIPANT_GRAPHS), NT_REASON_GRAPHS);
	assert_int_equal(nt_view_barred(NT_PARTICIPANT_ASYNC), NT_REASON_ASYNCHRONOUS);
	assert_int_equal(nt_view_barred(NT_PARTICIPANT_ODD), NT_REASON_TWINS);
	assert_int_equal(nt_view_barred(NT_PARTICIPANT_PROBES), NT_REASON_SYMMETRIC);
	assert_int_equal(nt_view_barred(NT_PARTICIPANT_MASKED), NT_REASON_RAS);
	assert_int_equal(nt_view_barred(NT_PARTICIPANT_ROOM), NT_REASON_SHM_SMALL);
	assert_int_equal(nt_view_barred(NT_PARTICIPANT_LIMITS), NT_REASON_LIMITS);
}

static void names_what_differs(void **state)
{
	static const int ids[] = { NT_REASON_HARDWARE, NT_REASON_NCCL,	 NT_REASON_INTERFACE,
				   NT_REASON_BUILD,    NT_REASON_POLICY, NT_REASON_WARM,
				   NT_REASON_DIFFERS };
	struct nt_reason why;

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		struct nt_capabilities odd = { 0 }, usual = { 0 };

		odd.fingerprint = i == 0;
		odd.nccl = i == 1;
		odd.api = i == 2;
		odd.build = i == 3;
		odd.policy = i == 4;
		odd.warm = i == 5;
		odd.active = i == 6;
		nt_capabilities_difference(&odd, &usual, 3, "n2", &why);
		assert_int_equal(why.id, ids[i]);
		assert_non_null(strstr(says(why.text), "Rank 3 on n2 "));
		assert_non_null(strstr(says(why.text), ", others "));
	}
	assert_string_equal(says("hardware:3:n2:1:2"),
			    "Rank 3 on n2 has different hardware: 1, others 2.");
	assert_string_equal(
		says("unseen:3:7:8"),
		"Rank 3 was not seen (7 of 8 were): it has no plugin, or its node cannot "
		"be reached.");
}

static void names_the_best_other_arm(void **state)
{
	const struct nt_reason_facts facts = { "RING/SIMPLE", "TREE/LL", 5.9, 0.21 };
	const struct nt_reason_facts none = { NULL, "", NAN, NAN };
	struct nt_said said;

	nt_said_key(&said, NT_REASON_CHANCE, &facts);
	assert_string_equal(said.says, "NCCL's choice (RING/SIMPLE) stays: TREE/LL looked faster, "
				       "by 5.9 %, but that may be chance (p 0.21).");
	nt_said_key(&said, NT_REASON_CHANCE, &none);
	assert_string_equal(said.says,
			    "NCCL's choice stays: another choice looked faster, but that "
			    "may be chance.");
}

/* Text from another node or a user's file: never more than fits, only plain text. */
static void what_is_read_is_not_trusted(void **state)
{
	char text[4096];
	struct nt_reason why;

	nt_reason_read(&why, "moon|full", 9);
	assert_int_equal(why.id, NT_REASON_OTHER);
	assert_string_equal(why.text, "other:moon");
	assert_string_equal(says("moon|full"), "This release does not know the reason 'moon'.");
	assert_string_equal(says("hardware|3|n2|1|2"), says("hardware:3:n2:1:2")); /* older */
	nt_reason_read(&why, "", 0);
	assert_int_equal(why.id, NT_REASON_NONE);
	nt_reason_read(&why, NULL, 0);
	assert_int_equal(why.id, NT_REASON_NONE);
	nt_reason_read(&why, "|", 1);
	assert_int_equal(why.id, NT_REASON_OTHER);
	nt_reason_read(&why, "shmfile:a\"\\{}\n\033\377\0b", 19);
	assert_string_equal(why.text, "shmfile:a'/()???");
	memset(text, 'x', sizeof(text));
	nt_reason_read(&why, text, sizeof(text));
	assert_int_equal(why.id, NT_REASON_OTHER);
	memcpy(text, "pmix:", 5);
	nt_reason_read(&why, text, sizeof(text));
	assert_int_equal(why.id, NT_REASON_PMIX);
	assert_int_equal(strlen(why.text), NT_REASON_BYTES - 1);
	memset(text, '|', sizeof(text));
	memcpy(text, "hardware", 8);
	nt_reason_read(&why, text, sizeof(text));
	assert_string_equal(says("hardware:"), "Rank ? on ? has different hardware: ?, others ?.");
	assert_non_null(strstr(says(why.text), "hardware: ?, others ::"));
	assert_string_equal(says("hardware:1:2"),
			    "Rank 1 on 2 has different hardware: ?, others ?.");
}

UNIT_TESTS(every_reason_has_a_sentence_and_advice, sentences_name_their_fields,
	   those_who_give_reasons_give_those_meant, names_what_differs, names_the_best_other_arm,
	   what_is_read_is_not_trusted);
