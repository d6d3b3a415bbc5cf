/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* marked.h - ask sacct for columns in which users may have written anything
 *
 * Between two columns stands a mark that is drawn anew for each question, so that no text can end
 * where it does not, or be taken for a row of another job's.
 *
 * Threads:  single-threaded programs only (child.h).
 * Memory:   what a visitor gets is valid during its call.
 * Errors:   -1 and *err says what could not be asked, and why.
 * Host:     the command sacct.
 */
#ifndef NT_MARKED_H
#define NT_MARKED_H

#include <stdbool.h>
#include <stddef.h>
#include "contract/error.h"
#include "record/scan.h"

#define NT_MARKED_COLUMNS 8

struct nt_marked {
	const char *jobs; /* separated by commas */
	const char *cluster; /* NULL: this one */
	const char *columns; /* as sacct takes them */
	size_t count; /* of columns, at most NT_MARKED_COLUMNS */
	bool every_run; /* also those of a job that was requeued, the oldest first */
	int timeout_ms;
};

/* A row's columns; -1 ends it: no memory. */
typedef int nt_marked_visit(void *argument, const struct nt_text *columns);

int nt_marked_ask(const struct nt_marked *question, nt_marked_visit *visit, void *argument,
		  struct nt_error *err);

#endif
