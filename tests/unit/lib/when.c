/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Points in time as users write them. */
#include "lib/when.h"

#include <time.h>
#include "tests/lib/unit.h"

#define NOW_S INT64_C(1795300000) /* 2026-11-21T22:26:40Z */

static int use_a_zone(void **state)
{
	setenv("TZ", "CET-1", 1);
	tzset();
	return 0;
}

static void reads_what_it_says(void **state)
{
	static const struct {
		const char *text;
		int64_t when_s;
	} cases[] = {
		{ "now", NOW_S },
		{ "now-0", NOW_S },
		{ "now-90", NOW_S - 90 },
		{ "now-2minutes", NOW_S - 120 },
		{ "now-1hour", NOW_S - 3600 },
		{ "now-12hours", NOW_S - 12 * 3600 },
		{ "now-30days", NOW_S - 30 * 86400 },
		{ "now-1week", NOW_S - 7 * 86400 },
		{ "now+2weeks", NOW_S + 14 * 86400 },
		{ "now-5seconds", NOW_S - 5 },
		{ "2026-11-22", INT64_C(1795302000) },
		{ "2026-11-22T00:01", INT64_C(1795302060) },
		{ "2026-11-22T00:01:02", INT64_C(1795302062) },
		{ "1970-01-02", 86400 - 3600 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct nt_error err;
		int64_t when_s;

		if (nt_when_parse(cases[i].text, NOW_S, &when_s, &err) < 0)
			fail_msg("%s", err.text);
		if (when_s != cases[i].when_s)
			fail_msg("%s is %lld", cases[i].text, (long long)when_s);
	}
}

static void begins_a_day_at_midnight(void **state)
{
	struct nt_error err;
	int64_t when_s;

	assert_int_equal(nt_when_parse("today", NOW_S, &when_s, &err), 0);
	assert_int_equal(when_s % 86400, 23 * 3600);
	assert_true(when_s <= NOW_S && when_s > NOW_S - 86400);
	assert_int_equal(nt_when_parse("midnight", NOW_S, &when_s, &err), 0);
	assert_int_equal(when_s % 86400, 23 * 3600);
}

static void refuses_what_could_mean_something_else(void **state)
{
	static const char *const texts[] = {
		"",
		"yesterday",
		"now-",
		"now-days",
		"now-3months",
		"now-3dayss",
		"now--3days",
		"now 3days",
		"-3days",
		"11/01/26",
		"2026-13-01",
		"2026-02-30",
		"2026-11-01T25:00",
		"2026-11-01 ",
		"12:00",
		"noon",
		"2026-11-01T12:00Z",
		"now-99999999999999999999days",
		"now-9999weeks999",
		"1926-01-01",
		"now-20000weeks",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct nt_error err;
		int64_t when_s;

		if (nt_when_parse(texts[i], NOW_S, &when_s, &err) == 0)
			fail_msg("'%s' is %lld", texts[i], (long long)when_s);
		assert_non_null(strstr(err.text, "want one like now-30days"));
	}
}

UNIT_TESTS_ALL(use_a_zone, NULL, reads_what_it_says, begins_a_day_at_midnight,
	       refuses_what_could_mean_something_else);
