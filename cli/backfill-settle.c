/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/backfill-settle.h"

#include <inttypes.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "cli/command.h"
#include "lib/clock.h"
#include "record/filesink.h"
#include "report/model/accounting.h"
#include "report/model/database.h"

#define SACCT_MS 30000

struct portion {
	struct nt_queued *records;
	size_t count;
	struct nt_jobtexts texts;
};

/* ---- one record */

static void tell(const struct nt_backfill *backfill, const struct nt_queued *record,
		 const char *what)
{
	const bool filed = record->result == NT_DELIVERED_FILED;
	const bool written = filed || record->result == NT_DELIVERED_WRITTEN;

	if (record->part == NT_PART_WAITING || written)
		printf("job %" PRId64 ", step %s: %s%s%s%.200s\n", record->file.job,
		       record->file.step, backfill->dry_run && written ? "would be " : "", what,
		       filed ? " into " : "", filed ? backfill->sinks->directory : "");
}

static void complain(const struct nt_queued *record, const char *what)
{
	if (record->file.problem)
		nt_command_complain("%s: %s%s", record->file.name, what, record->why.text);
	else
		nt_command_complain("job %" PRId64 ", step %s: %s%s", record->file.job,
				    record->file.step, what, record->why.text);
}

/* Counts and prints the result. */
static void account(struct nt_backfill *backfill, const struct nt_queued *record)
{
	const bool waiting = record->part == NT_PART_WAITING;

	switch (record->result) {
	case NT_DELIVERED_WRITTEN:
	case NT_DELIVERED_FILED:
		backfill->written++;
		tell(backfill, record,
		     waiting ? "written" : "written again, another program had overwritten it");
		break;
	case NT_DELIVERED_PRESENT:
		backfill->present += waiting;
		tell(backfill, record, "accounting has it");
		break;
	case NT_DELIVERED_LATER:
		backfill->later += waiting;
		tell(backfill, record, "deferred, the job has not ended");
		break;
	case NT_DELIVERED_FAILED:
		backfill->failed++;
		complain(record, "");
		break;
	case NT_DELIVERED_NOWHERE: backfill->dead++; break;
	default: break;
	}
}

/* end_s: when its job ended. */
static void conclude(struct nt_backfill *backfill, struct nt_queued *record, int64_t end_s)
{
	const enum nt_queue_move move = nt_queue_decide(record, time(NULL) - end_s,
							backfill->quiet_s);

	if (record->result == NT_DELIVERED_NOWHERE)
		complain(record, backfill->dry_run ? "would be set aside: " : "set aside: ");
	if (!backfill->dry_run && nt_queue_move(backfill->parts, record, move, &record->why) < 0)
		record->result = NT_DELIVERED_FAILED;
	account(backfill, record);
}

/* ---- one job */

static const struct nt_jobtext *find_job(const struct nt_jobtexts *texts, uint32_t job)
{
	/* The number of an array or a heterogeneous job also finds its other parts. */
	for (size_t i = 0; i < texts->count; i++) {
		if (texts->items[i].job == job)
			return &texts->items[i];
	}
	return NULL;
}

/* Reads the job again: accounting must contain what was written. */
static int verify(const char *cluster, const struct nt_jobtext *job, const char *expected,
		  struct nt_error *err)
{
	struct nt_jobtexts texts = { .count = 0 };
	const struct nt_jobtext *found;
	int rc = nt_accounting_load_jobs(&texts, &job->job, 1, cluster, SACCT_MS, err);

	found = rc == 0 ? find_job(&texts, job->job) : NULL;
	if (rc == 0 && (!found || strcmp(found->comment, expected) != 0))
		rc = nt_error_set(err, "accounting does not contain what was written to it");
	nt_jobtexts_fini(&texts);
	return rc;
}

static int write_job(const char *cluster, const struct nt_jobtext *job, const char *text,
		     struct nt_error *err)
{
	struct nt_jobid id;

	if (nt_jobid_parse(&id, job->label, err) < 0)
		return -1;
	if (nt_database_write(cluster, &id, text, err) < 0)
		return -1;
	return verify(cluster, job, text, err);
}

struct filing {
	const struct nt_backfill *backfill;
	const struct nt_spooled *file;
};

static int write_file(void *argument, struct nt_error *err)
{
	const struct filing *filing = argument;
	const struct nt_spooled *file = filing->file;
	const struct nt_spool_entry entry = { file->cluster, file->job,	   file->uid,
					      file->step,    file->record, NULL };

	if (filing->backfill->dry_run)
		return 0;
	return nt_filesink_put(filing->backfill->sinks->directory, &entry, NULL, err);
}

static void place(const struct nt_backfill *backfill, struct nt_queued *record,
		  struct nt_job_comment *comment)
{
	const struct nt_admincomment_merge_step step = { record->file.step, record->file.record };
	struct filing filing = { backfill, &record->file };
	const struct nt_choose_sink how = { backfill->sinks, comment, NULL, write_file, &filing };

	record->result = record->part == NT_PART_SENT && nt_job_comment_holds(comment, &step, false)
				 ? NT_DELIVERED_PRESENT
				 : nt_choose_sink(&how, &step, 1, &record->why);
}

static void fail(struct nt_queued *record, const char *why)
{
	record->result = NT_DELIVERED_FAILED;
	nt_error_set(&record->why, "%s", why);
}

/* Merges all records of the job into its AdminComment, then writes that if it changed. */
static void place_all(const struct nt_backfill *backfill, struct portion *portion,
		      const char *cluster, const struct nt_jobtext *job)
{
	struct nt_job_comment comment = { .text = strdup(job->comment) };
	struct nt_error err;
	bool failed;

	for (size_t i = 0; i < portion->count; i++) {
		struct nt_queued *record = &portion->records[i];

		if (record->result != NT_DELIVERED_NOT || record->file.job != job->job)
			continue;
		if (comment.text)
			place(backfill, record, &comment);
		else
			fail(record, "no memory for the merged text");
	}
	failed = comment.changed && !backfill->dry_run &&
		 write_job(cluster, job, comment.text, &err) < 0;
	for (size_t i = 0; failed && i < portion->count; i++) {
		struct nt_queued *record = &portion->records[i];

		if (record->result == NT_DELIVERED_WRITTEN && record->file.job == job->job)
			fail(record, err.text);
	}
	nt_job_comment_fini(&comment);
}

static void settle_job(struct nt_backfill *backfill, struct portion *portion,
		       const struct nt_queued *first)
{
	const struct nt_jobtext *job = find_job(&portion->texts, first->file.job);
	const uint32_t id = first->file.job;

	if (job && job->ended)
		place_all(backfill, portion, first->file.cluster, job);
	for (size_t i = 0; i < portion->count; i++) {
		struct nt_queued *record = &portion->records[i];

		if (record->file.job != id)
			continue;
		if (!job || !job->ended)
			record->result = nt_queue_judge(job != NULL,
							time(NULL) - record->file.status.st_mtime);
		if (!job)
			nt_error_set(&record->why, "accounting of cluster %s has no such job",
				     record->file.cluster);
		conclude(backfill, record, job ? job->end_s : 0);
	}
}

/* ---- a portion */

/* A newer record of the step waits, which will be delivered instead. */
static bool is_old(const struct nt_backfill *backfill, const struct nt_backfill_file *file)
{
	if (file->part != NT_PART_SENT || !nt_queue_has_newer(backfill->parts, file->name))
		return false;
	if (!backfill->dry_run)
		(void)unlinkat(backfill->parts[NT_PART_SENT], file->name, 0);
	return true;
}

/* Reads files of one cluster, because a query is about one. Returns how many it looked at. */
static size_t read_records(struct nt_backfill *backfill, struct portion *portion,
			   const struct nt_backfill_file *files, size_t count)
{
	const char *cluster = NULL;
	size_t i;

	for (i = 0; i < count; i++) {
		struct nt_queued *record = &portion->records[portion->count];
		int part_fd = backfill->parts[files[i].part];

		*record = (struct nt_queued){ .part = files[i].part };
		if (faccessat(part_fd, files[i].name, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
			continue; /* a step has delivered it meanwhile */
		if (is_old(backfill, &files[i]))
			continue;
		if (nt_spooled_read(&record->file, part_fd, files[i].name, &record->why) < 0) {
			record->file.problem = record->why.text;
			record->result = NT_DELIVERED_NOWHERE;
			conclude(backfill, record, 0);
			continue;
		}
		if (cluster && strcmp(cluster, record->file.cluster) != 0)
			break;
		cluster = record->file.cluster;
		portion->count++;
	}
	return i;
}

static int load_texts(struct portion *portion, struct nt_error *err)
{
	const char *cluster = portion->records[0].file.cluster;
	uint32_t jobs[NT_BACKFILL_PORTION];
	size_t count = 0;

	for (size_t i = 0; i < portion->count; i++) {
		uint32_t job = portion->records[i].file.job;
		size_t seen = 0;

		while (seen < count && jobs[seen] != job)
			seen++;
		if (seen == count)
			jobs[count++] = job;
	}
	return nt_accounting_load_jobs(&portion->texts, jobs, count, cluster, SACCT_MS, err);
}

static void give_up(struct nt_backfill *backfill, const struct portion *portion,
		    const struct nt_error *err)
{
	const struct nt_spooled *first = &portion->records[0].file;

	backfill->failed += portion->count;
	if (portion->count == 1)
		nt_command_complain("job %" PRId64 ", step %s: %s", first->job, first->step,
				    err->text);
	else
		nt_command_complain("job %" PRId64 ", step %s, and %zu more: %s", first->job,
				    first->step, portion->count - 1, err->text);
}

size_t nt_backfill_settle(struct nt_backfill *backfill, const struct nt_backfill_file *files,
			  size_t count, bool *broken)
{
	struct portion portion = { .records = calloc(count + 1, sizeof(portion.records[0])) };
	struct nt_error err;
	size_t read = 0;

	*broken = !portion.records;
	if (portion.records)
		read = read_records(backfill, &portion, files, count);
	if (portion.count > 0 && load_texts(&portion, &err) < 0) {
		give_up(backfill, &portion, &err);
		*broken = true;
	}
	for (size_t i = 0; !*broken && i < portion.count; i++) {
		if (portion.records[i].result == NT_DELIVERED_NOT &&
		    nt_clock_ms() < backfill->deadline_ms)
			settle_job(backfill, &portion, &portion.records[i]);
	}
	nt_jobtexts_fini(&portion.texts);
	free(portion.records);
	return read;
}
