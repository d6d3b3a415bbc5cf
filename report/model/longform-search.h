/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* longform-search.h - the long form of a job's record (record/long.h), if there is one
 *
 * It is where the job's short record says; if that says nothing, where a step of the caller's or of
 * the job's user would write it: $NCCL_TUNE_RECORD_DIR, or the site's record_dir, or next to the
 * user's memory. Users can write there, so parts are read as in record/longset.h, and only parts
 * that name the job count. The job's directory and each part must belong to the job's user, the
 * caller or root.
 *
 * Threads:  the main thread.
 * Memory:   the caller's.
 * Errors:   -1 and *err when memory runs out; that there is no long form is none.
 */
#ifndef NT_LONGFORM_SEARCH_H
#define NT_LONGFORM_SEARCH_H

#include "record/longset.h"

struct nt_long_job {
	uint32_t job;
	const char *user; /* its owner; NULL or "": unknown, and not checked */
	const char *step; /* the one wanted; NULL: all */
	unsigned run; /* which one, if the short record has no steps; 0: unknown */
};

/* The parts of a job, sorted: of the run that the short record is of, else of the run that
 * accounting names, else of the newest. named: directories in the short record, or NULL. */
void nt_long_find(struct nt_long_set *set, const struct nt_long_job *job,
		  const struct nt_summary *named);

/* Adds the steps that have a long form. known: as the short record has them. */
int nt_long_load(struct nt_summary *summary, const struct nt_long_job *job,
		 const struct nt_summary *known, struct nt_error *err);

#endif
