/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* tally.h - what the records of very many jobs come to
 *
 * Times are rank time: what the calls of a communicator took, times its ranks. On GPUs that is GPU
 * time, and adds up over jobs of any size.
 *
 * Sums are whole numbers: they do not depend on the order in which jobs come. A record is what a
 * user's processes have claimed. So of a step no more counts than its job can have had: where it says
 * more, the whole job is left out, and counted. And what users name themselves (fingerprints) is
 * bounded for each of them.
 *
 * Threads:  one at a time for one tally; pure.
 * Memory:   grows with clusters, partitions and users, never with jobs; nt_tally_fini frees it.
 * Errors:   -1 and *err only when memory runs out. Whatever a job's texts hold is counted.
 * Units:    in the names.
 */
#ifndef NT_TALLY_H
#define NT_TALLY_H

#include "record/summary.h"
#include "report/evidence.h"
#include "report/jobstream.h"
#include "report/names.h"

/* Each job is one of these. From NT_JOB_NOT_TUNED on its record counts. */
enum nt_job_outcome {
	NT_JOB_RUNNING, /* accounting has the record when it has ended */
	NT_JOB_NO_RECORD,
	NT_JOB_OTHER_TEXT, /* and no record beside it */
	NT_JOB_DAMAGED,
	NT_JOB_IMPLAUSIBLE,
	NT_JOB_NOT_TUNED, /* no collective is in the record */
	NT_JOB_OBSERVED, /* nothing was tried */
	NT_JOB_UNDECIDED, /* it ended before anything was decided */
	NT_JOB_NOTHING_TO_GAIN, /* all that was decided stays with NCCL's pick */
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
};

int64_t nt_tally_jobs(const struct nt_tally_sum *sum); /* of all outcomes */
int64_t nt_tally_recorded(const struct nt_tally_sum *sum); /* whose record counts */

enum nt_tally_by {
	NT_BY_CLUSTER, /* every job is in these three */
	NT_BY_PARTITION,
	NT_BY_ACCOUNT,
	NT_BY_FINGERPRINT, /* a job whose record counts is in each that it has */
	NT_BY_COLLECTIVE,
	NT_BY_SIZE, /* by powers of four: "64K-256K" is from 64K on, and below 256K */
	NT_TALLY_BYS,
};

struct nt_tally_group {
	char cluster[64], name[64];
	uint64_t order; /* of sizes; else 0 */
	uint64_t newest_job; /* that was counted, so that each is once */
	struct nt_tally_sum sum;
};

struct nt_tally_groups {
	struct nt_names names;
	struct nt_tally_group *group;
};

/* A job of the best or the worst. */
struct nt_tally_job {
	char label[NT_JOB_LABEL_MAX];
	char cluster[64], partition[64], user[64];
	int64_t saved_us, spent_us;
};

#define NT_TALLY_TOP_MAX 100

struct nt_tally_top {
	struct nt_tally_job job[NT_TALLY_TOP_MAX];
	size_t count;
};

struct nt_tally {
	struct nt_tally_groups by[NT_TALLY_BYS];
	struct nt_tally_top best, worst;
	size_t top; /* how many of each are kept */
	struct nt_evidence evidence;
	struct nt_names users; /* of jobs whose record counts */
	uint8_t *named; /* fingerprints that each user was the first to name */
	uint64_t jobs;
	int64_t left_out; /* entries that had no room in the records */
};

/* top: at most NT_TALLY_TOP_MAX */
void nt_tally_init(struct nt_tally *tally, size_t top);
void nt_tally_fini(struct nt_tally *tally);

int nt_tally_add(struct nt_tally *tally, const struct nt_streamed_job *job, struct nt_error *err);

/* Groups by cluster, then sizes in order, others by what they gained. After the last job. */
void nt_tally_sort(struct nt_tally *tally);

/* Over all clusters. */
struct nt_tally_sum nt_tally_total(const struct nt_tally *tally);

#endif
