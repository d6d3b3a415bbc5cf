/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* jobtext.h - the AdminComments of a job and of what it consists of
 *
 * Threads:  any; one at a time for one list.
 * Memory:   nt_jobtexts_fini frees all.
 */
#ifndef NT_JOBTEXT_H
#define NT_JOBTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include "lib/error.h"
#include "record/job-summary.h"
#include "report/model/jobid.h"

struct nt_jobtext {
	char label[NT_JOB_LABEL_MAX]; /* "12", "12_3", "12+1" */
	uint32_t job; /* Slurm's own number of that job, task or component */
	unsigned run; /* of a requeued job: how many runs came before, according to accounting */
	bool ended;
	const char *state; /* in words; NULL: unknown */
	int64_t start_s; /* since 1970; 0: it has not started, or it is unknown */
	int64_t end_s; /* since 1970; 0: unknown */
	char user[64]; /* "" if unknown */
	char cluster[64], partition[64]; /* likewise */
	int64_t elapsed_s; /* that it ran, or has run so far; 0: unknown */
	char name[128]; /* the job's, printable; "" if unknown */
	uint32_t nodes; /* 0: unknown */
	char *comment; /* AdminComment's text, "" where there is none */
	char *filed; /* a record of the steps that the site's files have; NULL: none */
	bool earlier; /* it is of a run that was not the last */
	bool newest; /* steps of earlier runs in these are not shown */
	char unreadable[200]; /* where a record of it is that the caller cannot read; "": none */
};

struct nt_jobtexts {
	struct nt_jobtext *items;
	size_t count;
	struct nt_error doubt; /* why a running job's text may be out of date; "": it is not */
};

/* comment_bytes of comment are copied. NULL when memory runs out. */
struct nt_jobtext *nt_jobtexts_add(struct nt_jobtexts *texts, const char *label,
				   const char *comment, size_t comment_bytes);
/* NULL: there is none with that label. */
struct nt_jobtext *nt_jobtexts_find(const struct nt_jobtexts *texts, const char *label);
void nt_jobtexts_fini(struct nt_jobtexts *texts);

/* Adds the steps that are known of one of the texts and that summary does not have. A step belongs
 * to the run that it names, whichever of the texts contains it: Slurm keeps an earlier run's text,
 * and its last record may arrive during the next run. only_step: as nt_summary_parse(). */
int nt_jobtext_parse(const struct nt_jobtexts *texts, const struct nt_jobtext *text,
		     const char *only_step, struct nt_summary *summary, struct nt_error *err);

#endif
