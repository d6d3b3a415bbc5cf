/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/model/jobid.h"

#include "tests/lib/unit.h"

static void takes_what_slurm_prints(void **state)
{
	static const struct {
		const char *text, *job, *step;
	} cases[] = {
		{ "12", "12", "" },
		{ "12.0", "12", "0" },
		{ "12.batch", "12", "batch" },
		{ "12_3", "12_3", "" },
		{ "12_0.4", "12_0", "4" },
		{ "12+1", "12+1", "" },
		{ "12+0.batch", "12+0", "batch" },
		{ "4294967279", "4294967279", "" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[NT_JOB_LABEL_MAX];
		struct nt_jobid id;
		struct nt_error err;

		if (nt_jobid_parse(&id, cases[i].text, &err) < 0)
			fail_msg("%s", err.text);
		assert_string_equal(nt_jobid_text(&id, text, sizeof(text)), cases[i].job);
		assert_string_equal(id.step, cases[i].step);
	}
}

static void refuses_the_rest(void **state)
{
	static const char *const wrong[] = {
		"",
		"0",
		"x",
		"-1",
		"+1",
		" 12",
		"12 ",
		"12.",
		"12.x",
		"12.-1",
		"12_",
		"12_x",
		"12+",
		"12_1+1",
		"12_[1-3]",
		"12_*",
		"12.0.1",
		"12.extern",
		"4294967280",
		"4294967296",
		"99999999999999999999",
		"0x12",
		"12.99999999999",
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct nt_jobid id;
		struct nt_error err;

		if (nt_jobid_parse(&id, wrong[i], &err) == 0)
			fail_msg("'%s' was taken for a job", wrong[i]);
		assert_non_null(strstr(err.text, wrong[i]));
		assert_non_null(strstr(err.text, "want JOB"));
	}
}

static void takes_ranges(void **state)
{
	static const struct {
		const char *text;
		uint32_t job, last_job;
		int64_t task, last_task;
		const char *step;
	} cases[] = {
		{ "12", 12, 12, -1, -1, "" },
		{ "12.3", 12, 12, -1, -1, "3" },
		{ "4711-4720", 4711, 4720, -1, -1, "" },
		{ "12-12.0", 12, 12, -1, -1, "0" },
		{ "4711_3", 4711, 4711, 3, -1, "" },
		{ "4711_3-7", 4711, 4711, 3, 7, "" },
		{ "1-10000", 1, 10000, -1, -1, "" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct nt_jobrange range;
		struct nt_error err;

		if (nt_jobrange_parse(&range, cases[i].text, &err) < 0)
			fail_msg("%s", err.text);
		assert_int_equal(range.first.job, cases[i].job);
		assert_int_equal(range.last_job, cases[i].last_job);
		assert_int_equal(range.first.task, cases[i].task);
		assert_int_equal(range.last_task, cases[i].last_task);
		assert_string_equal(range.first.step, cases[i].step);
	}
}

static void refuses_other_ranges(void **state)
{
	static const char *const wrong[] = { "12-",	 "12-11",  "-12",      "12-x",
					     "12_1-0",	 "12+1-2", "1-10001",  "12--13",
					     "12-13-14", "12.0-1", "12_1-2_3", "12-4294967280" };

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct nt_jobrange range;
		struct nt_error err;

		if (nt_jobrange_parse(&range, wrong[i], &err) == 0)
			fail_msg("'%s' was taken for jobs", wrong[i]);
		assert_non_null(strstr(err.text, wrong[i]));
	}
}

UNIT_TESTS(takes_what_slurm_prints, refuses_the_rest, takes_ranges, refuses_other_ranges);
