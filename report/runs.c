/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* runs.c - see runs.h */
#include "report/runs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "record/summary.h"
#include "report/join.h"
#include "report/marked.h"

#define REQUEUED "REQUEUED"

struct runs {
	struct nt_jobtexts *texts;
	size_t last_count; /* of texts: the last runs */
};

static unsigned count_runs(const struct nt_jobtexts *texts, uint32_t job)
{
	unsigned count = 0;

	for (size_t i = 0; i < texts->count; i++)
		count += texts->items[i].job == job;
	return count;
}

/* What the last run's row still has of this one. */
static int take_away(struct runs *runs, const struct nt_jobtext *run)
{
	for (size_t i = 0; i < runs->last_count; i++) {
		struct nt_jobtext *last = &runs->texts->items[i];

		if (last->job == run->job && nt_join_without(&last->comment, run->comment) < 0)
			return -1;
	}
	return 0;
}

/* JobID, JobIDRaw, State, AdminComment */
static int take(void *argument, const struct nt_text *columns)
{
	struct runs *runs = argument;
	const uint32_t job = (uint32_t)strtoul(columns[1].at, NULL, 10);
	const unsigned count = count_runs(runs->texts, job);
	char label[NT_JOB_LABEL_MAX];
	struct nt_jobtext *run;

	if (columns[2].bytes < strlen(REQUEUED) ||
	    memcmp(columns[2].at, REQUEUED, strlen(REQUEUED)) != 0 || count == 0 ||
	    nt_summary_holding(columns[3].at, columns[3].bytes) != NT_HOLDS_RECORD)
		return 0;
	snprintf(label, sizeof(label), "%.*s (run %u)", (int)columns[0].bytes, columns[0].at,
		 count);
	run = nt_jobtexts_add(runs->texts, label, columns[3].at, columns[3].bytes);
	if (!run)
		return -1;
	run->job = job;
	for (size_t i = 0; i < runs->last_count; i++) {
		if (runs->texts->items[i].job == job)
			memcpy(run->user, runs->texts->items[i].user, sizeof(run->user));
	}
	run->run = count;
	run->ended = true;
	return take_away(runs, run);
}

int nt_runs_load(struct nt_jobtexts *texts, const struct nt_jobid *id, int timeout_ms,
		 struct nt_error *err)
{
	struct runs runs = { texts, texts->count };
	char job[NT_JOB_LABEL_MAX];
	const struct nt_marked question = {
		.jobs = nt_jobid_text(id, job, sizeof(job)),
		.columns = "JobID,JobIDRaw,State,AdminComment",
		.count = 4,
		.every_run = true,
		.timeout_ms = timeout_ms,
	};

	return nt_marked_ask(&question, take, &runs, err);
}
