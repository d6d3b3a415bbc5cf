/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* rowcut.h - a table that comes in pieces, row by row
 *
 * Columns may hold anything but the delimiter, line ends too; only the last holds no line end, and
 * the first one behind it ends the row.
 *
 * Threads:  one at a time for one cutter.
 * Memory:   what is held of a row whose end has not come; nt_rowcut_end frees it.
 * Errors:   -1 and *err: what row() said, or that there is no such table.
 */
#ifndef NT_ROWCUT_H
#define NT_ROWCUT_H

#include <stddef.h>
#include "contract/error.h"

#define NT_ROWCUT_COLUMNS 16
#define NT_ROWCUT_ROW_MAX \
	(1u << 20) /* bytes; three of the longest texts that accounting keeps fit */

struct nt_rowcut {
	const char *delimiter;
	unsigned columns;
	/* Texts are not terminated. */
	int (*row)(void *argument, const char *const *column, const size_t *bytes,
		   struct nt_error *err);
	void *argument;
	char *held;
	size_t held_bytes, room;
};

int nt_rowcut_take(struct nt_rowcut *cut, const char *data, size_t bytes, struct nt_error *err);
/* -1 if a row has no end. */
int nt_rowcut_end(struct nt_rowcut *cut, struct nt_error *err);

#endif
