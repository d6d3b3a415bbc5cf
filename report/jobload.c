/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* A job's text: which of two sources to believe. */
#include "report/jobload.h"

#include <stdlib.h>
#include <string.h>
#include "report/accounting.h"
#include "report/controller.h"

static struct nt_jobtext *find(const struct nt_jobtexts *texts, const char *label)
{
	for (size_t i = 0; i < texts->count; i++) {
		if (strcmp(texts->items[i].label, label) == 0)
			return &texts->items[i];
	}
	return NULL;
}

static bool all_ended(const struct nt_jobtexts *texts)
{
	for (size_t i = 0; i < texts->count; i++) {
		if (!texts->items[i].ended)
			return false;
	}
	return texts->count > 0;
}

/* Of a job that accounting has not seen end, slurmctld's text is the newer one. */
static int merge(struct nt_jobtexts *texts, const struct nt_jobtexts *others)
{
	for (size_t i = 0; i < others->count; i++) {
		const struct nt_jobtext *other = &others->items[i];
		struct nt_jobtext *text = find(texts, other->label);
		char *comment;

		if (!text) {
			text = nt_jobtexts_add(texts, other->label, other->comment,
					       strlen(other->comment));
			if (!text)
				return -1;
			text->job = other->job;
			text->ended = other->ended;
		} else if (!text->ended) {
			comment = strdup(other->comment);
			if (!comment)
				return -1;
			free(text->comment);
			text->comment = comment;
			text->ended = other->ended;
		}
	}
	return 0;
}

static int compare(const void *left, const void *right)
{
	return strverscmp(((const struct nt_jobtext *)left)->label,
			  ((const struct nt_jobtext *)right)->label);
}

static int explain_silence(const struct nt_error *accounting, const struct nt_error *controller,
			   struct nt_error *err)
{
	if (accounting && controller)
		return nt_error_set(err, "%.75s; %.75s", accounting->text, controller->text);
	if (accounting)
		return nt_error_set(err, "slurmctld does not know it; %.120s", accounting->text);
	if (controller)
		return nt_error_set(err, "accounting does not know it; %.120s", controller->text);
	return 0;
}

int nt_job_load(struct nt_jobtexts *texts, const struct nt_jobid *id, struct nt_error *err)
{
	struct nt_jobtexts running = { .count = 0 };
	struct nt_error accounting_err, controller_err;
	bool no_accounting = nt_accounting_load(texts, id, NULL, &accounting_err) < 0;
	bool no_controller = false;
	int rc = 0;

	if (!all_ended(texts)) {
		no_controller = nt_controller_load(&running, id, &controller_err) < 0;
		if (merge(texts, &running) < 0)
			rc = nt_error_set(err, "no memory for the job's text");
		nt_jobtexts_fini(&running);
	}
	if (rc == 0 && texts->count == 0)
		rc = explain_silence(no_accounting ? &accounting_err : NULL,
				     no_controller ? &controller_err : NULL, err);
	if (no_controller)
		texts->doubt = controller_err;
	if (rc == 0 && texts->count > 0)
		qsort(texts->items, texts->count, sizeof(texts->items[0]), compare);
	return rc;
}
