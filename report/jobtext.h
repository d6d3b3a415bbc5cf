/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* jobtext.h - the text in a job's AdminComment, from where Slurm keeps it
 *
 * slurmctld knows a job from its submission until MinJobAge after its end; accounting knows it for
 * good, but gets the text only when the job ends, and keeps what is mended later.
 *
 * Threads:  single-threaded programs only (child.h).
 * Memory:   nt_jobtexts_fini frees all.
 * Errors:   -1 and *err says what could not be asked, and why. A job that is not known is no
 *           error: nothing is added.
 * Host:     nt_controller_load: libslurm, after slurm_init. nt_accounting_load: the command sacct.
 */
#ifndef NT_JOBTEXT_H
#define NT_JOBTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include "report/jobid.h"

struct nt_jobtext {
	char label[NT_JOB_LABEL_MAX]; /* "12", "12_3", "12+1" */
	uint32_t job; /* Slurm's own number of that job, task or component */
	bool ended;
	char *comment; /* "" where there is none */
};

struct nt_jobtexts {
	struct nt_jobtext *items;
	size_t count;
	struct nt_error doubt; /* why what has not ended may be out of date; "" if it is not */
};

/* Add what slurmctld knows. */
int nt_controller_load(struct nt_jobtexts *texts, const struct nt_jobid *id, struct nt_error *err);

/* Add what accounting knows; cluster may be NULL for this one. */
int nt_accounting_load(struct nt_jobtexts *texts, const struct nt_jobid *id, const char *cluster,
		       struct nt_error *err);

/* Accounting's, and slurmctld's for what accounting has not seen end: so an ended job costs
 * slurmctld nothing, and does not wait for it where it is away (Slurm's library tries for 18 s).
 * Sorted by label. Fails when the job was not found and one of them did not answer. */
int nt_job_load(struct nt_jobtexts *texts, const struct nt_jobid *id, struct nt_error *err);

/* comment_bytes of comment are copied. NULL when memory runs out. */
struct nt_jobtext *nt_jobtexts_add(struct nt_jobtexts *texts, const char *label,
				   const char *comment, size_t comment_bytes);
void nt_jobtexts_fini(struct nt_jobtexts *texts);

#endif
