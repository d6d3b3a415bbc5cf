/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of text. */
#include "report/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void nt_cell_decimal(char *cell, double value, int decimals)
{
	if (isnan(value))
		snprintf(cell, NT_CELL_MAX, "-");
	else if (fabs(value) >= 1e15)
		snprintf(cell, NT_CELL_MAX, "%.3g", value);
	else
		snprintf(cell, NT_CELL_MAX, "%.*f", fabs(value) < 1e5 ? decimals : 0, value);
}

void nt_cell_share(char *cell, double value)
{
	if (value > 0.0 && value < 0.0001)
		snprintf(cell, NT_CELL_MAX, "<0.0001");
	else
		nt_cell_decimal(cell, value, 4);
}

void nt_cell_count(char *cell, int64_t value)
{
	if (value < 0)
		snprintf(cell, NT_CELL_MAX, "-");
	else
		snprintf(cell, NT_CELL_MAX, "%" PRId64, value);
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

/* A table before it is printed: two head lines, then the rows. */
struct grid {
	const struct nt_table *table;
	size_t line_count;
	char (*cells)[NT_CELL_MAX];
	int *widths;
	int gap;
};

static char *cell_of(const struct grid *grid, size_t line, size_t column)
{
	return grid->cells[line * grid->table->column_count + column];
}

static void fill(struct grid *grid, const char *rows)
{
	const struct nt_table *table = grid->table;

	for (size_t line = 0; line < grid->line_count; line++) {
		for (size_t i = 0; i < table->column_count; i++) {
			char *cell = cell_of(grid, line, i);

			if (line < 2)
				snprintf(cell, NT_CELL_MAX, "%s", table->columns[i].head[line]);
			else
				table->columns[i].print(cell, rows + (line - 2) * table->row_bytes);
			if ((int)strlen(cell) > grid->widths[i])
				grid->widths[i] = (int)strlen(cell);
		}
	}
}

static int total_width(const struct grid *grid)
{
	int total = grid->table->indent - grid->gap;

	for (size_t i = 0; i < grid->table->column_count; i++)
		total += grid->widths[i] + grid->gap;
	return total;
}

static void print_line(FILE *out, const struct grid *grid, size_t line)
{
	int pending = grid->table->indent; /* spaces owed; never printed at the end of a line */

	for (size_t i = 0; i < grid->table->column_count; i++) {
		const char *cell = cell_of(grid, line, i);
		int rest = grid->widths[i] - (int)strlen(cell);
		bool left = grid->table->columns[i].left;

		pending += left ? 0 : rest;
		if (cell[0] != '\0') {
			fprintf(out, "%*s%s", pending, "", cell);
			pending = 0;
		}
		pending += (left ? rest : 0) + grid->gap;
	}
	fputc('\n', out);
}

/* A row, between what stands around it. */
static void print_row(FILE *out, const struct grid *grid, const struct nt_table_notes *notes,
		      const char *rows, size_t line)
{
	const char *row = rows + (line - 2) * grid->table->row_bytes;

	if (notes && notes->above)
		notes->above(out, row, line > 2 ? row - grid->table->row_bytes : NULL);
	print_line(out, grid, line);
	if (notes && notes->below)
		notes->below(out, row);
}

int nt_table_print_noted(FILE *out, const struct nt_table *table,
			 const struct nt_table_notes *notes, const void *rows, size_t row_count,
			 struct nt_error *err)
{
	struct grid grid = { .table = table, .line_count = row_count + 2, .gap = 2 };
	int rc = -1;

	grid.cells = calloc(grid.line_count * table->column_count, sizeof(grid.cells[0]));
	grid.widths = calloc(table->column_count, sizeof(grid.widths[0]));
	if (!grid.cells || !grid.widths) {
		nt_error_set(err, "no memory for a table of %zu rows", row_count);
		goto out;
	}
	fill(&grid, rows);
	if (total_width(&grid) > (notes ? notes->max_columns : NT_TABLE_COLUMNS))
		grid.gap = 1;
	print_line(out, &grid, 0);
	print_line(out, &grid, 1);
	for (size_t line = 2; line < grid.line_count; line++)
		print_row(out, &grid, notes, rows, line);
	rc = 0;
out:
	free(grid.widths);
	free(grid.cells);
	return rc;
}

int nt_table_print(FILE *out, const struct nt_table *table, const void *rows, size_t row_count,
		   struct nt_error *err)
{
	return nt_table_print_noted(out, table, NULL, rows, row_count, err);
}
