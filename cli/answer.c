/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/answer.h"

#include <inttypes.h>
#include <slurm/slurm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "lib/file.h"
#include "record/spool.h"
#include "report/model/site-config.h"
#include "cli/command.h"

#define FILE_MAX_BYTES (1u << 20)
#define LABEL_MAX (NT_JOB_LABEL_MAX + 32)
#define NEWEST_SINCE "now-30days"
#define NEWEST_UNTIL "now+1minutes" /* until now, one of this second is left out */

/* Shows text if it holds a record of ours. */
static int show_text(struct nt_answer *answer, const char *label, const char *text,
		     size_t text_bytes, struct nt_error *err)
{
	const char *step = answer->request->id.step[0] ? answer->request->id.step : NULL;
	enum nt_holding holding = nt_summary_holding(text, text_bytes);
	struct nt_summary summary;
	int rc;

	nt_summary_init(&summary);
	rc = nt_summary_parse(&summary, text, text_bytes, step, err);
	answer->job.step = step;
	if (rc == 0 && answer->job.job != 0 &&
	    nt_long_prefer(&summary, &answer->job, text, text_bytes, err) < 0)
		rc = -1;
	summary.job = answer->seen;
	nt_summary_keep_findings(&summary, nt_site_records()->findings);
	nt_summary_mark_running(&summary, answer->runs, (unsigned)answer->job.run);
	if (rc == 0 && summary.step_count == 0 && holding != NT_HOLDS_RECORD)
		answer->other += holding == NT_HOLDS_OTHER;
	if (rc == 0 && nt_summary_damaged(&summary)) {
		nt_command_complain("%s%s%sthe record is damaged", label ? "job " : "",
				    label ? label : "", label ? ": " : "");
		answer->partial = true;
	}
	if (rc == 0 && (summary.step_count > 0 || summary.remark_count > 0)) {
		rc = nt_output_add(&answer->output, label, &summary, err);
		answer->shown++;
	}
	nt_summary_fini(&summary);
	return rc;
}

/* A step's record that is stored outside of AdminComment. */
static int show_step(struct nt_answer *answer, const struct nt_spooled *spooled,
		     struct nt_error *err)
{
	const struct nt_jobid id = { .job = spooled->job, .task = -1, .component = -1 };
	char label[NT_JOB_LABEL_MAX];
	char *text;
	int rc;

	if (asprintf(&text, "{\"" NT_RECORD_KEY "\":{\"v\":%d,\"%s\":%s}}", NT_RECORD_VERSION,
		     spooled->step, spooled->record) < 0)
		return nt_error_set(err, "no memory for a step's record");
	rc = show_text(answer, nt_jobid_text(&id, label, sizeof(label)), text, strlen(text), err);
	free(text);
	return rc;
}

static int report_file(struct nt_answer *answer, struct nt_error *err)
{
	const struct nt_request *request = answer->request;
	char label[NT_JOB_LABEL_MAX];
	struct nt_spooled spooled;
	size_t text_bytes;
	char *text;
	int rc;

	if (nt_file_read(request->file, FILE_MAX_BYTES, &text, &text_bytes, err) < 0)
		return -1;
	nt_jobid_text(&request->id, label, sizeof(label));
	if (nt_spooled_parse(&spooled, text, text_bytes, NULL) == 0)
		rc = show_step(answer, &spooled, err);
	else
		rc = show_text(answer, request->has_id ? label : NULL, text, text_bytes, err);
	free(text);
	return rc;
}

/* What Slurm knows of the job besides its record. */
static void see_job(struct nt_answer *answer, const struct nt_jobtext *text)
{
	struct nt_job_seen *seen = &answer->seen;

	*seen = (struct nt_job_seen){ .elapsed_s = text->elapsed_s };
	memcpy(seen->cluster, text->cluster, sizeof(seen->cluster));
	memcpy(seen->user, text->user, sizeof(seen->user));
	memcpy(seen->partition, text->partition, sizeof(seen->partition));
	answer->runs = !text->ended && text->start_s > 0 && text->start_s <= (int64_t)time(NULL);
}

/* For the first line of the report. */
static const char *label_of(const struct nt_request *request, const struct nt_jobtext *text,
			    char out[LABEL_MAX])
{
	const char *why = request->newest ? ", your newest with a record"
			  : request->own  ? ", which this runs in"
					  : "";

	snprintf(out, LABEL_MAX, "%s%s", text->label, request->form == NT_FORM_TEXT ? why : "");
	return out;
}

static int report_text(struct nt_answer *answer, const struct nt_jobtext *text,
		       struct nt_error *err)
{
	char label[LABEL_MAX];
	int rc;

	answer->running += !text->ended;
	if (text->unreadable[0]) {
		answer->unreadable++;
		nt_command_complain("job %s: %s", text->label, text->unreadable);
	}
	answer->job = (struct nt_long_job){ .job = text->job,
					    .user = text->user,
					    .run = text->run };
	see_job(answer, text);
	answer->output.text = text;
	rc = show_text(answer, label_of(answer->request, text, label), text->comment,
		       strlen(text->comment), err);
	answer->output.text = NULL;
	return rc;
}

static int report_texts(struct nt_answer *answer, const struct nt_jobtexts *texts,
			struct nt_error *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < texts->count; i++)
		rc = report_text(answer, &texts->items[i], err);
	answer->job.job = 0;
	answer->seen = (struct nt_job_seen){ .elapsed_s = 0 };
	answer->runs = false;
	if (rc == 0 && texts->count > 0 && texts->doubt.text[0]) {
		nt_command_complain("%s: a running job may have a newer record", texts->doubt.text);
		answer->partial = true;
	}
	return rc;
}

/* A job was named by its number and does not exist. */
static void miss_job(struct nt_answer *answer)
{
	char label[NT_JOB_LABEL_MAX];

	nt_command_complain("no job %s: slurmctld and accounting have no such job, or hide it from "
			    "you",
			    nt_jobid_text(&answer->request->id, label, sizeof(label)));
	answer->missing++;
}

/* A single job, or those of a range. */
static int report_range(struct nt_answer *answer, const struct nt_jobrange *range,
			struct nt_error *err)
{
	struct nt_jobtexts texts = { .count = 0 };
	const size_t shown = answer->shown;
	int rc;

	answer->request->id = range->first;
	rc = nt_joblist_load(&texts, range, err);
	if (rc == 0)
		rc = report_texts(answer, &texts, err);
	answer->known += texts.count;
	if (rc == 0 && texts.count == 0 && answer->shown == shown && nt_jobrange_is_single(range))
		miss_job(answer);
	nt_jobtexts_fini(&texts);
	return rc;
}

static int report_span(struct nt_answer *answer, struct nt_error *err)
{
	struct nt_jobtexts texts = { .count = 0 };
	int rc = nt_joblist_load_span(&texts, &answer->request->jobs, err);

	answer->request->id = (struct nt_jobid){ .task = -1, .component = -1 };
	if (rc == 0)
		rc = report_texts(answer, &texts, err);
	answer->known += texts.count;
	nt_jobtexts_fini(&texts);
	return rc;
}

static int by_number(const void *left, const void *right)
{
	const uint32_t a = ((const struct nt_jobtext *)left)->job;
	const uint32_t b = ((const struct nt_jobtext *)right)->job;

	return (a < b) - (a > b);
}

/* The user's newest job that has something to show. */
static int report_newest(struct nt_answer *answer, struct nt_error *err)
{
	char uid[16]; /* root would get everybody's */
	const struct nt_joblist recent = {
		.span = { .since = NEWEST_SINCE, .until = NEWEST_UNTIL, .user = uid }
	};
	struct nt_jobtexts texts = { .count = 0 };
	int rc;

	snprintf(uid, sizeof(uid), "%u", (unsigned)geteuid());
	rc = nt_joblist_load_span(&texts, &recent, err);
	answer->request->id = (struct nt_jobid){ .task = -1, .component = -1 };
	answer->known = texts.count;
	if (texts.count > 0)
		qsort(texts.items, texts.count, sizeof(texts.items[0]), by_number);
	for (size_t i = 0; rc == 0 && i < texts.count && answer->shown == 0; i++) {
		const struct nt_jobtext *text = &texts.items[i];

		rc = report_text(answer, text, err);
		if (answer->shown > 0)
			answer->request->has_id = nt_jobid_parse(&answer->request->id, text->label,
								 err) == 0;
	}
	answer->job.job = 0;
	nt_jobtexts_fini(&texts);
	return rc;
}

static int report_jobs(struct nt_answer *answer, struct nt_error *err)
{
	const struct nt_joblist *jobs = &answer->request->jobs;
	int rc = 0;

	slurm_init(NULL);
	if (answer->request->newest)
		rc = report_newest(answer, err);
	for (size_t i = 0; rc == 0 && i < jobs->count; i++)
		rc = report_range(answer, &jobs->ranges[i], err);
	if (rc == 0 && !nt_joblist_is_one(jobs) && !answer->request->newest)
		rc = report_span(answer, err);
	slurm_fini();
	return rc;
}

int nt_answer_find(struct nt_answer *answer, struct nt_error *err)
{
	return answer->request->file ? report_file(answer, err) : report_jobs(answer, err);
}
