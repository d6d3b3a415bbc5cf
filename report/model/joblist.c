/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* One job: both of Slurm's daemons are asked. Several: accounting, in batches. */
#include "report/model/joblist.h"

#include <stdlib.h>
#include <string.h>
#include "lib/array.h"
#include "report/model/jobload.h"

#define TIMEOUT_MS 60000 /* of a batch */

int nt_joblist_add(struct nt_joblist *list, const char *text, struct nt_error *err)
{
	while (*text) {
		size_t bytes = strcspn(text, ",");
		char *one = strndup(text, bytes);
		struct nt_jobrange *range = nt_array_add(&list->ranges, &list->count, SIZE_MAX,
							 sizeof(*range));
		int rc = range && one ? nt_jobrange_parse(range, one, err)
				      : nt_error_set(err, "no memory for the list of jobs");

		free(one);
		if (rc < 0)
			return -1;
		text += bytes + (text[bytes] == ',');
	}
	return 0;
}

void nt_joblist_fini(struct nt_joblist *list)
{
	free(list->ranges);
	memset(list, 0, sizeof(*list));
}

static bool has_span(const struct nt_joblist *list)
{
	const struct nt_accounting_span *span = &list->span;

	return span->since || span->until || span->user || span->partition;
}

bool nt_joblist_is_one(const struct nt_joblist *list)
{
	return list->count == 1 && nt_jobrange_is_single(&list->ranges[0]) && !has_span(list);
}

bool nt_joblist_is_empty(const struct nt_joblist *list)
{
	return list->count == 0 && !has_span(list);
}

static int append_text(struct nt_jobtexts *texts, struct nt_jobtext *item)
{
	struct nt_jobtext *added = nt_array_add(&texts->items, &texts->count, SIZE_MAX,
						sizeof(*added));

	if (!added)
		return -1;
	*added = *item;
	item->comment = NULL;
	return 0;
}

/* For a job that has not ended, slurmctld has the newer text. */
static int take_running(struct nt_jobtexts *texts, struct nt_jobtext *item, struct nt_error *err)
{
	struct nt_jobtexts newer = { .count = 0 };
	struct nt_jobid id;
	int rc = nt_jobid_parse(&id, item->label, err);

	if (rc == 0)
		rc = nt_job_load(&newer, &id, err);
	if (rc == 0 && newer.count == 1)
		rc = append_text(texts, &newer.items[0]);
	else if (rc == 0)
		rc = append_text(texts, item);
	nt_jobtexts_fini(&newer);
	return rc;
}

static bool is_within(const struct nt_jobtext *item, const struct nt_jobrange *range)
{
	struct nt_error err;
	struct nt_jobid id;

	if (nt_jobid_parse(&id, item->label, &err) < 0)
		return false;
	if (range->last_task >= 0)
		return id.task >= range->first.task && id.task <= range->last_task;
	return (id.job >= range->first.job && id.job <= range->last_job) ||
	       (item->job >= range->first.job && item->job <= range->last_job);
}

/* Those in the range; NULL: all. Frees found. */
static int take_all(struct nt_jobtexts *texts, struct nt_jobtexts *found,
		    const struct nt_jobrange *range, struct nt_error *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < found->count; i++) {
		struct nt_jobtext *item = &found->items[i];

		if ((range && !is_within(item, range)) || nt_jobtexts_find(texts, item->label))
			continue;
		rc = item->ended ? append_text(texts, item) : take_running(texts, item, err);
	}
	nt_jobtexts_fini(found);
	return rc;
}

static int load_tasks(struct nt_jobtexts *texts, const struct nt_jobrange *range,
		      struct nt_error *err)
{
	struct nt_jobid array = range->first;
	struct nt_jobtexts found = { .count = 0 };

	array.task = -1;
	if (nt_job_load(&found, &array, err) < 0) {
		nt_jobtexts_fini(&found);
		return -1;
	}
	return take_all(texts, &found, range, err);
}

static int load_jobs(struct nt_jobtexts *texts, const struct nt_jobrange *range,
		     struct nt_error *err)
{
	uint32_t jobs[NT_ACCOUNTING_JOBS];
	uint32_t next = range->first.job;
	int rc = 0;

	while (rc == 0 && next <= range->last_job) {
		struct nt_jobtexts found = { .count = 0 };
		size_t count = 0;

		while (count < NT_ACCOUNTING_JOBS && next <= range->last_job)
			jobs[count++] = next++;
		rc = nt_accounting_load_jobs(&found, jobs, count, NULL, TIMEOUT_MS, err);
		if (rc == 0)
			rc = take_all(texts, &found, range, err);
		else
			nt_jobtexts_fini(&found);
	}
	return rc == 0 ? nt_job_join(texts, err) : rc;
}

int nt_joblist_load(struct nt_jobtexts *texts, const struct nt_jobrange *range,
		    struct nt_error *err)
{
	if (nt_jobrange_is_single(range))
		return nt_job_load(texts, &range->first, err);
	return range->last_task >= 0 ? load_tasks(texts, range, err) : load_jobs(texts, range, err);
}

int nt_joblist_load_span(struct nt_jobtexts *texts, const struct nt_joblist *list,
			 struct nt_error *err)
{
	struct nt_jobtexts found = { .count = 0 };

	if (!has_span(list))
		return 0;
	if (nt_accounting_load_span(&found, &list->span, err) < 0) {
		nt_jobtexts_fini(&found);
		return -1;
	}
	if (take_all(texts, &found, NULL, err) < 0)
		return -1;
	return nt_job_join(texts, err);
}
