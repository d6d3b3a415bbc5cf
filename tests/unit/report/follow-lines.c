/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* follow-lines.c - what report --follow prints of a job's record */
#include "report/text/follow-lines.h"

#include "tests/lib/unit.h"

#define STEP \
	"{\"nccl_tune\":{\"v\":1,\"0\":{\"mode\":\"bandit\",\"nccl\":\"2.28.9\",\"ranks\":8,\"nodes\":2,"
#define OPEN(done)                                                                               \
	"\"8r2n\":{\"AllReduce 256K\":{\"auto\":\"RING/SIMPLE\",\"arm\":\"AUTO\",\"calls\":100," \
	"\"round\":\"confirm\",\"round_arms\":3,\"round_calls\":75,\"round_done\":" done         \
	",\"why\":\"open\"}}"
#define EXPLORED \
	"Being explored: AllReduce 256K on the 8 ranks across 2 nodes: second round, 3 choices, 40 of 75 calls."

static void make(struct nt_follow_lines *lines, const char *record, bool over)
{
	struct nt_summary summary;
	struct nt_error err;

	nt_summary_init(&summary);
	if (nt_summary_parse(&summary, record, strlen(record), NULL, &err) < 0)
		fail_msg("%s", err.text);
	nt_summary_mark_running(&summary, !over, 0);
	if (nt_follow_lines_make(lines, "12", over ? "completed" : "running", over, &summary,
				 &err) < 0)
		fail_msg("%s", err.text);
	nt_summary_fini(&summary);
}

static bool mentions(const struct nt_follow_lines *lines, const char *text)
{
	for (size_t i = 0; i < lines->count; i++) {
		if (strstr(lines->text[i], text))
			return true;
	}
	return false;
}

static void names_what_is_explored(void **state)
{
	static struct nt_follow_lines lines;

	make(&lines, STEP "\"early\":1,\"as_of\":1700000000," OPEN("40") "}}}", false);
	assert_string_equal(lines.text[0], "Job 12: running.");
	assert_true(nt_follow_lines_have(&lines, EXPLORED));
	assert_true(mentions(&lines, "still exploring"));
	make(&lines, STEP OPEN("40") "}}}", true);
	assert_string_equal(lines.text[0], "Job 12: completed.");
	assert_false(mentions(&lines, "Being explored"));
}

static void an_equal_record_changes_nothing(void **state)
{
	static struct nt_follow_lines first, second;

	make(&first, STEP OPEN("40") "}}}", false);
	make(&second, STEP OPEN("41") "}}}", false);
	assert_memory_not_equal(&first, &second, sizeof(first));
	assert_false(nt_follow_lines_have(&second, EXPLORED));
	make(&second, STEP OPEN("40") "}}}", false);
	assert_memory_equal(&first, &second, sizeof(first));
}

static void says_that_there_is_no_record(void **state)
{
	static struct nt_follow_lines lines;

	make(&lines, "", false);
	assert_int_equal(lines.count, 2);
	assert_true(mentions(&lines, "no record yet"));
	make(&lines, "another program's text", true);
	assert_true(mentions(&lines, "It has no record."));
}

static void texts_stay_texts(void **state)
{
	static struct nt_follow_lines lines;

	make(&lines, STEP "\"launch\":\"x\\nFORGED\\u001b[2J\"," OPEN("-5") "}}}", false);
	for (size_t i = 0; i < lines.count; i++) {
		for (const char *c = lines.text[i]; *c; c++)
			assert_in_range(*c, ' ', '~');
	}
	assert_false(mentions(&lines, "Being explored"));
}

UNIT_TESTS(names_what_is_explored, an_equal_record_changes_nothing, says_that_there_is_no_record,
	   texts_stay_texts);
