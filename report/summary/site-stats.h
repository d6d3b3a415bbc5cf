/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* site-stats.h - totals over the records of many jobs
 *
 * One job's contribution is computed in job-outcome.h. Records are written by users' processes, so
 * they are checked: a job whose record claims more time or ranks than its allocation allows is
 * counted as implausible and otherwise ignored; the number of distinct names a user can introduce
 * (versions of NCCL) is limited; records found only in user-writable fields are ignored.
 *
 * Threads:  pure; one thread at a time for one struct.
 * Memory:   grows with clusters, partitions and users, not with jobs; free it with
 *           nt_site_stats_fini.
 * Errors:   -1 and *err only when out of memory. Malformed records are counted, not errors.
 * Units:    in the names.
 */
#ifndef NT_SITE_STATS_H
#define NT_SITE_STATS_H

#include "lib/name-set.h"
#include "report/summary/counted-runs.h"
#include "report/summary/job-outcome.h"

enum nt_site_stats_by {
	NT_BY_CLUSTER, /* every job is in these three */
	NT_BY_PARTITION,
	NT_BY_USER,
	NT_BY_NCCL, /* a job whose record counts is in each of its versions */
	NT_SITE_STATS_BYS,
};

struct nt_site_stats_group {
	char cluster[64], name[64];
	uint64_t newest_job; /* counted last, so that each counts once */
	struct nt_site_stats_sum sum;
};

struct nt_site_stats_groups {
	struct nt_names names;
	struct nt_site_stats_group *group;
};

struct nt_site_stats {
	struct nt_site_stats_groups by[NT_SITE_STATS_BYS];
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

/* Call it after the last job. Groups by cluster, then by net time. */
void nt_site_stats_sort(struct nt_site_stats *tally);

/* Over all clusters. */
struct nt_site_stats_sum nt_site_stats_total(const struct nt_site_stats *tally);

#endif
