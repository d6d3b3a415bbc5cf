/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* rows.h - split a stream into rows of delimited columns
 *
 * A column may contain anything but the delimiter, even newlines; the last one ends at the first
 * newline.
 *
 * Threads:  one at a time for one cutter.
 * Memory:   nt_rows_cut_end frees what is held of an incomplete row.
 * Errors:   -1 and *err: that of row(), or a row that is too long or incomplete.
 */
#ifndef NT_ROWCUT_H
#define NT_ROWCUT_H

#include <stddef.h>
#include "lib/error.h"

#define NT_ROWCUT_COLUMNS 16
#define NT_ROWCUT_ROW_MAX (1u << 20) /* bytes: three of the longest texts in accounting */

struct nt_rows_cut {
	const char *delimiter;
	unsigned columns;
	/* Texts have no NUL. */
	int (*row)(void *argument, const char *const *column, const size_t *bytes,
		   struct nt_error *err);
	void *argument;
	char *held;
	size_t held_bytes, room;
};

int nt_rows_cut_take(struct nt_rows_cut *cut, const char *data, size_t bytes, struct nt_error *err);
/* -1 if a row is incomplete. */
int nt_rows_cut_end(struct nt_rows_cut *cut, struct nt_error *err);

#endif
