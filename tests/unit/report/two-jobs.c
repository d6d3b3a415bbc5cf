/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* two-jobs.c - two jobs side by side: what belongs together, times and what is used */
#include "report/text/two-jobs.h"

#include "tests/lib/unit.h"

#define ROW(size, arm, us, own)                                                                   \
	"\"AllReduce " size "\":{\"auto\":\"RING/SIMPLE\",\"arm\":\"" arm "\",\"us\":[" us "," us \
	"]," own "\"calls\":100}"
#define OWN(us) "\"own_us\":[" us "," us "],"
#define STEP(name, more, us, rows)                                                             \
	"\"" name "\":{\"mode\":\"bandit\",\"ranks\":8,\"nodes\":2," more "\"step_us\":[1," us \
	",3],\"steps\":9,\"8r2n\":{" rows "}}"
#define JOB(steps) "{\"nccl_tune\":{\"v\":1," steps "}}"

static void add(struct nt_two_jobs *two, int side, const char *record)
{
	struct nt_summary summary;
	struct nt_error err;

	nt_summary_init(&summary);
	if (nt_summary_parse(&summary, record, strlen(record), NULL, &err) < 0 ||
	    nt_two_jobs_add(two, side, &summary, &err) < 0)
		fail_msg("%s", err.text);
	nt_summary_fini(&summary);
}

/* With single blanks. */
static char *print(const char *a, const char *b)
{
	struct nt_two_jobs two = { NULL, 0 };
	struct nt_error err;
	char *text = NULL;
	size_t bytes, n = 0;
	FILE *out = open_memstream(&text, &bytes);

	assert_non_null(out);
	add(&two, 0, a);
	add(&two, 1, b);
	if (nt_two_jobs_print(out, &two, &err) < 0)
		fail_msg("%s", err.text);
	fclose(out);
	nt_two_jobs_fini(&two);
	for (size_t i = 0; i < bytes; i++) {
		if (text[i] != ' ' || n == 0 || text[n - 1] != ' ')
			text[n++] = text[i];
	}
	text[n] = '\0';
	return text;
}

static void has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("not \"%s\" in:\n%s", part, text);
}

static void times_and_what_is_used(void **state)
{
	char *text = print(
		JOB(STEP("0", "\"launch\":\"wide\",", "10000",
			 ROW("1M", "TREE/LL", "110", OWN("100")) "," ROW("4M", "AUTO", "500", ""))),
		JOB(STEP("0", "", "9900",
			 ROW("1M", "AUTO", "160", OWN("150")) "," ROW("16M", "AUTO", "900", ""))));

	has(text, "\nProgram's own step 10000.0 9900.0 -1.0\n");
	has(text, " A: step 0, launch profile wide; B: step 0, launch profile none\n");
	has(text,
	    "\nAllReduce 1M 100.0 150.0 +50.0\n A: Tree/LL; B: Ring/Simple (NCCL's choice)\n");
	has(text, "\nAllReduce 4M 500.0* - -\n A: Ring/Simple (NCCL's choice); B: not called\n");
	has(text, "\nAllReduce 16M - 900.0* -\n");
	free(text);
}

/* A call's own time is not compared with the time to the next call. */
static void equal_kinds_of_times(void **state)
{
	char *text = print(JOB(STEP("0", "", "1", ROW("1M", "AUTO", "110", OWN("100")))),
			   JOB(STEP("0", "", "1", ROW("1M", "AUTO", "220", ""))));

	has(text, "\nAllReduce 1M 110.0* 220.0* +100.0\n");
	free(text);
}

static void steps_belong_together_by_their_order(void **state)
{
	char *text = print(JOB(STEP("0", "", "100", ROW("1M", "AUTO", "10", ""))),
			   JOB(STEP("1", "", "120", ROW("1M", "AUTO", "12", "")) "," STEP(
				   "2", "", "130", ROW("1M", "AUTO", "13", ""))));

	has(text, " A: step 0, launch profile none; B: step 1, launch profile none\n");
	has(text, "\nAllReduce 1M 10.0* 12.0* +20.0\n both: Ring/Simple (NCCL's choice)\n");
	has(text, " A: no such step; B: step 2, launch profile none\n");
	free(text);
}

UNIT_TESTS(times_and_what_is_used, equal_kinds_of_times, steps_belong_together_by_their_order);
