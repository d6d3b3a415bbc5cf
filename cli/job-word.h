/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* job-word.h - an argument that names a job or a file, and its records
 *
 * An argument that is a job id, as for `report`, names a job unless there is a file of that name.
 *
 * Threads, host: as jobload.h.
 * Memory:   the caller's; nt_jobtexts_fini frees texts.
 * Errors:   -1 and *err.
 */
#ifndef NT_JOB_WORD_H
#define NT_JOB_WORD_H

#include <stdbool.h>
#include "record/longset.h"
#include "cli/command.h"
#include "report/model/jobtext.h"

bool nt_job_word(const char *word, struct nt_jobid *id);

/* The job's records, as Slurm has them. It is an error if there is no such job. */
int nt_job_word_texts(struct nt_jobtexts *texts, const struct nt_jobid *id, struct nt_error *err);

/* Called with each rank record of a long form; damage is reported. */
struct nt_rank_visitor {
	int (*visit)(void *argument, const struct nt_long_part *part, struct nt_text record,
		     struct nt_error *err);
	void *argument;
	bool *damaged; /* set if something was; may be NULL */
	bool quiet; /* report no damage, and do not set *damaged */
};

/* Visit the long form of a job in accounting; adds the number of its parts to *parts. */
int nt_job_text_visit(const struct nt_jobtext *text, const char *step,
		      const struct nt_rank_visitor *visitor, size_t *parts, struct nt_error *err);

/* Does the word name a job, a part of a long form or a directory of them? */
bool nt_job_word_is_long(const char *word);

/* Visit the rank records of a job, a part or a directory. It is an error if a job has none. */
int nt_job_word_visit(const char *word, const struct nt_rank_visitor *visitor, size_t *parts,
		      struct nt_error *err);

#endif
