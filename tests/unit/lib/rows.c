/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* A table that arrives in pieces. */
#include "lib/sacct.h"

#include "tests/lib/unit.h"
#include "lib/append.h"

struct seen {
	char text[512];
	unsigned rows;
	unsigned refuse_from; /* 0: never */
};

static int note_row(void *argument, const struct nt_text *column, struct nt_error *err)
{
	struct seen *seen = argument;

	if (++seen->rows == seen->refuse_from)
		return nt_error_set(err, "enough");
	nt_append(seen->text, sizeof(seen->text), "[%.*s|%.*s|%.*s]", (int)column[0].bytes,
		  column[0].at, (int)column[1].bytes, column[1].at, (int)column[2].bytes,
		  column[2].at);
	return 0;
}

static const char table[] = "1<>a\nb<>c\n2<><>\n3<>< 4<>x<>y\n";

/* Wherever it is cut in two, and byte by byte. */
static void gives_the_same_rows_however_it_comes(void **state)
{
	for (size_t first = 0; first <= strlen(table); first++) {
		struct seen seen = { .rows = 0 };
		struct nt_rows_cut cut = {
			.delimiter = "<>", .columns = 3, .visit = note_row, .argument = &seen
		};
		struct nt_error err;

		assert_int_equal(nt_rows_cut_take(&cut, table, first, &err), 0);
		for (size_t i = first; table[i]; i++)
			assert_int_equal(nt_rows_cut_take(&cut, &table[i], 1, &err), 0);
		/* A line end within a column does not end the row; an empty column counts. */
		assert_int_equal(nt_rows_cut_end(&cut, &err), 0);
		assert_string_equal(seen.text, "[1|a\nb|c][2||][3|< 4|x<>y]");
	}
}

static void tells_a_row_without_an_end(void **state)
{
	static const char *const texts[] = { "1<>2<>3", "1<>2\n", "sacct: what?\n", "\n" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct seen seen = { .rows = 0 };
		struct nt_rows_cut cut = {
			.delimiter = "<>", .columns = 3, .visit = note_row, .argument = &seen
		};
		struct nt_error err;

		assert_int_equal(nt_rows_cut_take(&cut, texts[i], strlen(texts[i]), &err), 0);
		assert_int_equal(nt_rows_cut_end(&cut, &err), -1);
		assert_non_null(strstr(err.text, "ends within a row"));
		assert_int_equal(seen.rows, 0);
	}
}

static void is_bounded(void **state)
{
	struct seen seen = { .rows = 0 };
	struct nt_rows_cut cut = {
		.delimiter = "<>", .columns = 3, .visit = note_row, .argument = &seen
	};
	char *much = malloc(NT_ROWCUT_ROW_MAX + 1);
	struct nt_error err;

	assert_non_null(much);
	memset(much, 'x', NT_ROWCUT_ROW_MAX + 1);
	assert_int_equal(nt_rows_cut_take(&cut, much, NT_ROWCUT_ROW_MAX, &err), 0);
	assert_int_equal(nt_rows_cut_take(&cut, much, 1, &err), -1);
	assert_non_null(strstr(err.text, "a row of more than"));
	nt_rows_cut_end(&cut, NULL);
	free(much);
}

static void ends_when_it_is_told(void **state)
{
	struct seen seen = { .refuse_from = 2 };
	struct nt_rows_cut cut = {
		.delimiter = "<>", .columns = 3, .visit = note_row, .argument = &seen
	};
	struct nt_error err;

	assert_int_equal(nt_rows_cut_take(&cut, table, strlen(table), &err), -1);
	assert_string_equal(err.text, "enough");
	assert_int_equal(seen.rows, 2);
	nt_rows_cut_end(&cut, NULL);
}

UNIT_TESTS(gives_the_same_rows_however_it_comes, tells_a_row_without_an_end, is_bounded,
	   ends_when_it_is_told);
