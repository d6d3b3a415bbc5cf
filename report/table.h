/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* table.h - columns of text, each as wide as its widest cell
 *
 * Threads:  no state of its own.
 * Memory:   cells are handed in as text and copied.
 * Errors:   -1 when memory runs out; write errors stay on the stream for the caller (ferror).
 */
#ifndef NT_TABLE_H
#define NT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "contract/error.h"

#define NT_CELL_MAX 48
#define NT_TABLE_COLUMNS 120 /* of the terminal; a wider table closes its gaps to one space */

struct nt_column {
	const char *head[2]; /* two lines */
	bool left; /* aligned left: text; numbers are aligned right */
	void (*print)(char *cell, const void *row); /* into NT_CELL_MAX bytes */
};

struct nt_table {
	const struct nt_column *columns;
	size_t column_count;
	size_t row_bytes;
	int indent; /* spaces before every line */
};

/* What stands around the rows of a table. */
struct nt_table_notes {
	int max_columns; /* in place of NT_TABLE_COLUMNS */
	/* Lines of their own above and below a row; before is the row before it, or NULL. */
	void (*above)(FILE *out, const void *row, const void *before);
	void (*below)(FILE *out, const void *row);
};

int nt_table_print_noted(FILE *out, const struct nt_table *table,
			 const struct nt_table_notes *notes, const void *rows, size_t row_count,
			 struct nt_error *err);
int nt_table_print(FILE *out, const struct nt_table *table, const void *rows, size_t row_count,
		   struct nt_error *err);

/* What a cell holds: "-" stands for NAN and for a negative count. */
void nt_cell_decimal(char *cell, double value,
		     int decimals); /* "280.1"; no decimals from 100000 on */
void nt_cell_share(char *cell, double value); /* "0.0001", "<0.0001" */
void nt_cell_count(char *cell, int64_t value);

/* "158 us", "1.90 ms", "12.3 s": three digits */
const char *nt_time_text(double value_us, char *out, size_t out_bytes);

/* "12.3 ms", "45.6 s", "7.8 min", "9.1 h" */
const char *nt_duration_text(double value_ms, char *out, size_t out_bytes);

#endif
