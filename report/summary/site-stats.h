/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* site-stats.h - totals over the records of many jobs
 *
 * Times are rank time: what the calls of a communicator took, times its ranks. On GPUs that is GPU
 * time, and adds up over jobs of any size. Sums are whole numbers, so that they do not depend on
 * the order in which jobs come.
 *
 * Of keys that did not fit into a record, only their number by reason and their step's sums are
 * known. They count cautiously: time spent times the ranks of the largest communicator, time saved
 * times those of the smallest.
 *
 * Records are written by users' processes, so they are checked: a job whose record claims more time
 * or ranks than its allocation allows is counted as implausible and otherwise ignored; the number
 * of distinct names a user can introduce (versions of NCCL) is limited; records found only in
 * user-writable fields are ignored.
 *
 * Threads:  pure; one thread at a time for one struct.
 * Memory:   grows with clusters, partitions and users, and by some 160 bytes for each requeued
 *           job, not with other jobs; free it with nt_site_stats_fini.
 * Errors:   -1 and *err only when out of memory. Malformed records are counted, not errors.
 * Units:    in the names.
 */
#ifndef NT_SITE_STATS_H
#define NT_SITE_STATS_H

#include "lib/name-set.h"
#include "record/job-summary.h"
#include "report/model/sacct-jobs.h"

/* Each job is one of these. From NT_JOB_NOT_TUNED on its record counts. */
enum nt_job_outcome {
	NT_JOB_RUNNING, /* accounting gets the record at its end */
	NT_JOB_NO_RECORD,
	NT_JOB_OTHER_TEXT, /* and no record beside it */
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

struct nt_site_stats_sum {
	int64_t jobs[NT_JOB_OUTCOMES];
	int64_t keys; /* collectives and sizes of communicators */
	int64_t decided, chosen; /* of these: decided; decided for an arm */
	int64_t calls;
	int64_t saved_us, spent_us; /* rank time */
	int64_t launch_us; /* of what was saved: by launch profiles */
	int64_t calibration_us; /* of what was spent: by calibrations */
	int64_t comm_us; /* in collectives, as far as measured */
};

enum nt_site_stats_by {
	NT_BY_CLUSTER, /* every job is in these three */
	NT_BY_PARTITION,
	NT_BY_USER,
	NT_BY_NCCL, /* a job whose record counts is in each of its versions */
	NT_SITE_STATS_BYS,
};

struct nt_site_stats_class {
	char cluster[64], name[64];
	uint64_t newest_job; /* counted last, so that each counts once */
	struct nt_site_stats_sum sum;
};

struct nt_site_stats_classes {
	struct nt_names names;
	struct nt_site_stats_class *class;
};

/* Of requeued jobs, so that each of their steps counts once. */
struct nt_counted_runs {
	struct nt_names jobs;
	int64_t *next; /* of each: the first run that was not counted */
};

struct nt_site_stats {
	struct nt_site_stats_classes by[NT_SITE_STATS_BYS];
	struct nt_counted_runs runs;
	struct nt_names users; /* of jobs whose record counts */
	uint8_t *named; /* number of versions that each user named first */
	uint64_t jobs;
	int64_t left_out; /* keys and reasons that did not fit into the records */
};

void nt_site_stats_init(struct nt_site_stats *tally);
void nt_site_stats_fini(struct nt_site_stats *tally);

int nt_site_stats_add(struct nt_site_stats *tally, const struct nt_streamed_job *job,
		      struct nt_error *err);

/* Call it after the last job. Classes by cluster, then by net time. */
void nt_site_stats_sort(struct nt_site_stats *tally);

/* Over all clusters. */
struct nt_site_stats_sum nt_site_stats_total(const struct nt_site_stats *tally);

/* "gained", "nothing_to_gain": in everything that programs read. */
const char *nt_job_outcome_name(enum nt_job_outcome outcome);

int64_t nt_site_stats_jobs(const struct nt_site_stats_sum *sum); /* of all outcomes */
int64_t nt_site_stats_recorded(const struct nt_site_stats_sum *sum); /* whose record counts */

#endif
