/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/jobid.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

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

	(void)state;
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

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct nt_jobid id;
		struct nt_error err;

		if (nt_jobid_parse(&id, wrong[i], &err) == 0)
			fail_msg("'%s' was taken for a job", wrong[i]);
		assert_non_null(strstr(err.text, wrong[i]));
		assert_non_null(strstr(err.text, "want JOB"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_what_slurm_prints),
		cmocka_unit_test(refuses_the_rest),
	};

	return cmocka_run_group_tests_name("report-jobid", tests, NULL, NULL);
}
