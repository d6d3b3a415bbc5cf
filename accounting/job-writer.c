/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Deliver a job's records from the spool. */
#include "accounting/job-writer.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "lib/clock.h"
#include "record/filesink.h"
#include "accounting/queue.h"
#include "spank/slurm_compat.h"

#define BATCH 128 /* records of one update: more than a text has room for */
#define POLL_MS 3
#define LOCK_MS 12000 /* for another writer, which may wait for slurmctld */
#define STALE_MS 20 /* an older text is read again before it is replaced */
#define LOOK_MS 300 /* much longer than another writer takes from reading to writing */
#define LOOKS 4

struct writer {
	const struct nt_job_writing *job;
	int parts[NT_QUEUE_PARTS], lock_fd;
	struct nt_queued *records; /* from the spool, of the newest update */
	/* These, then ours unless it is one of them. */
	struct nt_admincomment_merge_step steps[BATCH + 1];
	size_t count;
	size_t spooled; /* how many of these are records */
	struct nt_spool_list list;
	struct nt_job_comment comment;
	bool handed;
};

static void sleep_ms(int64_t ms)
{
	struct timespec span = { ms / 1000, ms % 1000 * 1000000 };

	while (nanosleep(&span, &span) < 0)
		;
}

static int64_t random_below(int64_t limit)
{
	uint32_t number = 0;

	(void)getrandom(&number, sizeof(number), GRND_NONBLOCK);
	return number % limit;
}

static void hand_over(struct writer *writer)
{
	if (!writer->handed && writer->job->handed)
		writer->job->handed(writer->job->argument);
	writer->handed = true;
}

static void release(const struct writer *writer)
{
	if (writer->lock_fd >= 0)
		nt_job_lock_release(writer->lock_fd);
}

/* ---- the job's AdminComment at slurmctld
 *
 * Slurm only replaces the whole text and has no compare-and-set: if another node writes between our
 * reading and writing, its text is lost, and ours may be. It is therefore looked at again later. */

static enum nt_delivered copy_text(struct nt_job_comment *comment, const slurm_job_info_t *job,
				   struct nt_error *err)
{
	comment->text = strdup(job->admin_comment ? job->admin_comment : "");
	if (comment->text)
		return NT_DELIVERED_PRESENT;
	nt_error_set(err, "no memory for the text of job %" PRIu32, job->job_id);
	return NT_DELIVERED_FAILED;
}

/* slurmctld may also return other members of an array or a heterogeneous job. */
static enum nt_delivered read_job(struct nt_job_comment *comment, uint32_t job,
				  struct nt_error *err)
{
	enum nt_delivered result = NT_DELIVERED_ENDED;
	job_info_msg_t *message = NULL;
	int problem;

	*comment = (struct nt_job_comment){ .read_ms = 0 };
	if (nt_slurm_load_job(&message, job, SHOW_ALL | SHOW_LOCAL) != 0) {
		problem = errno;
		nt_error_set(err, "slurmctld does not show job %" PRIu32 ": %s", job,
			     slurm_strerror(problem));
		return problem == ESLURM_INVALID_JOB_ID ? NT_DELIVERED_ENDED : NT_DELIVERED_FAILED;
	}
	nt_error_set(err, "slurmctld does not know job %" PRIu32, job);
	for (uint32_t i = 0; i < message->record_count; i++) {
		if (message->job_array[i].job_id != job)
			continue;
		result = copy_text(comment, &message->job_array[i], err);
		break;
	}
	slurm_free_job_info_msg(message);
	comment->read_ms = nt_clock_ms();
	return result;
}

static enum nt_delivered write_job(const struct nt_job_comment *comment, uint32_t job,
				   struct nt_error *err)
{
	job_desc_msg_t update;
	int problem;

	nt_slurm_init_update(&update, job);
	update.admin_comment = comment->text;
	if (slurm_update_job(&update) == 0)
		return NT_DELIVERED_WRITTEN;
	problem = errno;
	nt_error_set(err, "job %" PRIu32 ": %s", job, slurm_strerror(problem));
	return problem == ESLURM_ALREADY_DONE || problem == ESLURM_INVALID_JOB_ID
		       ? NT_DELIVERED_ENDED
		       : NT_DELIVERED_FAILED;
}

/* ---- what waits */

/* The spool did not accept ours, so nobody else can deliver it. */
static bool is_loose(const struct writer *writer)
{
	return writer->job->entry.record && !writer->job->spooled;
}

static bool ours_waits(const struct writer *writer)
{
	const int waiting_fd = writer->parts[NT_PART_WAITING];

	return writer->job->entry.record && writer->job->spooled && waiting_fd >= 0 &&
	       nt_spool_has(waiting_fd, &writer->job->entry);
}

/* Ours is not among the records: it is loose, or its file cannot be read. */
static bool is_missing(const struct writer *writer)
{
	if (is_loose(writer))
		return true;
	for (size_t i = 0; i < writer->spooled; i++) {
		if (strcmp(writer->records[i].file.step, writer->job->entry.step) == 0)
			return false;
	}
	return ours_waits(writer);
}

static void add(struct writer *writer, const char *step, const char *record)
{
	writer->steps[writer->count++] = (struct nt_admincomment_merge_step){ step, record };
}

/* Does the file go into the same update? backfill reports damaged files. */
static bool belongs(const struct writer *writer, const struct nt_spooled *file)
{
	const struct nt_spool_entry *entry = &writer->job->entry;

	return file->job == entry->job && strcmp(file->cluster, entry->cluster) == 0 &&
	       !(is_loose(writer) && strcmp(file->step, entry->step) == 0);
}

/* The newest BATCH records of the job, oldest first; then ours. */
static void collect(struct writer *writer)
{
	const struct nt_spool_entry *entry = &writer->job->entry;
	const int waiting_fd = writer->parts[NT_PART_WAITING];
	size_t first;

	writer->count = 0;
	nt_spool_list_fini(&writer->list);
	if (waiting_fd >= 0)
		(void)nt_spool_list(&writer->list, waiting_fd, entry->cluster, entry->job, NULL);
	first = writer->list.count > BATCH ? writer->list.count - BATCH : 0;
	for (size_t i = first; i < writer->list.count; i++) {
		struct nt_queued *record = &writer->records[writer->count];
		const char *name = writer->list.items[i].name;

		record->part = NT_PART_WAITING;
		if (nt_spooled_read(&record->file, waiting_fd, name, NULL) == 0 &&
		    belongs(writer, &record->file))
			add(writer, record->file.step, record->file.record);
	}
	writer->spooled = writer->count;
	if (is_missing(writer))
		add(writer, entry->step, entry->record);
}

/* Records in AdminComment are kept until accounting has them. */
static void move_on(struct writer *writer, enum nt_delivered result)
{
	const struct nt_spool_entry *entry = &writer->job->entry;
	const int sent_fd = writer->parts[NT_PART_SENT];

	/* An older record of the step would replace ours later; an early one is replaced anyway. */
	if (is_loose(writer) && writer->job->urgency != NT_JOB_EARLY) {
		nt_spool_forget(writer->parts[NT_PART_WAITING], entry);
		nt_spool_forget(sent_fd, entry);
	}
	for (size_t i = 0; i < writer->spooled; i++) {
		struct nt_queued *record = &writer->records[i];

		record->result = result;
		(void)nt_queue_move(writer->parts, record,
				    nt_queue_decide(record, NT_QUEUE_RUNS, 0), NULL);
	}
	if (sent_fd >= 0)
		(void)nt_spool_limit(sent_fd, entry->uid);
}

/* ---- writing */

static enum nt_delivered read_comment(void *argument, struct nt_job_comment *comment,
				      struct nt_error *err)
{
	const struct writer *writer = argument;

	return read_job(comment, writer->job->entry.job, err);
}

static int write_files(void *argument, struct nt_error *err)
{
	const struct writer *writer = argument;
	struct nt_spool_entry entry = writer->job->entry;

	for (size_t i = 0; i < writer->count; i++) {
		if (i < writer->spooled && writer->records[i].file.uid != NT_SPOOL_NO_UID)
			entry.uid = writer->records[i].file.uid;
		entry.step = writer->steps[i].step;
		entry.record = writer->steps[i].record;
		if (nt_filesink_put(writer->job->sinks->directory, &entry, err) < 0)
			return -1;
	}
	return 0;
}

/* *stale: nothing is written if the text may be out of date; set if that happened. */
static enum nt_delivered offer_once(struct writer *writer, bool *stale, struct nt_error *err)
{
	const struct nt_choose_sink how = { writer->job->sinks, &writer->comment, read_comment,
					    write_files, writer };
	enum nt_delivered result = nt_choose_sink(&how, writer->steps, writer->count, err);

	if (result == NT_DELIVERED_WRITTEN) {
		*stale = *stale && nt_clock_ms() - writer->comment.read_ms > STALE_MS;
		if (!*stale)
			result = write_job(&writer->comment, writer->job->entry.job, err);
	} else {
		*stale = false;
	}
	nt_job_comment_fini(&writer->comment);
	return result == NT_DELIVERED_PRESENT ? NT_DELIVERED_WRITTEN : result;
}

/* On a very busy machine a text that may be out of date is written; look_again() checks it. */
static enum nt_delivered offer(struct writer *writer, struct nt_error *err)
{
	bool stale = true;
	enum nt_delivered result = offer_once(writer, &stale, err);

	if (stale) {
		stale = false;
		result = offer_once(writer, &stale, err);
	}
	return result;
}

/* With the lock: deliver all that waits. */
static enum nt_delivered deliver(struct writer *writer, struct nt_error *err)
{
	enum nt_delivered result;

	collect(writer);
	if (writer->count == 0)
		return NT_DELIVERED_WRITTEN;
	result = offer(writer, err);
	if (nt_delivered_well(result))
		move_on(writer, result);
	return result;
}

/* false: another writer has delivered ours, or is stuck. */
static bool take_lock(struct writer *writer)
{
	int64_t until_ms = nt_job_lock_now_ms() + LOCK_MS;
	bool waited = ours_waits(writer);

	if (writer->lock_fd < 0)
		return true;
	while (!nt_job_lock_try(writer->lock_fd)) {
		if (waited && !ours_waits(writer))
			return false;
		if (nt_job_lock_now_ms() >= until_ms)
			return false;
		sleep_ms(POLL_MS);
	}
	if (!waited || ours_waits(writer))
		return true;
	nt_job_lock_release(writer->lock_fd);
	return false;
}

/* As nt_job_lock_admit(). */
static int64_t ask_pace(struct writer *writer)
{
	enum nt_job_urgency urgency = writer->job->urgency;

	if (is_loose(writer) && urgency != NT_JOB_EARLY)
		urgency = NT_JOB_AT_ONCE;
	return writer->lock_fd < 0 ? 0 : nt_job_lock_admit(writer->lock_fd, urgency, LOOK_MS);
}

/* *wrote: this process updated the text, and has to check it later. */
static enum nt_delivered deliver_locked(struct writer *writer, bool *wrote, struct nt_error *err)
{
	enum nt_delivered result;
	int64_t wait_ms;

	*wrote = false;
	for (;;) {
		if (!take_lock(writer)) {
			if (!ours_waits(writer) && !is_loose(writer))
				return NT_DELIVERED_WRITTEN;
			nt_error_set(err, "another step's writer is stuck");
			return NT_DELIVERED_FAILED;
		}
		wait_ms = ask_pace(writer);
		if (wait_ms == 0)
			break;
		hand_over(writer);
		if (wait_ms < 0)
			return NT_DELIVERED_LATER;
		sleep_ms(wait_ms);
	}
	result = deliver(writer, err);
	*wrote = result == NT_DELIVERED_WRITTEN && writer->count > 0;
	release(writer);
	return result;
}

/* ---- checking later */

/* The lock, if an update may start now. */
static bool take_due_lock(struct writer *writer)
{
	return writer->lock_fd < 0 || (nt_job_lock_try(writer->lock_fd) &&
				       nt_job_lock_admit(writer->lock_fd, NT_JOB_AGAIN, 0) == 0);
}

/* Is this still the step's newest record? */
static bool is_newest(const struct writer *writer, const struct nt_spooled *file)
{
	struct stat status;

	return fstatat(writer->parts[NT_PART_SENT], file->name, &status, AT_SYMLINK_NOFOLLOW) ==
		       0 &&
	       status.st_ino == file->status.st_ino &&
	       !nt_queue_has_newer(writer->parts, file->name);
}

/* Keep the steps' newest records, and ours if it is in no file. */
static void forget_old(struct writer *writer)
{
	const bool loose = writer->count > writer->spooled;
	const struct nt_admincomment_merge_step ours = writer->steps[writer->spooled];
	const size_t spooled = writer->spooled;

	if (writer->parts[NT_PART_SENT] < 0 || spooled == 0)
		return;
	writer->count = 0;
	for (size_t i = 0; i < spooled; i++) {
		struct nt_queued *kept = &writer->records[writer->count];

		if (!is_newest(writer, &writer->records[i].file))
			continue;
		if (kept != &writer->records[i])
			*kept = writer->records[i];
		add(writer, kept->file.step, kept->file.record);
	}
	writer->spooled = writer->count;
	if (loose)
		add(writer, ours.step, ours.record);
}

/* *there: the text has all of them, the newest by its name. */
static enum nt_delivered read_and_check(struct writer *writer, bool *there, struct nt_error *err)
{
	enum nt_delivered result = read_comment(writer, &writer->comment, err);

	*there = result == NT_DELIVERED_PRESENT;
	for (size_t i = 0; *there && i < writer->count; i++)
		*there = nt_job_comment_holds(&writer->comment, &writer->steps[i],
					      i + 1 == writer->count);
	nt_job_comment_fini(&writer->comment);
	return result == NT_DELIVERED_PRESENT ? NT_DELIVERED_WRITTEN : result;
}

/* Another node's writer may have replaced the text. */
static enum nt_delivered look_again(struct writer *writer, struct nt_error *err)
{
	enum nt_delivered result = NT_DELIVERED_WRITTEN;
	bool there = false;

	for (int i = 0; i < LOOKS; i++) {
		sleep_ms(LOOK_MS + random_below(LOOK_MS));
		forget_old(writer);
		if (writer->count == 0)
			return NT_DELIVERED_WRITTEN;
		result = read_and_check(writer, &there, err);
		if (result != NT_DELIVERED_WRITTEN || there)
			return result;
		if (!take_due_lock(writer))
			continue;
		forget_old(writer);
		result = offer(writer, err);
		release(writer);
		if (result != NT_DELIVERED_WRITTEN)
			return result;
	}
	return result;
}

/* ---- from begin to end */

static void begin(struct writer *writer, const struct nt_job_writing *job)
{
	*writer = (struct writer){ .job = job };
	for (int part = NT_PART_WAITING; part <= NT_PART_SENT; part++)
		writer->parts[part] = nt_spool_open(job->spool, (enum nt_spool_part)part, true,
						    NULL);
	writer->lock_fd = nt_job_lock_open(job->rundir, job->entry.job);
	writer->records = calloc(BATCH, sizeof(writer->records[0]));
}

static void end(struct writer *writer)
{
	for (int part = NT_PART_WAITING; part <= NT_PART_SENT; part++) {
		if (writer->parts[part] >= 0)
			close(writer->parts[part]);
	}
	if (writer->lock_fd >= 0)
		close(writer->lock_fd);
	nt_spool_list_fini(&writer->list);
	free(writer->records);
}

enum nt_delivered nt_job_write(const struct nt_job_writing *writing, struct nt_error *err)
{
	enum nt_delivered result = NT_DELIVERED_FAILED;
	struct writer writer;
	bool wrote = false;

	begin(&writer, writing);
	if (writer.records)
		result = deliver_locked(&writer, &wrote, err);
	else
		nt_error_set(err, "no memory for the records of job %" PRIu32, writing->entry.job);
	if (nt_delivered_well(result))
		hand_over(&writer);
	/* If the job has ended backfill checks what was sent. */
	if (wrote && !nt_delivered_well(look_again(&writer, err)) &&
	    (writer.parts[NT_PART_SENT] < 0 || is_loose(&writer)))
		result = NT_DELIVERED_FAILED;
	end(&writer);
	return result;
}
