/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* job-word.h - an argument that names a job or a file, and its records
 *
 * An argument that is a job id, as for `report`, names a job unless there is a file of that name.
 *
 * Threads, host: as jobload.h.
 * Memory:   the caller's.
 * Errors:   -1 and *err.
 */
#ifndef NT_JOB_WORD_H
#define NT_JOB_WORD_H

#include <stdbool.h>
#include "record/longset.h"
#include "report/model/jobtext.h"

/* Called with each rank record of a long form; damage is reported. */
struct nt_rank_visitor {
	int (*visit)(void *argument, const struct nt_long_part *part, struct nt_text record,
		     struct nt_error *err);
	void *argument;
	bool *damaged; /* set if something was */
};

/* Does the word name a job, a part of a long form or a directory of them? */
bool nt_job_word_is_long(const char *word);

/* Visit the rank records of a job, a part or a directory. It is an error if a job has none. */
int nt_job_word_visit(const char *word, const struct nt_rank_visitor *visitor, size_t *parts,
		      struct nt_error *err);

#endif
