/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* report-list.h - several jobs as a table with a line each, and one job in full
 *
 * Add a summary for each; the output depends on whether they are of more than one job. The
 * components and runs of a job, which have labels such as 12+1 and "12 (run 1)", are one job.
 *
 * Threads:  any; one at a time for one list.
 * Memory:   nt_report_list_fini frees all; summaries and texts are not kept.
 * Errors:   -1 and *err when memory runs out.
 */
#ifndef NT_REPORT_LIST_H
#define NT_REPORT_LIST_H

#include <stdbool.h>
#include <stdio.h>
#include "record/job-summary.h"
#include "report/model/jobtext.h"
#include "report/text/two-jobs.h"

struct nt_report_list {
	struct nt_report_line *lines;
	size_t count;
	bool several; /* jobs */
	struct nt_two_jobs two; /* the first two */
	FILE *out; /* writes to full */
	char *full; /* text of one job */
	size_t full_bytes;
};

/* job: as nt_summary_print. text: what Slurm knows of it; NULL: nothing. */
int nt_report_list_add(struct nt_report_list *list, const char *job, const struct nt_jobtext *text,
		       const struct nt_summary *summary, struct nt_error *err);
void nt_report_list_print(FILE *out, const struct nt_report_list *list);
void nt_report_list_fini(struct nt_report_list *list);

#endif
