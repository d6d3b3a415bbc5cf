/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/compare-side.h"

#include <json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/job-word.h"
#include "lib/append.h"
#include "lib/array.h"
#include "lib/file.h"
#include "lib/printable.h"
#include "record/rankread.h"
#include "report/model/longform-search.h"
#include "report/model/sacct-names.h"

#define FILE_MAX_BYTES (1u << 20)

/* Adds the steps of a summary, except calibrations. */
static int add_sides(struct nt_compare_job *job, const char *label,
		     const struct nt_summary *summary, struct nt_error *err)
{
	for (size_t i = 0; i < summary->step_count; i++) {
		struct nt_step_side *side;

		if (summary->steps[i].calibration > 0)
			continue;
		side = nt_array_add(&job->sides, &job->count, SIZE_MAX, sizeof(*side));
		if (!side)
			return nt_error_set(err, "no memory for the job's steps");
		snprintf(side->job, sizeof(side->job), "%s", label);
		side->summary = summary;
		side->at = i;
	}
	return 0;
}

/* Adds the record in text, or the long form if there is one. */
static int add_text(struct nt_compare_job *job, const struct nt_jobtext *text, const char *step,
		    struct nt_error *err)
{
	const struct nt_long_job wanted = {
		.job = text->job, .user = text->user, .run = text->run, .step = step
	};
	struct nt_summary *summary = &job->summaries[job->summary_count++];
	int rc;

	nt_summary_init(summary);
	rc = nt_summary_parse(summary, text->comment, strlen(text->comment), step, err);
	if (rc == 0 && text->job != 0 &&
	    nt_long_prefer(summary, &wanted, text->comment, strlen(text->comment), err) < 0)
		rc = -1;
	job->damaged |= rc == 0 && nt_summary_damaged(summary);
	return rc == 0 ? add_sides(job, text->label, summary, err) : rc;
}

/* ---- from rank records */

struct gathering {
	struct nt_compare_job *job;
	const char *label; /* whose records these are */
};

static struct nt_rank_settings *settings_of(const struct gathering *gathering, const char *step)
{
	for (size_t i = 0; i < gathering->job->count; i++) {
		struct nt_step_side *side = &gathering->job->sides[i];

		if (strcmp(side->job, gathering->label) == 0 &&
		    strcmp(side->summary->steps[side->at].name, step) == 0)
			return &side->settings;
	}
	return NULL;
}

static void copy_plugins(char *out, size_t out_bytes, json_object *plugins)
{
	char text[512];

	if (!plugins)
		return;
	json_object_object_foreach(plugins, name, value)
	{
		const char *said = json_object_get_string(value);

		nt_append(out, out_bytes, "%s%s %s", out[0] ? ", " : "", name, said ? said : "");
	}
	snprintf(text, sizeof(text), "%s", out);
	nt_printable_copy(out, out_bytes, text, strlen(text));
}

/* Settings of a step, from its first rank record. */
static int take_rank(void *argument, const struct nt_long_part *part, struct nt_text record,
		     struct nt_error *err)
{
	struct nt_rank_settings *settings = settings_of(argument, part->head.step);
	struct nt_rank rank = { .root = NULL };

	(void)err;
	if (!settings || settings->known)
		return 0;
	settings->known = nt_rank_parse(&rank, record.at, record.bytes, NULL) == 0;
	if (settings->known) {
		snprintf(settings->policy, sizeof(settings->policy), "%s", rank.policy);
		snprintf(settings->library, sizeof(settings->library), "%s", rank.library);
		snprintf(settings->variables, sizeof(settings->variables), "%s", rank.variables);
		copy_plugins(settings->plugins, sizeof(settings->plugins), rank.plugins);
	}
	nt_rank_fini(&rank);
	return 0;
}

/* ---- names */

static void name_job(struct nt_compare_job *job, const char *word)
{
	struct nt_sacct_names names = { NULL, 0 };
	const struct nt_sacct_name *name;

	nt_sacct_names_load(&names, word);
	name = job->count > 0 ? nt_sacct_names_find(&names, job->sides[0].job, NULL) : NULL;
	snprintf(job->title, sizeof(job->title), "%s", job->name);
	if (name)
		nt_append(job->title, sizeof(job->title), " (%s)", name->name);
	for (size_t i = 0; i < job->count; i++) {
		struct nt_step_side *side = &job->sides[i];

		name = nt_sacct_names_find(&names, side->job, side->summary->steps[side->at].name);
		if (name)
			snprintf(side->program, sizeof(side->program), "%s", name->name);
	}
	nt_sacct_names_fini(&names);
}

/* ---- all of it */

static int add_texts(struct nt_compare_job *job, const struct nt_jobtexts *texts, const char *step,
		     struct nt_error *err)
{
	int rc = 0;

	job->summaries = calloc(texts->count + 1, sizeof(*job->summaries));
	if (!job->summaries)
		return nt_error_set(err, "no memory for the job's records");
	for (size_t i = 0; rc == 0 && i < texts->count; i++) {
		struct gathering gathering = { job, texts->items[i].label };
		const struct nt_rank_visitor visitor = { .visit = take_rank,
							 .argument = &gathering,
							 .quiet = true };
		size_t parts = 0;

		rc = add_text(job, &texts->items[i], step[0] ? step : NULL, err);
		if (rc == 0 && texts->items[i].job != 0)
			rc = nt_job_text_visit(&texts->items[i], step, &visitor, &parts, err);
	}
	return rc;
}

static int load_job(struct nt_compare_job *job, const struct nt_jobid *id, struct nt_error *err)
{
	struct nt_jobtexts texts = { .count = 0 };
	char label[NT_JOB_LABEL_MAX];
	int rc = nt_job_word_texts(&texts, id, err);

	if (rc == 0)
		rc = add_texts(job, &texts, id->step, err);
	nt_jobtexts_fini(&texts);
	if (rc == 0)
		name_job(job, nt_jobid_text(id, label, sizeof(label)));
	return rc;
}

static int load_file(struct nt_compare_job *job, const char *path, struct nt_error *err)
{
	struct nt_jobtext text = { .ended = true };
	struct nt_jobtexts texts = { .items = &text, .count = 1 };
	size_t bytes;
	int rc = nt_file_read(path, FILE_MAX_BYTES, &text.comment, &bytes, err);

	if (rc < 0)
		return rc;
	snprintf(text.label, sizeof(text.label), "%.39s", job->name);
	snprintf(job->title, sizeof(job->title), "of %s", job->name);
	rc = add_texts(job, &texts, "", err);
	free(text.comment);
	return rc;
}

int nt_compare_job_load(struct nt_compare_job *job, const char *word, struct nt_error *err)
{
	struct nt_jobid id;
	int rc;

	*job = (struct nt_compare_job){ .count = 0 };
	nt_printable_copy(job->name, sizeof(job->name), word, strlen(word));
	rc = nt_job_word(word, &id) ? load_job(job, &id, err) : load_file(job, word, err);
	if (rc == 0 && job->count == 0)
		rc = nt_error_set(err,
				  job->damaged ? "%s: the record is damaged"
					       : "%s has no record of a step",
				  job->name);
	return rc;
}

void nt_compare_job_fini(struct nt_compare_job *job)
{
	for (size_t i = 0; i < job->summary_count; i++)
		nt_summary_fini(&job->summaries[i]);
	free(job->summaries);
	free(job->sides);
	*job = (struct nt_compare_job){ .count = 0 };
}
