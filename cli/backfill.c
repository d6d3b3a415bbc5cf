/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* nccl-tune backfill: deliver the records in the spool to accounting, and check those that were
 * delivered.
 *
 * A job's records are settled together once it has ended, with one query of accounting for many
 * jobs and one update for each job that needs it. spank/delivery/ decides where records go, and
 * when they are removed or set aside. An error is one line on stderr; the next run tries again. */
#include "cli/command.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>
#include "lib/clock.h"
#include "record/filesink.h"
#include "record/spool.h"
#include "record/spool-retention.h"
#include "report/model/accounting.h"
#include "report/model/database.h"
#include "report/model/site-config.h"
#include "spank/delivery/queue.h"

#define TIME_S 60 /* of one run; the next one continues */
#define QUIET_S 900 /* programs that write at a job's end have done so by then */
#define SECONDS_MAX 86400
#define SACCT_MS 30000
#define PORTION 32 /* records that are settled together */
#define BROKEN_MAX 3 /* queries of accounting that fail one after the other */

struct request {
	struct nt_record_places places;
	const char *directory;
	bool dry_run, list, retry;
	int64_t time_s;
	int64_t quiet_s; /* how long after a job's end its text may still be changed by others */
};

struct file {
	enum nt_spool_part part; /* NT_PART_WAITING or NT_PART_SENT */
	const char *name;
};

struct work {
	const struct request *request;
	int64_t deadline_ms; /* on nt_clock_ms(): nothing is begun after it */
	int parts[NT_QUEUE_PARTS]; /* open, by enum nt_spool_part */
	struct nt_spool_list lists[2]; /* waiting, sent */
	struct file *files;
	size_t count, first, reached; /* files */
	size_t written, present, later, failed, dead; /* records */
};

struct portion {
	struct nt_queued *records;
	size_t count;
	struct nt_jobtexts texts;
};

/* ---- one record */

static void tell(const struct work *work, const struct nt_queued *record, const char *what)
{
	const bool filed = record->result == NT_DELIVERED_FILED;
	const bool written = filed || record->result == NT_DELIVERED_WRITTEN;

	if (record->part == NT_PART_WAITING || written)
		printf("job %" PRId64 ", step %s: %s%s%s%.200s\n", record->file.job,
		       record->file.step, work->request->dry_run && written ? "would be " : "",
		       what, filed ? " into " : "",
		       filed ? work->request->places.sinks.directory : "");
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
static void account(struct work *work, const struct nt_queued *record)
{
	const bool waiting = record->part == NT_PART_WAITING;

	switch (record->result) {
	case NT_DELIVERED_WRITTEN:
	case NT_DELIVERED_FILED:
		work->written++;
		tell(work, record,
		     waiting ? "written" : "written again, another program had overwritten it");
		break;
	case NT_DELIVERED_PRESENT:
		work->present += waiting;
		tell(work, record, "accounting has it");
		break;
	case NT_DELIVERED_LATER:
		work->later += waiting;
		tell(work, record, "deferred, the job has not ended");
		break;
	case NT_DELIVERED_FAILED:
		work->failed++;
		complain(record, "");
		break;
	case NT_DELIVERED_NOWHERE: work->dead++; break;
	default: break;
	}
}

/* end_s: when its job ended. */
static void conclude(struct work *work, struct nt_queued *record, int64_t end_s)
{
	const enum nt_queue_move move = nt_queue_decide(record, time(NULL) - end_s,
							work->request->quiet_s);

	if (record->result == NT_DELIVERED_NOWHERE)
		complain(record, work->request->dry_run ? "would be set aside: " : "set aside: ");
	if (!work->request->dry_run && nt_queue_move(work->parts, record, move, &record->why) < 0)
		record->result = NT_DELIVERED_FAILED;
	account(work, record);
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
	const struct work *work;
	const struct nt_spooled *file;
};

static int write_file(void *argument, struct nt_error *err)
{
	const struct filing *filing = argument;
	const struct nt_spooled *file = filing->file;
	const struct nt_spool_entry entry = { file->cluster, file->job,	   file->uid,
					      file->step,    file->record, NULL };

	if (filing->work->request->dry_run)
		return 0;
	return nt_filesink_put(filing->work->request->places.sinks.directory, &entry, NULL, err);
}

static void place(const struct work *work, struct nt_queued *record, struct nt_job_comment *comment)
{
	const struct nt_admincomment_merge_step step = { record->file.step, record->file.record };
	struct filing filing = { work, &record->file };
	const struct nt_choose_sink how = { &work->request->places.sinks, comment, NULL, write_file,
					    &filing };

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
static void place_all(const struct work *work, struct portion *portion, const char *cluster,
		      const struct nt_jobtext *job)
{
	struct nt_job_comment comment = { .text = strdup(job->comment) };
	struct nt_error err;
	bool failed;

	for (size_t i = 0; i < portion->count; i++) {
		struct nt_queued *record = &portion->records[i];

		if (record->result != NT_DELIVERED_NOT || record->file.job != job->job)
			continue;
		if (comment.text)
			place(work, record, &comment);
		else
			fail(record, "no memory for the merged text");
	}
	failed = comment.changed && !work->request->dry_run &&
		 write_job(cluster, job, comment.text, &err) < 0;
	for (size_t i = 0; failed && i < portion->count; i++) {
		struct nt_queued *record = &portion->records[i];

		if (record->result == NT_DELIVERED_WRITTEN && record->file.job == job->job)
			fail(record, err.text);
	}
	nt_job_comment_fini(&comment);
}

static void settle_job(struct work *work, struct portion *portion, const struct nt_queued *first)
{
	const struct nt_jobtext *job = find_job(&portion->texts, first->file.job);
	const uint32_t id = first->file.job;

	if (job && job->ended)
		place_all(work, portion, first->file.cluster, job);
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
		conclude(work, record, job ? job->end_s : 0);
	}
}

/* ---- a portion */

/* A newer record of the step waits, which will be delivered instead. */
static bool is_old(const struct work *work, const struct file *file)
{
	if (file->part != NT_PART_SENT || !nt_queue_has_newer(work->parts, file->name))
		return false;
	if (!work->request->dry_run)
		(void)unlinkat(work->parts[NT_PART_SENT], file->name, 0);
	return true;
}

/* Reads files of one cluster, because a query is about one. Returns how many it looked at. */
static size_t read_records(struct work *work, struct portion *portion, const struct file *files,
			   size_t count)
{
	const char *cluster = NULL;
	size_t i;

	for (i = 0; i < count; i++) {
		struct nt_queued *record = &portion->records[portion->count];
		int part_fd = work->parts[files[i].part];

		*record = (struct nt_queued){ .part = files[i].part };
		if (faccessat(part_fd, files[i].name, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
			continue; /* a step has delivered it meanwhile */
		if (is_old(work, &files[i]))
			continue;
		if (nt_spooled_read(&record->file, part_fd, files[i].name, &record->why) < 0) {
			record->file.problem = record->why.text;
			record->result = NT_DELIVERED_NOWHERE;
			conclude(work, record, 0);
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
	uint32_t jobs[PORTION];
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

static void give_up(struct work *work, const struct portion *portion, const struct nt_error *err)
{
	const struct nt_spooled *first = &portion->records[0].file;

	work->failed += portion->count;
	if (portion->count == 1)
		nt_command_complain("job %" PRId64 ", step %s: %s", first->job, first->step,
				    err->text);
	else
		nt_command_complain("job %" PRId64 ", step %s, and %zu more: %s", first->job,
				    first->step, portion->count - 1, err->text);
}

/* Settles files, at most a portion; returns how many it looked at. *broken: accounting did not
 * answer. */
static size_t settle_files(struct work *work, const struct file *files, size_t count, bool *broken)
{
	struct portion portion = { .records = calloc(count + 1, sizeof(portion.records[0])) };
	struct nt_error err;
	size_t read = 0;

	*broken = !portion.records;
	if (portion.records)
		read = read_records(work, &portion, files, count);
	if (portion.count > 0 && load_texts(&portion, &err) < 0) {
		give_up(work, &portion, &err);
		*broken = true;
	}
	for (size_t i = 0; !*broken && i < portion.count; i++) {
		if (portion.records[i].result == NT_DELIVERED_NOT &&
		    nt_clock_ms() < work->deadline_ms)
			settle_job(work, &portion, &portion.records[i]);
	}
	nt_jobtexts_fini(&portion.texts);
	free(portion.records);
	return read;
}

/* ---- a run */

static int collect(struct work *work, struct nt_error *err)
{
	size_t total = 0;

	for (int part = NT_PART_WAITING; part <= NT_PART_SENT; part++) {
		(void)nt_spool_keep(work->parts[part], (enum nt_spool_part)part, true);
		if (nt_spool_list(&work->lists[part], work->parts[part], NULL, 0, err) < 0)
			return -1;
		total += work->lists[part].count;
	}
	work->files = calloc(total + 1, sizeof(work->files[0]));
	if (!work->files)
		return nt_error_set(err, "no memory for a list of the spool");
	for (int part = NT_PART_WAITING; part <= NT_PART_SENT; part++) {
		for (size_t i = 0; i < work->lists[part].count; i++) {
			const struct nt_spool_item *item = &work->lists[part].items[i];

			work->files[work->count++] = (struct file){ (enum nt_spool_part)part,
								    item->name };
		}
	}
	return 0;
}

/* The files in turn, from a random portion on: a user's many files, which are limited, are not
 * always the first. */
static size_t settle_portion(struct work *work, bool *broken)
{
	struct file files[PORTION];
	size_t count = 0;

	while (count < PORTION && work->reached + count < work->count) {
		files[count] = work->files[(work->first + work->reached + count) % work->count];
		count++;
	}
	return settle_files(work, files, count, broken);
}

static int settle_all(struct work *work, struct nt_error *err)
{
	unsigned broken_count = 0;
	uint32_t first = 0;

	if (collect(work, err) < 0)
		return -1;
	(void)getrandom(&first, sizeof(first), GRND_NONBLOCK);
	work->first = first % (work->count / PORTION + 1) * PORTION;
	while (work->reached < work->count && broken_count < BROKEN_MAX &&
	       nt_clock_ms() < work->deadline_ms) {
		bool broken;

		work->reached += settle_portion(work, &broken);
		broken_count = broken ? broken_count + 1 : 0;
	}
	return 0;
}

static void print_sum(const struct work *work)
{
	printf("%zu %s, %zu there already, %zu left for later, %zu failed", work->written,
	       work->request->dry_run ? "to be written" : "written", work->present, work->later,
	       work->failed);
	if (work->dead > 0)
		printf(", %zu set aside", work->dead);
	if (work->reached < work->count)
		printf(", %zu left for the next run", work->count - work->reached);
	putchar('\n');
}

/* ---- --list and --retry */

static const char *const part_names[] = { "waiting", "sent", "dead" };

static int show(void *argument, const struct nt_spooled *spooled, struct nt_error *err)
{
	const char *part = argument;
	int64_t hours = (time(NULL) - spooled->status.st_mtime) / 3600;
	char user[16] = "?";

	(void)err;
	if (spooled->problem) {
		printf("%-8s %-10s %-20s %6" PRId64 " h  %s\n", part, user, spooled->name, hours,
		       spooled->problem);
		return 0;
	}
	if (spooled->uid != NT_SPOOL_NO_UID)
		snprintf(user, sizeof(user), "%" PRId64, spooled->uid);
	printf("%-8s %-10s %" PRId64 ".%-*s %6" PRId64 " h  %s\n", part, user, spooled->job,
	       (int)(19 - snprintf(NULL, 0, "%" PRId64, spooled->job)), spooled->step, hours,
	       spooled->why);
	return 0;
}

static int list_all(const struct work *work, struct nt_error *err)
{
	printf("%-8s %-10s %-20s %8s  %s\n", "STATE", "UID", "STEP", "AGE", "WHY");
	for (int part = NT_PART_WAITING; part <= NT_PART_DEAD; part++) {
		char name[16];

		snprintf(name, sizeof(name), "%s", part_names[part]);
		if (nt_spooled_each(work->parts[part], show, name, err) < 0)
			return -1;
	}
	return 0;
}

/* Records that were set aside wait again; damaged ones stay. */
static int revive(void *argument, const struct nt_spooled *spooled, struct nt_error *err)
{
	const struct work *work = argument;
	const struct nt_spool_entry entry = { spooled->cluster, spooled->job,	 spooled->uid,
					      spooled->step,	spooled->record, NULL };

	if (spooled->problem)
		return 0;
	if (nt_spool_write(work->parts[NT_PART_WAITING], NT_PART_WAITING, &entry, true, NULL, err) <
	    0)
		return -1;
	return nt_spooled_remove(spooled, err);
}

/* ---- the whole */

static int open_spool(const char *directory, struct nt_error *err)
{
	int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return nt_error_set(err, "%.100s: %m", directory);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		close(fd);
		return nt_error_set(err, "%.100s: another backfill is running", directory);
	}
	return fd;
}

static int open_parts(struct work *work, int spool_fd, struct nt_error *err)
{
	int *parts = work->parts;

	parts[NT_PART_WAITING] = spool_fd;
	for (int part = NT_PART_SENT; part <= NT_PART_DEAD; part++) {
		parts[part] = nt_spool_open(work->request->directory, (enum nt_spool_part)part,
					    true, err);
		if (parts[part] < 0)
			return -1;
	}
	return 0;
}

static int work_on(struct work *work, int spool_fd, struct nt_error *err)
{
	const struct request *request = work->request;

	if (open_parts(work, spool_fd, err) < 0)
		return -1;
	if (request->list)
		return list_all(work, err);
	if (request->retry && !request->dry_run &&
	    nt_spooled_each(work->parts[NT_PART_DEAD], revive, work, err) < 0)
		return -1;
	if (settle_all(work, err) < 0)
		return -1;
	print_sum(work);
	return work->failed + work->dead > 0 ? 1 : 0;
}

static void finish(struct work *work)
{
	for (int part = NT_PART_WAITING; part <= NT_PART_DEAD; part++) {
		if (work->parts[part] >= 0)
			close(work->parts[part]);
	}
	for (size_t i = 0; i < 2; i++)
		nt_spool_list_fini(&work->lists[i]);
	free(work->files);
}

static int backfill(const struct request *request)
{
	struct work work = {
		.request = request,
		.deadline_ms = nt_clock_ms() + request->time_s * 1000,
		.parts = { -1, -1, -1 },
	};
	struct nt_error err;
	int spool_fd = open_spool(request->directory, &err);
	int rc;

	/* The plugin creates the directory when it first needs it. */
	if (spool_fd < 0 && errno == ENOENT && request->directory == request->places.spool) {
		printf("nothing to do: there is no %s\n", request->directory);
		return NT_EXIT_OK;
	}
	if (spool_fd < 0)
		return nt_command_fail(&err);
	rc = work_on(&work, spool_fd, &err);
	finish(&work);
	return rc > 0 ? NT_EXIT_FAILED : nt_command_status(rc, &err);
}

static void init(void *argument)
{
	struct request *request = argument;

	nt_record_places(&request->places);
	request->directory = request->places.spool;
	request->time_s = TIME_S;
	request->quiet_s = QUIET_S;
}

static int run(void *request, char *argv[])
{
	(void)argv;
	if (geteuid() == 0)
		return backfill(request);
	nt_command_complain("only root may read the spool and write to accounting");
	return NT_EXIT_FAILED;
}

static const struct nt_option options[] = {
	{ "dry-run", 'n', "Print what would be done, and do nothing",
	  NT_FLAG(struct request, dry_run) },
	{ "list", 'l',
	  "List the records that wait, that were sent, and that were set aside, with the reason",
	  NT_FLAG(struct request, list) },
	{ "retry", 'r', "Retry records that were set aside", NT_FLAG(struct request, retry) },
	{ "spool", 's', "The spool (default: the site's, or " NT_SPOOL_DIR ")",
	  NT_TEXT(struct request, directory, "DIRECTORY") },
	{ "time", 't', "Start no record after this time; the next run continues (default: 60)",
	  NT_U64(struct request, time_s, "SECONDS", 0, SECONDS_MAX) },
	{ "quiet", 'q', "Check a job's record again this long after the job's end (default: 900)",
	  NT_U64(struct request, quiet_s, "SECONDS", 0, SECONDS_MAX) },
	{ 0 },
};

const struct nt_command nt_command_backfill = {
	.name = "backfill",
	.summary = "deliver records from the spool to accounting (root)",
	.options = options,
	.doc = "Deliver records that could not reach slurmctld when their steps ended: add them "
	       "to the AdminComment of their jobs in accounting, check them there, and remove "
	       "them from the spool. Run it on every node, from a timer.\n\n"
	       "A record is added again if another program has replaced it at the job's end. "
	       "Records of running jobs wait. Another program's text is never changed: a record "
	       "that does not fit next to it goes into the site's directory of files (record in "
	       "nccl-tune.conf). Without one it is set aside, reported once and kept for 90 days; 'nccl-tune report JOB' shows it to root."
	       "\vExit status: 0 if all records were added or wait, 1 if something failed or "
	       "was set aside (see stderr), 2 for a usage error.",
	.request_bytes = sizeof(struct request),
	.init = init,
	.run = run,
};
