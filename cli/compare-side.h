/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* compare-side.h - load a job for a comparison, with all its records
 *
 * Threads, host: as job-word.h.
 * Memory:   nt_compare_job_fini frees all, also after a failure.
 * Errors:   -1 and *err: there is no such job, or it has no record.
 */
#ifndef NT_COMPARE_SIDE_H
#define NT_COMPARE_SIDE_H

#include <stdbool.h>
#include "report/model/job-compare.h"

struct nt_compare_job {
	char name[64]; /* as on the command line */
	char title[160]; /* "4711 (train)" */
	struct nt_step_side *sides; /* its steps */
	size_t count;
	struct nt_summary *summaries; /* of its tasks, components and runs */
	size_t summary_count;
	bool damaged; /* something could not be read */
};

/* word: a job, or a file with a record (job-word.h). */
int nt_compare_job_load(struct nt_compare_job *job, const char *word, struct nt_error *err);
void nt_compare_job_fini(struct nt_compare_job *job);

#endif
