/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/summary/counted-runs.h"

#include <stdio.h>
#include <stdlib.h>

void nt_counted_runs_init(struct nt_counted_runs *runs)
{
	nt_names_init(&runs->jobs, NT_COUNTED_RUNS_MAX);
	runs->next = NULL;
}

void nt_counted_runs_fini(struct nt_counted_runs *runs)
{
	nt_names_fini(&runs->jobs);
	free(runs->next);
	runs->next = NULL;
}

/* Remove the steps of earlier runs and their rows; the others keep their order. */
static void drop_before(struct nt_summary *summary, int64_t run)
{
	size_t rows = 0, steps = 0;

	for (size_t i = 0; i < summary->row_count; i++) {
		if (summary->steps[summary->rows[i].step].run >= run)
			summary->rows[rows++] = summary->rows[i];
	}
	summary->row_count = rows;
	for (size_t i = 0; i < summary->step_count; i++) {
		if (summary->steps[i].run < run)
			continue;
		for (size_t j = 0; j < rows; j++) {
			if (summary->rows[j].step == i)
				summary->rows[j].step = steps;
		}
		summary->steps[steps++] = summary->steps[i];
	}
	summary->step_count = steps;
}

static int64_t next_of(const struct nt_summary *summary, int64_t next)
{
	for (size_t i = 0; i < summary->step_count; i++) {
		if (summary->steps[i].run >= next)
			next = summary->steps[i].run + 1;
	}
	return next;
}

int nt_counted_runs_take(struct nt_counted_runs *runs, const struct nt_streamed_job *job,
			 struct nt_summary *summary)
{
	char name[NT_NAME_BYTES];
	int at;

	snprintf(name, sizeof(name), "%s %s", job->cluster, job->label);
	at = nt_names_find(&runs->jobs, name);
	if (at < 0 && !job->requeued)
		return 0;
	if (at < 0)
		at = nt_names_item(&runs->jobs, name, &runs->next, sizeof(*runs->next));
	if (at < 0)
		return runs->jobs.count == NT_COUNTED_RUNS_MAX ? 0 : -1;
	drop_before(summary, runs->next[at]);
	runs->next[at] = next_of(summary, runs->next[at]);
	return 0;
}
