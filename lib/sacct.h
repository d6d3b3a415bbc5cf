/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* sacct.h - query Slurm's accounting about jobs, row by row
 *
 * Users may have written anything into some columns, so the delimiter is a new random mark for each
 * query.
 *
 * slurmdb_jobs_get() is not used: libslurm loads Slurm's accounting plugin, which needs symbols
 * that libslurm does not export (slurmdbd_msg_type_2_str, 22.05.8), so a refusal or a lost
 * connection ends the calling program; and it retries for minutes while slurmdbd is down. sacct has
 * the right library, obeys the site's PrivateData, names jobs as users do, and can be killed.
 *
 * Threads:  single-threaded programs only (child.h).
 * Memory:   one row and the newest output; a visitor's texts are valid during its call.
 * Errors:   -1 and *err: of the query or the visitor. Earlier rows were visited.
 * Units:    times in the output are seconds since 1970, or "Unknown".
 * Host:     the command sacct.
 */
#ifndef NT_SACCT_H
#define NT_SACCT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/error.h"
#include "lib/json-scanner.h"

/* Of a row; texts have no NUL. -1 and *err end the query. */
typedef int nt_sacct_visit(void *argument, const struct nt_text *column, struct nt_error *err);

/* Splits a stream into rows of delimited columns. A column may contain anything but the delimiter,
 * even newlines; the last one ends at the first newline. */
#define NT_ROWCUT_COLUMNS 16
#define NT_ROWCUT_ROW_MAX (1u << 20) /* bytes: three of the longest texts in accounting */

struct nt_rows_cut {
	const char *delimiter;
	unsigned columns;
	nt_sacct_visit *visit;
	void *argument;
	char *held;
	size_t held_bytes, size;
};

int nt_rows_cut_take(struct nt_rows_cut *cut, const char *data, size_t bytes, struct nt_error *err);
/* Frees what is held of an incomplete row, which is an error. */
int nt_rows_cut_end(struct nt_rows_cut *cut, struct nt_error *err);

/* Lists and times as sacct takes them; NULL: not used. */
struct nt_sacct {
	const char *columns; /* the last must not contain users' text */
	size_t count; /* of columns, at most NT_ROWCUT_COLUMNS */
	const char *jobs, *since, *until, *user, *partition, *account, *cluster;
	bool all_users; /* of those the caller may see */
	bool steps; /* also rows of steps: "12.0" after "12" */
	bool every_run; /* also earlier runs of requeued jobs, the oldest first */
	int timeout_ms;
};

int nt_sacct_ask(const struct nt_sacct *question, nt_sacct_visit *visit, void *argument,
		 struct nt_error *err);

/* The number in a column; 0 for "Unknown". */
int64_t nt_sacct_number(struct nt_text column);

#endif
