/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* job-outcome.h - the outcome of one job by its record, and sums over jobs
 *
 * Times are rank time: what the calls of a communicator took, times its ranks. On GPUs that is GPU
 * time, and adds up over jobs of any size. Sums are whole numbers, so that they do not depend on
 * the order in which jobs come.
 *
 * Of keys that did not fit into a record, only their number by reason and their step's sums are
 * known. They count cautiously: time spent times the ranks of the largest communicator, time saved
 * times those of the smallest, and in no collective or size.
 *
 * Threads:  pure functions.
 * Memory:   the caller's.
 * Units:    in the names.
 */
#ifndef NT_TALLYJOB_H
#define NT_TALLYJOB_H

#include <stdbool.h>
#include "record/job-summary.h"
#include "report/model/sacct-jobs.h"

/* Each job is one of these. From NT_JOB_NOT_TUNED on its record counts. */
enum nt_job_outcome {
	NT_JOB_RUNNING, /* accounting gets the record at its end */
	NT_JOB_NO_RECORD,
	NT_JOB_OTHER_TEXT, /* and no record beside it */
	NT_JOB_USERS_WORD, /* a record only where users can write, which proves nothing */
	NT_JOB_DAMAGED,
	NT_JOB_IMPLAUSIBLE,
	NT_JOB_NOT_TUNED, /* no collective is in the record */
	NT_JOB_OBSERVED, /* nothing was tried */
	NT_JOB_UNDECIDED, /* it ended before anything was decided */
	NT_JOB_NOTHING_TO_GAIN, /* every decision was NCCL's choice */
	NT_JOB_REMEMBERED, /* used remembered arms, and measured nothing */
	NT_JOB_UNPAID, /* arms saved less than exploring cost */
	NT_JOB_GAINED,
	NT_JOB_OUTCOMES,
};

/* "gained", "nothing_to_gain": in everything that programs read. */
const char *nt_job_outcome_name(enum nt_job_outcome outcome);

struct nt_site_stats_sum {
	int64_t jobs[NT_JOB_OUTCOMES];
	int64_t keys; /* collectives and sizes of communicators */
	int64_t decided, chosen; /* of these: decided; decided for an arm */
	int64_t calls;
	int64_t saved_us, spent_us; /* rank time */
	int64_t launch_us; /* of what was saved: by launch profiles; not by collective or size */
	int64_t calibration_us; /* of what was spent: by calibrations; not by collective or size */
	int64_t comm_us; /* in collectives, as far as measured; not by collective or size */
};

int64_t nt_site_stats_jobs(const struct nt_site_stats_sum *sum); /* of all outcomes */
int64_t nt_site_stats_recorded(const struct nt_site_stats_sum *sum); /* whose record counts */

/* Sums stop at a bound that only false records reach. */
void nt_site_stats_add_sum(struct nt_site_stats_sum *sum, const struct nt_site_stats_sum *other);
void nt_site_stats_add_row(struct nt_site_stats_sum *sum, const struct nt_key *row);

/* What a step's own sums have beyond those of its rows. */
struct nt_site_stats_sum nt_site_stats_rest(const struct nt_summary *summary, size_t step_at);

/* Everything of a job: rows, and keys that did not fit. */
struct nt_site_stats_sum nt_site_stats_whole(const struct nt_summary *summary);

/* Could a job like this one have left such a record? */
bool nt_site_stats_plausible(const struct nt_streamed_job *job, const struct nt_summary *summary);

enum nt_job_outcome nt_site_stats_outcome(const struct nt_summary *summary);

#endif
