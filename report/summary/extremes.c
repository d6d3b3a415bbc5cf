/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/summary/extremes.h"

#include <stdbool.h>
#include <string.h>

static int64_t net_of(const struct nt_site_stats_job *job)
{
	return job->saved_us - job->spent_us;
}

/* sign: 1 for the best, -1 for the worst. Names decide between equals, so that the order of
 * insertion does not matter. */
static bool is_before(const struct nt_site_stats_job *a, const struct nt_site_stats_job *b,
		      int sign)
{
	int order = 0;

	if (net_of(a) != net_of(b))
		return sign > 0 ? net_of(a) > net_of(b) : net_of(a) < net_of(b);
	order = strcmp(a->cluster, b->cluster);
	return order != 0 ? order < 0 : strverscmp(a->label, b->label) < 0;
}

void nt_site_stats_offer(struct nt_site_stats_top *top, size_t most,
			 const struct nt_site_stats_job *job, int sign)
{
	size_t at = top->count;

	while (at > 0 && is_before(job, &top->job[at - 1], sign))
		at--;
	if (at >= most)
		return;
	if (top->count < most)
		top->count++;
	memmove(&top->job[at + 1], &top->job[at], (top->count - 1 - at) * sizeof(*job));
	top->job[at] = *job;
}
