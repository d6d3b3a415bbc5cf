/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* table.h - columns of text, each as wide as its widest cell
 *
 *	static const char *const columns[] = { "-NAME", "SAVED\nms" };
 *	struct nt_table table = NT_TABLE(columns, 0);
 *
 *	for (size_t i = 0; i < count; i++) {
 *		nt_cell(&table, "%s", item[i].name);
 *		nt_cell_decimal(&table, item[i].saved_ms, 1);
 *	}
 *	return nt_table_print(out, &table, err);
 *
 * Threads:  one table, one thread.
 * Memory:   cells are copied; nt_table_print or nt_table_fini frees them.
 * Errors:   nt_table_print returns -1 if memory ran out; write errors stay on the stream for the
 *           caller (ferror).
 */
#ifndef NT_TABLE_H
#define NT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "lib/error.h"

#define NT_CELL_MAX 48 /* bytes; longer cells are cut */
#define NT_TABLE_COLUMNS 120 /* of the terminal; wider tables have narrower gaps */

struct nt_table {
	/* Heads: "TIME\nus" has two lines, "-NAME" is aligned left. */
	const char *const *columns;
	size_t column_count;
	int indent; /* spaces before every line */
	int max_columns; /* 0: NT_TABLE_COLUMNS */
	char (*cells)[NT_CELL_MAX];
	size_t cell_count;
	struct nt_table_note *notes;
	size_t note_count;
	bool no_memory;
};

#define NT_TABLE(list, spaces)                                                       \
	{                                                                            \
		.columns = (list), .column_count = sizeof(list) / sizeof((list)[0]), \
		.indent = (spaces)                                                   \
	}

/* The next cell, row by row. "-" stands for NAN and negative counts. */
void nt_cell(struct nt_table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
void nt_cell_decimal(struct nt_table *table, double value, int decimals);
/* Microseconds, from one second on seconds, and a mark behind them. */
void nt_cell_us(struct nt_table *table, double us, const char *mark);
void nt_cell_count(struct nt_table *table, int64_t value);

/* Lines between rows (nt_wrap). */
void nt_table_note(struct nt_table *table, const char *first, int rest, const char *text);

int nt_table_print(FILE *out, struct nt_table *table, struct nt_error *err);
void nt_table_fini(struct nt_table *table); /* if it is not printed */

/* "280.1"; no decimals from 100000 on */
const char *nt_decimal_text(double value, int decimals, char *out, size_t out_bytes);

/* "0.0001", "<0.0001" */
const char *nt_share_text(double value, char *out, size_t out_bytes);

/* "158 us", "1.90 ms", "12.3 s": three digits */
const char *nt_time_text(double value_us, char *out, size_t out_bytes);

/* "12.3 ms", "45.6 s", "7.8 min", "9.1 h" */
const char *nt_duration_text(double value_ms, char *out, size_t out_bytes);

#endif
