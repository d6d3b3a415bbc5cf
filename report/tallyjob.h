/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* tallyjob.h - what the record of one job comes to, and sums of such
 *
 * Times are rank time: what the calls of a communicator took, times its ranks. On GPUs that is GPU
 * time, and adds up over jobs of any size. Sums are whole numbers, so that they do not depend on
 * the order in which jobs come.
 *
 * Of keys that had no room in a record only their number by reason and their step's sums are known.
 * These count as if they were
 * of the communicator that makes the least of it: what was spent times the ranks of the largest,
 * what was saved times those of the smallest; and in no collective or size.
 *
 * Threads:  pure functions.
 * Memory:   the caller's.
 * Units:    in the names.
 */
#ifndef NT_TALLYJOB_H
#define NT_TALLYJOB_H

#include <stdbool.h>
#include "record/summary.h"
#include "report/jobstream.h"

/* Each job is one of these. From NT_JOB_NOT_TUNED on its record counts. */
enum nt_job_outcome {
	NT_JOB_RUNNING, /* accounting has the record when it has ended */
	NT_JOB_NO_RECORD,
	NT_JOB_OTHER_TEXT, /* and no record beside it */
	NT_JOB_USERS_WORD, /* a record only where users may write, which is no evidence */
	NT_JOB_DAMAGED,
	NT_JOB_IMPLAUSIBLE,
	NT_JOB_NOT_TUNED, /* no collective is in the record */
	NT_JOB_OBSERVED, /* nothing was tried */
	NT_JOB_UNDECIDED, /* it ended before anything was decided */
	NT_JOB_NOTHING_TO_GAIN, /* all that was decided stays with NCCL's pick */
	NT_JOB_REMEMBERED, /* arms of earlier jobs were in use, and nothing was measured */
	NT_JOB_UNPAID, /* arms are in use, which have not saved what exploring took */
	NT_JOB_GAINED,
	NT_JOB_OUTCOMES,
};

/* "gained", "nothing_to_gain": in all that programs read. */
const char *nt_job_outcome_name(enum nt_job_outcome outcome);

struct nt_tally_sum {
	int64_t jobs[NT_JOB_OUTCOMES];
	int64_t keys; /* collectives and sizes of communicators */
	int64_t decided, chosen; /* of these: decided at all, and for an arm */
	int64_t calls;
	int64_t saved_us, spent_us; /* rank time */
	int64_t comm_us; /* in collectives, of steps that say it; of no collective or size */
};

int64_t nt_tally_jobs(const struct nt_tally_sum *sum); /* of all outcomes */
int64_t nt_tally_recorded(const struct nt_tally_sum *sum); /* whose record counts */

/* Sums end at a bound that only records reach that lie. */
void nt_tally_add_us(int64_t *sum, int64_t us);
void nt_tally_add_sum(struct nt_tally_sum *sum, const struct nt_tally_sum *other);
void nt_tally_add_row(struct nt_tally_sum *sum, const struct nt_row *row);

/* What a step's own sums say beside those of its rows. */
struct nt_tally_sum nt_tally_rest(const struct nt_summary *summary, size_t step_at);

/* All of a job: rows and rests. */
struct nt_tally_sum nt_tally_whole(const struct nt_summary *summary);

/* Could a job like this one have left such a record? */
bool nt_tally_plausible(const struct nt_streamed_job *job, const struct nt_summary *summary);

enum nt_job_outcome nt_tally_outcome(const struct nt_summary *summary);

#endif
