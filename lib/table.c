/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"
#include "lib/wrap.h"

struct nt_table_note {
	size_t row; /* it stands above */
	char *text;
};

const char *nt_decimal_text(double value, int decimals, char *out, size_t out_bytes)
{
	if (isnan(value))
		snprintf(out, out_bytes, "-");
	else if (fabs(value) >= 1e15)
		snprintf(out, out_bytes, "%.3g", value);
	else
		snprintf(out, out_bytes, "%.*f", fabs(value) < 1e5 ? decimals : 0, value);
	return out;
}

const char *nt_share_text(double value, char *out, size_t out_bytes)
{
	if (value > 0.0 && value < 0.0001)
		snprintf(out, out_bytes, "<0.0001");
	else
		nt_decimal_text(value, 4, out, out_bytes);
	return out;
}

const char *nt_time_text(double value_us, char *out, size_t out_bytes)
{
	const char *unit = value_us < 999.5 ? "us" : value_us < 999.5e3 ? "ms" : "s";
	double value = value_us < 999.5 ? value_us : value_us / (value_us < 999.5e3 ? 1e3 : 1e6);
	int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;

	snprintf(out, out_bytes, "%.*f %s", decimals, value, unit);
	return out;
}

const char *nt_duration_text(double value_ms, char *out, size_t out_bytes)
{
	static const struct {
		double from_ms, unit_ms;
		const char *name;
	} units[] = {
		{ 2 * 3600e3, 3600e3, "h" },
		{ 120e3, 60e3, "min" },
		{ 1e3, 1e3, "s" },
		{ 0.0, 1.0, "ms" },
	};
	size_t i = 0;

	while (fabs(value_ms) < units[i].from_ms)
		i++;
	snprintf(out, out_bytes, "%.1f %s", value_ms / units[i].unit_ms, units[i].name);
	return out;
}

/* ---- filling */

void nt_cell(struct nt_table *table, const char *format, ...)
{
	char *cell = nt_array_add(&table->cells, &table->cell_count, SIZE_MAX, NT_CELL_MAX);
	va_list args;

	table->no_memory = table->no_memory || !cell;
	if (!cell)
		return;
	va_start(args, format);
	vsnprintf(cell, NT_CELL_MAX, format, args);
	va_end(args);
}

void nt_cell_decimal(struct nt_table *table, double value, int decimals)
{
	char text[NT_CELL_MAX];

	nt_cell(table, "%s", nt_decimal_text(value, decimals, text, sizeof(text)));
}

void nt_cell_us(struct nt_table *table, double us, const char *mark)
{
	if (isnan(us))
		nt_cell(table, "-");
	else if (us >= 1e6)
		nt_cell(table, "%.2fs%s", us / 1e6, mark);
	else
		nt_cell(table, "%.*f%s", us < 1e5 ? 1 : 0, us, mark);
}

void nt_cell_count(struct nt_table *table, int64_t value)
{
	if (value < 0)
		nt_cell(table, "-");
	else
		nt_cell(table, "%" PRId64, value);
}

void nt_table_note(struct nt_table *table, const char *first, int rest, const char *text)
{
	struct nt_table_note *note = nt_array_add(&table->notes, &table->note_count, SIZE_MAX,
						  sizeof(*note));
	size_t bytes;
	FILE *out = note ? open_memstream(&note->text, &bytes) : NULL;

	table->no_memory = table->no_memory || !out;
	if (!out)
		return;
	note->row = table->cell_count / table->column_count;
	nt_wrap(out, first, rest, text);
	if (fclose(out) != 0 || !note->text)
		table->no_memory = true;
}

/* ---- printing */

/* The head has two lines. Returns the bytes of *cell. */
static int find_cell(const struct nt_table *table, size_t line, size_t column, const char **cell)
{
	const char *head = table->columns[column] + (table->columns[column][0] == '-');
	const size_t first = strcspn(head, "\n");

	if (line >= 2)
		*cell = table->cells[(line - 2) * table->column_count + column];
	else if (head[first] == '\0')
		*cell = line == 0 ? "" : head;
	else
		*cell = line == 0 ? head : head + first + 1;
	return line == 0 && head[first] ? (int)first : (int)strlen(*cell);
}

static int width_of(const struct nt_table *table, size_t line_count, size_t column)
{
	const char *cell;
	int width = 0;

	for (size_t line = 0; line < line_count; line++) {
		int bytes = find_cell(table, line, column, &cell);

		width = bytes > width ? bytes : width;
	}
	return width;
}

static void print_line(FILE *out, const struct nt_table *table, const int *widths, int gap,
		       size_t line)
{
	int pending = table->indent; /* spaces still to print; never at the end of a line */

	for (size_t i = 0; i < table->column_count; i++) {
		const char *cell;
		int bytes = find_cell(table, line, i, &cell), rest = widths[i] - bytes;
		bool left = table->columns[i][0] == '-';

		pending += left ? 0 : rest;
		if (bytes > 0) {
			fprintf(out, "%*s%.*s", pending, "", bytes, cell);
			pending = 0;
		}
		pending += (left ? rest : 0) + gap;
	}
	fputc('\n', out);
}

static void print_lines(FILE *out, const struct nt_table *table, int *widths)
{
	const size_t line_count = table->cell_count / table->column_count + 2;
	int gap = 2, total = table->indent - gap;
	size_t note = 0;

	for (size_t i = 0; i < table->column_count; i++) {
		widths[i] = width_of(table, line_count, i);
		total += widths[i] + gap;
	}
	if (total > (table->max_columns ? table->max_columns : NT_TABLE_COLUMNS))
		gap = 1;
	for (size_t line = 0; line < line_count; line++) {
		while (note < table->note_count && table->notes[note].row + 2 == line)
			fputs(table->notes[note++].text, out);
		print_line(out, table, widths, gap, line);
	}
	while (note < table->note_count)
		fputs(table->notes[note++].text, out);
}

int nt_table_print(FILE *out, struct nt_table *table, struct nt_error *err)
{
	const size_t row_count = table->cell_count / table->column_count;
	int *widths = calloc(table->column_count, sizeof(widths[0]));
	int rc = -1;

	if (widths && !table->no_memory) {
		print_lines(out, table, widths);
		rc = 0;
	}
	free(widths);
	nt_table_fini(table);
	return rc == 0 ? 0 : nt_error_set(err, "no memory for a table of %zu rows", row_count);
}

void nt_table_fini(struct nt_table *table)
{
	for (size_t i = 0; i < table->note_count; i++)
		free(table->notes[i].text);
	free(table->notes);
	free(table->cells);
	table->notes = NULL;
	table->cells = NULL;
	table->note_count = table->cell_count = 0;
}
