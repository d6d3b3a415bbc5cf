/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/model/sacct-runs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/sacct.h"
#include "record/job-summary.h"
#include "report/model/record-merge.h"

#define REQUEUED "REQUEUED"
#define RESIZED "RESIZ" /* a row of its own, of the same run */
#define RUNS_MAX 64 /* of a job; steps of later ones are not sorted */

struct runs {
	struct nt_jobtexts *texts;
	size_t last_count; /* of texts: the last runs */
	unsigned *rows; /* of each of these so far */
};

static int add_run(struct runs *runs, size_t last, unsigned before, const struct nt_text *columns)
{
	char label[NT_JOB_LABEL_MAX];
	const struct nt_jobtext *of;
	struct nt_jobtext *run;

	snprintf(label, sizeof(label), "%.*s (run %u)", (int)columns[0].bytes, columns[0].at,
		 before + 1);
	run = nt_jobtexts_add(runs->texts, label, columns[3].at, columns[3].bytes);
	if (!run)
		return -1;
	of = &runs->texts->items[last];
	run->job = of->job;
	memcpy(run->user, of->user, sizeof(run->user));
	memcpy(run->cluster, of->cluster, sizeof(run->cluster));
	memcpy(run->partition, of->partition, sizeof(run->partition));
	run->run = before;
	run->ended = true;
	return 0;
}

/* JobID, JobIDRaw, State, AdminComment */
static int take_row(void *argument, const struct nt_text *columns, struct nt_error *err)
{
	struct runs *runs = argument;
	const uint32_t job = (uint32_t)nt_sacct_number(columns[1]);
	bool requeued = nt_text_begins(columns[2], REQUEUED);
	size_t last = 0;
	unsigned before;

	while (last < runs->last_count && runs->texts->items[last].job != job)
		last++;
	if (last == runs->last_count || nt_text_begins(columns[2], RESIZED))
		return 0;
	before = runs->rows[last]++;
	runs->texts->items[last].run = before + requeued;
	if (requeued && add_run(runs, last, before, columns) < 0)
		return nt_error_set(err, "no memory for the job's runs");
	return 0;
}

/* Slurm keeps an earlier run's text, and its last record may arrive during the next run. So a step
 * belongs to the run that it names, whichever row contains it. */
static int sort_steps(const struct nt_jobtexts *texts, struct nt_jobtext *earlier)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < texts->count; i++) {
		struct nt_jobtext *later = &texts->items[i];

		if (later->job != earlier->job || later->run <= earlier->run)
			continue;
		rc = nt_record_merge_without(&later->comment, earlier->comment);
		if (rc == 0)
			rc = nt_record_merge_move_run(&later->comment, (long)earlier->run,
						      &earlier->comment);
	}
	return rc;
}

static void drop_empty(struct runs *runs)
{
	struct nt_jobtexts *texts = runs->texts;
	size_t kept = runs->last_count;

	for (size_t i = kept; i < texts->count; i++) {
		const char *comment = texts->items[i].comment;

		if (nt_summary_holding(comment, strlen(comment)) == NT_HOLDS_RECORD &&
		    !nt_record_merge_is_empty(comment))
			texts->items[kept++] = texts->items[i];
		else
			free(texts->items[i].comment);
	}
	texts->count = kept;
}

static int load(struct runs *runs, const struct nt_sacct *question)
{
	struct nt_jobtexts *texts = runs->texts;
	int rc = nt_sacct_ask(question, take_row, runs, NULL);

	for (size_t i = runs->last_count; rc == 0 && i < texts->count; i++) {
		if (texts->items[i].run < RUNS_MAX && sort_steps(texts, &texts->items[i]) < 0)
			rc = -1;
	}
	drop_empty(runs);
	return rc;
}

int nt_sacct_runs_load(struct nt_jobtexts *texts, const struct nt_jobid *id, int timeout_ms)
{
	struct runs runs = { texts, texts->count, NULL };
	char job[NT_JOB_LABEL_MAX];
	const struct nt_sacct question = {
		.jobs = nt_jobid_text(id, job, sizeof(job)),
		.columns = "JobID,JobIDRaw,State,AdminComment,JobIDRaw",
		.count = 5,
		.every_run = true,
		.timeout_ms = timeout_ms,
	};
	int rc;

	runs.rows = calloc(texts->count + 1, sizeof(runs.rows[0]));
	rc = runs.rows ? load(&runs, &question) : -1;
	free(runs.rows);
	return rc;
}
