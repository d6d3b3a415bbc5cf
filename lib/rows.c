/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/rows.h"

#include <stdlib.h>
#include <string.h>
#include "lib/array.h"

static int keep(struct nt_rows_cut *cut, const char *data, size_t bytes, struct nt_error *err)
{
	if (!nt_array_room(&cut->held, &cut->room, cut->held_bytes + bytes))
		return nt_error_set(err, "no memory for a row");
	memcpy(cut->held + cut->held_bytes, data, bytes);
	cut->held_bytes += bytes;
	return 0;
}

/* The row's length with its newline; 0: its end has not arrived. */
static size_t cut_row(const struct nt_rows_cut *cut, const char *start, size_t bytes,
		      const char **column, size_t *column_bytes)
{
	size_t delimiter_bytes = strlen(cut->delimiter);
	const char *at = start, *end = start + bytes;
	const char *found;

	for (unsigned i = 0; i + 1 < cut->columns; i++) {
		found = memmem(at, (size_t)(end - at), cut->delimiter, delimiter_bytes);
		if (!found)
			return 0;
		column[i] = at;
		column_bytes[i] = (size_t)(found - at);
		at = found + delimiter_bytes;
	}
	found = memchr(at, '\n', (size_t)(end - at));
	if (!found)
		return 0;
	column[cut->columns - 1] = at;
	column_bytes[cut->columns - 1] = (size_t)(found - at);
	return (size_t)(found - start) + 1;
}

int nt_rows_cut_take(struct nt_rows_cut *cut, const char *data, size_t bytes, struct nt_error *err)
{
	const char *column[NT_ROWCUT_COLUMNS];
	size_t column_bytes[NT_ROWCUT_COLUMNS];
	size_t done = 0, row_bytes;

	if (keep(cut, data, bytes, err) < 0)
		return -1;
	while (done < cut->held_bytes) {
		row_bytes = cut_row(cut, cut->held + done, cut->held_bytes - done, column,
				    column_bytes);
		if (row_bytes == 0)
			break;
		if (cut->row(cut->argument, column, column_bytes, err) < 0)
			return -1;
		done += row_bytes;
	}
	cut->held_bytes -= done;
	if (cut->held_bytes > NT_ROWCUT_ROW_MAX)
		return nt_error_set(err, "cannot parse its output: a row of more than %u bytes",
				    NT_ROWCUT_ROW_MAX);
	memmove(cut->held, cut->held + done, cut->held_bytes);
	return 0;
}

int nt_rows_cut_end(struct nt_rows_cut *cut, struct nt_error *err)
{
	size_t left = cut->held_bytes;

	free(cut->held);
	cut->held = NULL;
	cut->held_bytes = cut->room = 0;
	return left > 0 ? nt_error_set(err, "cannot parse its output: it ends within a row") : 0;
}
