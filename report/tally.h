/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* tally.h - what the records of very many jobs come to
 *
 * What one job comes to is told in tallyjob.h. A record is what a user's processes have claimed: so
 * of a step no more counts than its job can have had (where it says more, the whole job is left
 * out, and counted); and what users name themselves (fingerprints) is bounded for each of them. A
 * record in a text that users can write to is no evidence at all.
 *
 * Threads:  one at a time for one tally; pure.
 * Memory:   grows with clusters, partitions and users, never with jobs; nt_tally_fini frees it.
 * Errors:   -1 and *err only when memory runs out. Whatever a job's texts hold is counted.
 * Units:    in the names.
 */
#ifndef NT_TALLY_H
#define NT_TALLY_H

#include "report/names.h"
#include "report/speedup.h"
#include "report/tallyjob.h"
#include "report/tallytop.h"

enum nt_tally_by {
	NT_BY_CLUSTER, /* every job is in these three */
	NT_BY_PARTITION,
	NT_BY_ACCOUNT,
	NT_BY_FINGERPRINT, /* a job whose record counts is in each that it has */
	NT_BY_COLLECTIVE,
	NT_BY_SIZE, /* by powers of four: "64K-256K" is from 64K on, and below 256K */
	NT_BY_REASON, /* why an arm is not in use, as record/reason.h has it */
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

struct nt_tally {
	struct nt_tally_groups by[NT_TALLY_BYS];
	struct nt_tally_top best, worst;
	size_t top; /* how many of each are kept */
	struct nt_speedups speedups;
	struct nt_names users; /* of jobs whose record counts */
	uint8_t *named; /* fingerprints that each user was the first to name */
	uint64_t jobs;
	int64_t left_out; /* keys and reasons that had no room in the records */
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
