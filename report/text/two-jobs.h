/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* two-jobs.h - a table of two jobs: the times of their steps and calls, and what is used, side by
 * side
 *
 * Steps belong together by their order, calibrations left out; calls by collective, size and
 * communicator.
 *
 * Threads:  one at a time.
 * Memory:   values are copied; nt_two_jobs_fini frees them.
 * Errors:   -1 and *err when memory runs out.
 */
#ifndef NT_TWO_JOBS_H
#define NT_TWO_JOBS_H

#include <stdio.h>
#include "record/job-summary.h"

struct nt_two_jobs {
	struct nt_two_row *rows;
	size_t count;
};

/* side: 0 first, then 1. */
int nt_two_jobs_add(struct nt_two_jobs *two, int side, const struct nt_summary *summary,
		    struct nt_error *err);
int nt_two_jobs_print(FILE *out, const struct nt_two_jobs *two, struct nt_error *err);
void nt_two_jobs_fini(struct nt_two_jobs *two);

#endif
