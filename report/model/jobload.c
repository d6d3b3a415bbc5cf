/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* A job's text, from slurmctld or accounting, with the steps that other sinks have. */
#include "report/model/jobload.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "record/filesink.h"
#include "report/model/accounting.h"
#include "report/model/controller.h"
#include "report/model/record-merge.h"
#include "report/model/site-config.h"
#include "report/model/sacct-runs.h"

static bool all_ended(const struct nt_jobtexts *texts)
{
	for (size_t i = 0; i < texts->count; i++) {
		if (!texts->items[i].ended)
			return false;
	}
	return texts->count > 0;
}

/* The old text is in from afterwards. */
static void take_newer(struct nt_jobtext *text, struct nt_jobtext *from)
{
	const struct nt_jobtext old = *text;

	*text = *from;
	*from = old;
	memcpy(text->cluster, old.cluster, sizeof(text->cluster));
	if (!text->user[0]) /* slurmctld knows only the uid */
		memcpy(text->user, old.user, sizeof(text->user));
	if (!text->partition[0])
		memcpy(text->partition, old.partition, sizeof(text->partition));
	if (text->elapsed_s == 0)
		text->elapsed_s = old.elapsed_s;
}

/* For a job that has not ended in accounting, slurmctld has the newer texts. */
static int merge(struct nt_jobtexts *texts, struct nt_jobtexts *others)
{
	for (size_t i = 0; i < others->count; i++) {
		struct nt_jobtext *other = &others->items[i];
		struct nt_jobtext *text = nt_jobtexts_find(texts, other->label);

		if (text && text->ended)
			continue;
		if (!text)
			text = nt_jobtexts_add(texts, other->label, "", 0);
		if (!text)
			return -1;
		take_newer(text, other);
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
		return nt_error_set(err, "slurmctld has no such job; %.120s", accounting->text);
	if (controller)
		return nt_error_set(err, "accounting has no such job; %.120s", controller->text);
	return 0;
}

/* ---- the site's directory of files */

#define FILES_MAX 64 /* jobs of an array whose files are looked for */
#define TIMEOUT_MS 30000

/* The site's files: only root writes them. */
static int join_files(struct nt_jobtext *text, const struct nt_site_records *site, int part_fd)
{
	struct nt_spool_list list;
	int rc = 0;

	if (nt_spool_list(&list, part_fd, site->cluster, text->job, NULL) < 0)
		return 0;
	for (size_t i = 0; rc == 0 && i < list.count; i++) {
		struct nt_spooled file;

		if (nt_spooled_read(&file, part_fd, list.items[i].name, NULL) == 0)
			rc = nt_record_merge_step(&text->comment, file.step, file.record);
		else if (faccessat(part_fd, list.items[i].name, R_OK, AT_EACCESS) < 0) {
			snprintf(text->unreadable, sizeof(text->unreadable),
				 "a record is in %.100s, which you cannot read: ask an "
				 "administrator",
				 site->sinks.directory);
		}
	}
	nt_spool_list_fini(&list);
	return rc;
}

/* On a cluster without accounting: a job that only the site's files may know. */
static int add_filed(struct nt_jobtexts *texts, const struct nt_jobid *id)
{
	char label[NT_JOB_LABEL_MAX];
	struct nt_jobtext *text;

	text = nt_jobtexts_add(texts, nt_jobid_text(id, label, sizeof(label)), "", 0);
	if (!text)
		return -1;
	text->job = id->job;
	text->ended = true;
	return 0;
}

int nt_job_join(struct nt_jobtexts *texts, struct nt_error *err)
{
	const struct nt_site_records *site = nt_site_records();
	int part_fd = -1;
	int rc = 0;

	if (site->sinks.directory[0] && site->cluster[0])
		part_fd = nt_spool_open(site->sinks.directory, NT_PART_FILES, false, NULL);
	for (size_t i = 0; part_fd >= 0 && rc == 0 && i < texts->count && i < FILES_MAX; i++)
		rc = join_files(&texts->items[i], site, part_fd);
	if (part_fd >= 0)
		close(part_fd);
	return rc < 0 ? nt_error_set(err, "no memory for the jobs' texts") : 0;
}

static int look_elsewhere(struct nt_jobtexts *texts, const struct nt_jobid *id,
			  struct nt_error *err)
{
	const bool unknown = texts->count == 0 && id->task < 0 && id->component < 0;

	if (unknown && add_filed(texts, id) < 0)
		return nt_error_set(err, "no memory for the job's text");
	if (nt_job_join(texts, err) < 0)
		return -1;
	if (unknown && texts->items[0].comment[0] == '\0' && texts->items[0].unreadable[0] == '\0')
		nt_jobtexts_fini(texts);
	return 0;
}

int nt_job_load(struct nt_jobtexts *texts, const struct nt_jobid *id, struct nt_error *err)
{
	struct nt_jobtexts running = { .count = 0 };
	struct nt_error accounting_err, controller_err;
	bool no_accounting = nt_accounting_load(texts, id, &accounting_err) < 0;
	bool no_controller = false;
	int rc = 0;

	if (!all_ended(texts)) {
		no_controller = nt_controller_load(&running, id, &controller_err) < 0;
		if (merge(texts, &running) < 0)
			rc = nt_error_set(err, "no memory for the job's text");
		nt_jobtexts_fini(&running);
	}
	if (rc == 0)
		rc = look_elsewhere(texts, id, err);
	if (rc == 0 && !no_accounting)
		(void)nt_sacct_runs_load(texts, id, TIMEOUT_MS);
	if (rc == 0 && texts->count == 0)
		rc = explain_silence(no_accounting ? &accounting_err : NULL,
				     no_controller ? &controller_err : NULL, err);
	if (no_controller)
		texts->doubt = controller_err;
	if (rc == 0 && texts->count > 0)
		qsort(texts->items, texts->count, sizeof(texts->items[0]), compare);
	return rc;
}
