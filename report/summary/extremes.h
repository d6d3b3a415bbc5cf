/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* extremes.h - the best or the worst of many jobs, by what they gained or lost
 *
 * Threads:  pure functions.
 * Memory:   the caller's.
 * Units:    rank time (job-outcome.h).
 */
#ifndef NT_TALLYTOP_H
#define NT_TALLYTOP_H

#include <stddef.h>
#include <stdint.h>
#include "report/model/jobid.h"

#define NT_SITE_STATS_TOP_MAX 100

struct nt_site_stats_job {
	char label[NT_JOB_LABEL_MAX];
	char cluster[64], partition[64], user[64];
	int64_t saved_us, spent_us;
};

struct nt_site_stats_top {
	struct nt_site_stats_job job[NT_SITE_STATS_TOP_MAX];
	size_t count;
};

/* Inserts job if it is among the first most: by net time, highest (sign 1) or lowest (-1) first,
 * then by name; the order of insertion does not matter. */
void nt_site_stats_offer(struct nt_site_stats_top *top, size_t most,
			 const struct nt_site_stats_job *job, int sign);

#endif
