/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* joblist.h - the jobs that a command's user names, and their texts
 *
 * Threads, host: as jobload.h.
 * Memory:   nt_joblist_fini frees the list; texts are the caller's.
 * Errors:   -1 and *err. An unknown job in a range or a span is no error.
 */
#ifndef NT_JOBLIST_H
#define NT_JOBLIST_H

#include <stdbool.h>
#include "report/model/accounting.h"

struct nt_joblist {
	struct nt_jobrange *ranges;
	size_t count;
	struct nt_accounting_span span; /* NULLs: no span is asked for */
};

/* Add what an argument names: ranges, separated by commas. */
int nt_joblist_add(struct nt_joblist *list, const char *text, struct nt_error *err);
void nt_joblist_fini(struct nt_joblist *list);

/* Does it name exactly one job? Then it is an error if that job has no record. */
bool nt_joblist_is_one(const struct nt_joblist *list);
bool nt_joblist_is_empty(const struct nt_joblist *list);

/* The texts of one range. */
int nt_joblist_load(struct nt_jobtexts *texts, const struct nt_jobrange *range,
		    struct nt_error *err);
/* Those of the span; only the caller's own jobs if no user is given. */
int nt_joblist_load_span(struct nt_jobtexts *texts, const struct nt_joblist *list,
			 struct nt_error *err);

#endif
