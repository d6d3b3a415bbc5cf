/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/when.h"

#include <stdbool.h>
#include <string.h>
#include <time.h>
#include "lib/number.h"

#define YEARS_S (INT64_C(200) * 366 * 86400) /* more is a mistake */

static const struct {
	const char *name;
	int64_t seconds;
} units[] = {
	{ "", 1 },	  { "second", 1 },  { "minute", 60 },
	{ "hour", 3600 }, { "day", 86400 }, { "week", 7 * 86400 },
};

/* "30days", "1week", "90" in seconds; -1: no duration. */
static int64_t span_of(const char *text)
{
	uint64_t count;
	const char *unit = nt_number_read(text, YEARS_S, &count);

	for (size_t i = 0; unit && i < sizeof(units) / sizeof(units[0]); i++) {
		size_t bytes = strlen(units[i].name);

		if (strncmp(unit, units[i].name, bytes) != 0 ||
		    (unit[bytes] != '\0' &&
		     (bytes == 0 || unit[bytes] != 's' || unit[bytes + 1] != '\0')))
			continue;
		return count <= (uint64_t)(YEARS_S / units[i].seconds)
			       ? (int64_t)count * units[i].seconds
			       : -1;
	}
	return -1;
}

static int64_t midnight_of(int64_t now_s)
{
	time_t now = (time_t)now_s;
	struct tm day;

	localtime_r(&now, &day);
	day.tm_hour = day.tm_min = day.tm_sec = 0;
	day.tm_isdst = -1;
	return (int64_t)mktime(&day);
}

static bool read_date(const char *text, int64_t *when_s)
{
	static const char *const forms[] = { "%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S" };

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		struct tm when = { .tm_isdst = -1 };
		const char *end = strptime(text, forms[i], &when);
		int day = when.tm_mday;

		if (!end || *end != '\0')
			continue;
		*when_s = (int64_t)mktime(&when);
		return when.tm_mday == day && when.tm_year >= 70; /* 30 February does not exist */
	}
	return false;
}

int nt_when_parse(const char *text, int64_t now_s, int64_t *when_s, struct nt_error *err)
{
	int64_t span_s = 0;

	if (strcmp(text, "today") == 0 || strcmp(text, "midnight") == 0) {
		*when_s = midnight_of(now_s);
		return 0;
	}
	if (strncmp(text, "now", 3) == 0) {
		if (text[3] == '-' || text[3] == '+')
			span_s = span_of(text + 4);
		else if (text[3] != '\0')
			span_s = -1;
		*when_s = text[3] == '-' ? now_s - span_s : now_s + span_s;
		if (span_s >= 0 && *when_s >= 0)
			return 0;
	} else if (read_date(text, when_s)) {
		return 0;
	}
	return nt_error_set(err,
			    "unknown time '%.40s' (want one like now-30days, now-12hours, today, "
			    "2026-11-01 or 2026-11-01T12:00)",
			    text);
}
