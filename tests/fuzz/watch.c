/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* watch.c - nccl-tune watch of a job whose records anybody may have written: lines that fit the
 *           screen and move no cursor, and news that are told once
 *
 * Input: looks at the job, with a byte 0 between two. Of each the first bytes say when it was and
 * how large the screen is, the rest is the record.
 */
#include <math.h>
#include <string.h>
#include "report/text/row-text.h"
#include "report/watch/frame.h"
#include "tests/fuzz/fuzz.h"

#define LOOKS 16
#define ROWS 60
#define BYTES 4 /* before the record */

static void check_text(const char *text, size_t room)
{
	const char *end = memchr(text, '\0', room);

	FUZZ_CHECK(end && !strchr(text, '\n'));
	fuzz_check_plain(text, (size_t)(end - text));
}

static void note(void *argument, const struct nt_news *news)
{
	size_t *count = argument;
	char clock[NT_NEWS_CLOCK];

	check_text(news->text, sizeof(news->text));
	check_text(nt_news_clock(news, clock), sizeof(clock));
	(*count)++;
}

static void check_frame(const struct nt_watch *watch, double now_s, unsigned columns, unsigned rows)
{
	static struct nt_screen_line lines[ROWS + 1];
	struct nt_watch_job job = { .label = "12.0",
				    .state = now_s > 1e9 ? "running" : NULL,
				    .ran_s = (int64_t)rows * 1000 - 1,
				    .written_s = (int64_t)now_s - columns,
				    .live = rows % 2 == 0 };
	size_t count;

	memset(&lines, 'x', sizeof(lines));
	count = nt_watch_frame(watch, &job, columns, rows, lines);
	FUZZ_CHECK(count <= rows);
	for (size_t i = 0; i < count; i++) {
		FUZZ_CHECK(lines[i].style >= 0 && lines[i].style < NT_STYLES);
		check_text(lines[i].text, sizeof(lines[i].text));
		FUZZ_CHECK(strlen(lines[i].text) <= columns);
	}
	FUZZ_CHECK(lines[rows].text[0] == 'x');
}

static void check_rows(const struct nt_watch *watch)
{
	char text[NT_WATCH_TEXT];

	for (size_t i = 0; i < watch->summary.row_count; i++) {
		const struct nt_key *row = &watch->summary.rows[i];
		const double left_s =
			nt_row_exploring(row, &watch->summary.steps[row->step]).seconds;

		FUZZ_CHECK(isnan(left_s) || (left_s >= 0 && isfinite(left_s)));
		check_text(nt_watch_key_text(&watch->summary, row, text), sizeof(text));
	}
}

static size_t look(struct nt_watch *watch, const char *record, double now_s)
{
	struct nt_summary summary;
	struct nt_error err;
	size_t news = 0;

	nt_summary_init(&summary);
	FUZZ_CHECK(nt_summary_parse(&summary, record, strlen(record), NULL, &err) == 0);
	FUZZ_CHECK(nt_watch_see_take(watch, &summary, now_s, note, &news, &err) == 0);
	nt_summary_fini(&summary);
	return news;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz in = { data, size };
	struct nt_watch watch;
	double now_s = 1763769600;
	char *part;

	nt_watch_init(&watch);
	for (int l = 0; l < LOOKS && (part = fuzz_part(&in, '\0')) != NULL; l++) {
		const size_t bytes = strlen(part), skip = bytes < BYTES ? bytes : BYTES;
		const unsigned columns = bytes > 0 ? (unsigned char)part[0] : 80;
		const unsigned rows = bytes > 1 ? (unsigned char)part[1] % (ROWS + 1) : 24;

		now_s += bytes > 2 ? (unsigned char)part[2] / 4.0 : 1;
		(void)look(&watch, part + skip, now_s);
		check_rows(&watch);
		check_frame(&watch, now_s,
			    columns < NT_SCREEN_COLUMNS ? columns : NT_SCREEN_COLUMNS, rows);
		/* What has not changed is no news. */
		FUZZ_CHECK(look(&watch, part + skip, now_s + 0.1) == 0);
		free(part);
	}
	nt_watch_fini(&watch);
	return 0;
}

FUZZ_TEXT_TARGET("P 4 {\"nccl_tune\":{\"v\":1,",
		 "\"0\":{\"mode\":\"bandit\",\"ranks\":8,\"nodes\":2", "\"8r2n\":{",
		 "\"AllReduce 256K\":{", "\"auto\":\"RING/SIMPLE\"", "\"arm\":\"TREE/LL\"",
		 "\"us\":[10,8]", "\"calls\":100", "\"spent_ms\":5", "\"saved_ms\":6",
		 "\"why\":\"open\"", "\"state\":\"exploring\"", "\"round\":\"screen\"",
		 "\"round_arms\":5", "\"round_calls\":45", "\"round_done\":3", "\"rollbacks\":1",
		 "\"why\":[\"\\u001b[2J\"]", "\"more\":3", "null", "1e308", "\"explored\":[")
