/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* longform.h - a job's record in full, where there is one (record/long.h)
 *
 * Looked for where the job's short record says, in $NCCL_TUNE_RECORD_DIR, in the site's record_dir,
 * and beside the memory of the job's user. These are users' directories: what is in them is read as
 * record/longset.h does, and only parts that say they are of the job count; of those beside the
 * memory and in record_dir, where jobs of several clusters may be, this cluster's.
 *
 * Threads:  the main thread.
 * Memory:   the caller's.
 * Errors:   -1 and *err when memory runs out; that there is no long form is none.
 */
#ifndef NT_LONGFORM_REPORT_H
#define NT_LONGFORM_REPORT_H

#include "record/longset.h"

struct nt_long_job {
	uint32_t job;
	const char *user; /* whose it is; NULL or "": not known, and not asked for */
	const char *step; /* the one that is wanted; NULL: all */
};

/* The parts of a job, sorted, of the run that its short record is of, else of the newest; named:
 * what that record says, or NULL. */
void nt_long_find(struct nt_long_set *set, const struct nt_long_job *job,
		  const struct nt_summary *named);

/* summary holds what text, the short record, says (text NULL: there is none). The steps that have a
 * long form are taken from it instead. The number of these. */
int nt_long_prefer(struct nt_summary *summary, const struct nt_long_job *job, const char *text,
		   size_t text_bytes, struct nt_error *err);

#endif
