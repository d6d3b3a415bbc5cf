/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs' texts from accounting, by way of sacct. */
#include "report/model/accounting.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/append.h"
#include "lib/printable.h"
#include "lib/sacct.h"
#include "report/model/jobstate.h"

#define TIMEOUT_MS 30000
#define SPAN_TIMEOUT_MS 300000

enum column {
	LABEL,
	JOB,
	USER,
	NAME,
	STATE,
	NODES,
	ADMINCOMMENT,
	CLUSTER,
	PARTITION,
	ELAPSED,
	START,
	END,
	COLUMNS,
};

static void copy(char *out, size_t out_bytes, struct nt_text from)
{
	nt_printable_copy(out, out_bytes, from.at, from.bytes);
}

static int add_job(void *argument, const struct nt_text *column, struct nt_error *err)
{
	char label[NT_JOB_LABEL_MAX];
	struct nt_jobtext *text;

	snprintf(label, sizeof(label), "%.*s", (int)column[LABEL].bytes, column[LABEL].at);
	text = nt_jobtexts_add(argument, label, column[ADMINCOMMENT].at,
			       column[ADMINCOMMENT].bytes);
	if (!text)
		return nt_error_set(err, "no memory for the jobs' texts");
	text->job = (uint32_t)nt_sacct_number(column[JOB]);
	text->state = nt_job_state_named(column[STATE]);
	text->nodes = (uint32_t)nt_sacct_number(column[NODES]);
	text->start_s = nt_sacct_number(column[START]);
	text->end_s = nt_sacct_number(column[END]);
	text->ended = text->end_s != 0;
	text->elapsed_s = nt_sacct_number(column[ELAPSED]);
	copy(text->user, sizeof(text->user), column[USER]);
	copy(text->cluster, sizeof(text->cluster), column[CLUSTER]);
	copy(text->partition, sizeof(text->partition), column[PARTITION]);
	copy(text->name, sizeof(text->name), column[NAME]);
	return 0;
}

static int ask_sacct(struct nt_jobtexts *texts, struct nt_sacct *question, struct nt_error *err)
{
	question->columns = "JobID,JobIDRaw,User,JobName,State,NNodes,AdminComment,Cluster,"
			    "Partition,ElapsedRaw,Start,End";
	question->count = COLUMNS;
	return nt_sacct_ask(question, add_job, texts, err);
}

int nt_accounting_load(struct nt_jobtexts *texts, const struct nt_jobid *id, struct nt_error *err)
{
	char job[NT_JOB_LABEL_MAX];
	struct nt_sacct question = {
		.jobs = nt_jobid_text(id, job, sizeof(job)),
		.timeout_ms = TIMEOUT_MS,
	};

	return ask_sacct(texts, &question, err);
}

int nt_accounting_load_jobs(struct nt_jobtexts *texts, const uint32_t *jobs, size_t count,
			    const char *cluster, int timeout_ms, struct nt_error *err)
{
	char list[NT_ACCOUNTING_JOBS * 11 + 1] = "";
	struct nt_sacct question = { .jobs = list, .cluster = cluster, .timeout_ms = timeout_ms };

	for (size_t i = 0; i < count && i < NT_ACCOUNTING_JOBS; i++)
		nt_append(list, sizeof(list), "%s%" PRIu32, i ? "," : "", jobs[i]);
	return ask_sacct(texts, &question, err);
}

int nt_accounting_load_span(struct nt_jobtexts *texts, const struct nt_accounting_span *span,
			    struct nt_error *err)
{
	struct nt_sacct question = {
		.since = span->since,
		.until = span->until,
		.user = span->user,
		.partition = span->partition,
		.timeout_ms = SPAN_TIMEOUT_MS,
	};

	return ask_sacct(texts, &question, err);
}
