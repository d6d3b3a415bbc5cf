/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* nccl-tune backfill: deliver the records in the spool to accounting, and check those that were
 * delivered. A job's records are settled together once it has ended, with one query of accounting
 * for many jobs and one update for each job that needs it. accounting/ decides where records
 * go, and when they are removed. Errors are a line each; the next run tries again. */
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
#include "report/model/accounting.h"
#include "report/model/database.h"
#include "report/model/site-config.h"
#include "accounting/queue.h"

#define TIME_S 60 /* of one run; the next one continues */
#define QUIET_S 900 /* programs that write at a job's end have done so by then */
#define SECONDS_MAX 86400
#define BROKEN_MAX 3 /* queries of accounting that fail one after the other */
#define SACCT_MS 30000
#define PORTION 32 /* records that are settled together */

struct request {
	const struct nt_site_records *site;
	const char *directory;
	int64_t time_s, quiet_s; /* how long after a job's end others may change its text */
};

struct file {
	enum nt_spool_part part;
	const char *name;
};

struct run {
	const struct request *request;
	int64_t deadline_ms; /* nothing is begun after it */
	int parts[NT_QUEUE_PARTS]; /* open, by enum nt_spool_part */
	struct nt_spool_list lists[NT_QUEUE_PARTS];
	struct file *files;
	size_t count, first, reached;
	size_t written, present, later, failed, lost;
};

struct portion {
	struct nt_queued *records;
	size_t count;
	struct nt_jobtexts texts;
};

/* ---- one record */

static void print_record(const struct run *run, const struct nt_queued *record, const char *what)
{
	const bool filed = record->result == NT_DELIVERED_FILED;
	const bool written = filed || record->result == NT_DELIVERED_WRITTEN;

	if (record->part == NT_PART_WAITING || written)
		printf("job %" PRId64 ", step %s: %s%s%.200s\n", record->file.job,
		       record->file.step, what, filed ? " into " : "",
		       filed ? run->request->site->sinks.directory : "");
}

static void complain(const struct nt_queued *record, const char *what)
{
	if (record->damaged)
		nt_command_complain("%s: %s%s", record->file.name, what, record->why.text);
	else
		nt_command_complain("job %" PRId64 ", step %s: %s%s", record->file.job,
				    record->file.step, what, record->why.text);
}

/* Counts and prints the result. */
static void account(struct run *run, const struct nt_queued *record)
{
	const bool waiting = record->part == NT_PART_WAITING;

	switch (record->result) {
	case NT_DELIVERED_WRITTEN:
	case NT_DELIVERED_FILED:
		run->written++;
		print_record(run, record,
			     waiting ? "written"
				     : "written again, another program had overwritten it");
		break;
	case NT_DELIVERED_PRESENT:
		run->present += waiting;
		print_record(run, record, "accounting has it");
		break;
	case NT_DELIVERED_LATER:
		run->later += waiting;
		print_record(run, record, "deferred, the job has not ended");
		break;
	case NT_DELIVERED_FAILED:
		run->failed++;
		complain(record, "");
		break;
	case NT_DELIVERED_NOWHERE: run->lost++; break;
	default: break;
	}
}

/* end_s: when its job ended. */
static void conclude(struct run *run, struct nt_queued *record, int64_t end_s)
{
	const enum nt_queue_move move = nt_queue_decide(record, time(NULL) - end_s,
							run->request->quiet_s);

	if (record->result == NT_DELIVERED_NOWHERE)
		complain(record, "given up: ");
	if (nt_queue_move(run->parts, record, move, &record->why) < 0)
		record->result = NT_DELIVERED_FAILED;
	account(run, record);
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
	const struct run *run;
	const struct nt_spooled *file;
};

static int write_file(void *argument, struct nt_error *err)
{
	const struct filing *filing = argument;
	const struct nt_spooled *file = filing->file;
	const struct nt_spool_entry entry = { file->cluster, file->job, file->uid, file->step,
					      file->record };

	return nt_filesink_put(filing->run->request->site->sinks.directory, &entry, err) < 0 ? -1
											     : 0;
}

static void deliver(const struct run *run, struct nt_queued *record, struct nt_job_comment *comment)
{
	const struct nt_admincomment_merge_step step = { record->file.step, record->file.record };
	struct filing filing = { run, &record->file };
	const struct nt_choose_sink how = { &run->request->site->sinks, comment, NULL, write_file,
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
static void deliver_all(const struct run *run, struct portion *portion, const char *cluster,
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
			deliver(run, record, &comment);
		else
			fail(record, "no memory for the merged text");
	}
	failed = comment.changed && write_job(cluster, job, comment.text, &err) < 0;
	for (size_t i = 0; failed && i < portion->count; i++) {
		struct nt_queued *record = &portion->records[i];

		if (record->result == NT_DELIVERED_WRITTEN && record->file.job == job->job)
			fail(record, err.text);
	}
	nt_job_comment_fini(&comment);
}

static void settle_job(struct run *run, struct portion *portion, const struct nt_queued *first)
{
	const struct nt_jobtext *job = find_job(&portion->texts, first->file.job);
	const uint32_t id = first->file.job;

	if (job && job->ended)
		deliver_all(run, portion, first->file.cluster, job);
	for (size_t i = 0; i < portion->count; i++) {
		struct nt_queued *record = &portion->records[i];

		if (record->file.job != id)
			continue;
		/* At the job's end slurmctld replaces the text in accounting with its own. */
		if (!job || !job->ended)
			record->result = job ? NT_DELIVERED_LATER : NT_DELIVERED_FAILED;
		if (!job)
			nt_error_set(&record->why, "accounting of cluster %s has no such job",
				     record->file.cluster);
		record->result = nt_queue_judge(record->result,
						time(NULL) - record->file.status.st_mtime);
		conclude(run, record, job ? job->end_s : 0);
	}
}

/* ---- a portion */

/* A newer record of the step waits, which will be delivered instead. */
static bool is_old(const struct run *run, const struct file *file)
{
	if (file->part != NT_PART_SENT || !nt_queue_has_newer(run->parts, file->name))
		return false;
	(void)unlinkat(run->parts[NT_PART_SENT], file->name, 0);
	return true;
}

/* Reads the next files that are of one cluster, because a query is about one. */
static void read_records(struct run *run, struct portion *portion)
{
	const size_t end = run->reached + PORTION;
	const char *cluster = NULL;

	for (; run->reached < run->count && run->reached < end; run->reached++) {
		const struct file *file = &run->files[(run->first + run->reached) % run->count];
		struct nt_queued *record = &portion->records[portion->count];
		int part_fd = run->parts[file->part];

		*record = (struct nt_queued){ .part = file->part };
		if (faccessat(part_fd, file->name, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
			continue; /* a step has delivered it meanwhile */
		if (is_old(run, file))
			continue;
		if (nt_spooled_read(&record->file, part_fd, file->name, &record->why) < 0) {
			record->damaged = true;
			record->result = NT_DELIVERED_NOWHERE;
			conclude(run, record, 0);
			continue;
		}
		if (cluster && strcmp(cluster, record->file.cluster) != 0)
			break;
		cluster = record->file.cluster;
		portion->count++;
	}
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

static void give_up(struct run *run, const struct portion *portion, const struct nt_error *err)
{
	const struct nt_spooled *first = &portion->records[0].file;

	run->failed += portion->count;
	if (portion->count == 1)
		nt_command_complain("job %" PRId64 ", step %s: %s", first->job, first->step,
				    err->text);
	else
		nt_command_complain("job %" PRId64 ", step %s, and %zu more: %s", first->job,
				    first->step, portion->count - 1, err->text);
}

/* false: accounting did not answer. */
static bool settle_portion(struct run *run)
{
	struct portion portion = { .records = calloc(PORTION + 1, sizeof(portion.records[0])) };
	struct nt_error err;
	bool answered = portion.records != NULL;

	if (answered)
		read_records(run, &portion);
	if (portion.count > 0 && load_texts(&portion, &err) < 0) {
		give_up(run, &portion, &err);
		answered = false;
	}
	for (size_t i = 0; answered && i < portion.count; i++) {
		if (portion.records[i].result == NT_DELIVERED_NOT &&
		    nt_clock_ms() < run->deadline_ms)
			settle_job(run, &portion, &portion.records[i]);
	}
	nt_jobtexts_fini(&portion.texts);
	free(portion.records);
	return answered;
}

/* ---- a run */

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

static int collect(struct run *run, struct nt_error *err)
{
	size_t total = 0;

	for (int part = 0; part < NT_QUEUE_PARTS; part++) {
		if (nt_spool_list(&run->lists[part], run->parts[part], NULL, 0, err) < 0)
			return -1;
		total += run->lists[part].count;
	}
	run->files = calloc(total + 1, sizeof(run->files[0]));
	if (!run->files)
		return nt_error_set(err, "no memory for a list of the spool");
	for (int part = 0; part < NT_QUEUE_PARTS; part++) {
		for (size_t i = 0; i < run->lists[part].count; i++)
			run->files[run->count++] = (struct file){ (enum nt_spool_part)part,
								  run->lists[part].items[i].name };
	}
	return 0;
}

/* From a random portion on: a user's many files, which are limited, are not always the first. */
static void settle_all(struct run *run)
{
	unsigned broken = 0;
	uint32_t first = 0;

	(void)getrandom(&first, sizeof(first), GRND_NONBLOCK);
	run->first = first % (run->count / PORTION + 1) * PORTION;
	while (run->reached < run->count && broken < BROKEN_MAX && nt_clock_ms() < run->deadline_ms)
		broken = settle_portion(run) ? 0 : broken + 1;
}

static void print_sum(const struct run *run)
{
	printf("%zu written, %zu there already, %zu left for later, %zu failed", run->written,
	       run->present, run->later, run->failed);
	if (run->lost > 0)
		printf(", %zu given up", run->lost);
	if (run->reached < run->count)
		printf(", %zu left for the next run", run->count - run->reached);
	putchar('\n');
}

static int work_on(struct run *run, struct nt_error *err)
{
	run->parts[NT_PART_SENT] = nt_spool_open(run->request->directory, NT_PART_SENT, true, err);
	if (run->parts[NT_PART_SENT] < 0 || collect(run, err) < 0)
		return -1;
	settle_all(run);
	print_sum(run);
	return run->failed + run->lost > 0 ? 1 : 0;
}

static int backfill(const struct request *request)
{
	struct run run = { .request = request,
			   .deadline_ms = nt_clock_ms() + request->time_s * 1000,
			   .parts = { -1, -1 } };
	struct nt_error err;
	int spool_fd = open_spool(request->directory, &err);
	int rc;

	/* The plugin creates the directory when it first needs it. */
	if (spool_fd < 0 && errno == ENOENT && request->directory == request->site->spool) {
		printf("nothing to do: there is no %s\n", request->directory);
		return NT_EXIT_OK;
	}
	if (spool_fd < 0)
		return nt_command_fail(&err);
	run.parts[NT_PART_WAITING] = spool_fd;
	rc = work_on(&run, &err);
	for (int part = 0; part < NT_QUEUE_PARTS; part++) {
		if (run.parts[part] >= 0)
			close(run.parts[part]);
		nt_spool_list_fini(&run.lists[part]);
	}
	free(run.files);
	return rc > 0 ? NT_EXIT_FAILED : nt_command_status(rc, &err);
}

static void init(void *argument)
{
	struct request *request = argument;

	request->site = nt_site_records();
	request->directory = request->site->spool;
	request->time_s = TIME_S;
	request->quiet_s = QUIET_S;
}

static int start(void *request, char *argv[])
{
	(void)argv;
	if (geteuid() == 0)
		return backfill(request);
	nt_command_complain("only root may read the spool and write to accounting");
	return NT_EXIT_FAILED;
}

static const struct nt_option options[] = {
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
	       "nccl-tune.conf). Without one it is given up, which is reported."
	       "\vExit status: 0 if all records were added or wait, 1 if something failed or "
	       "was given up (see stderr), 2 for a usage error.",
	.request_bytes = sizeof(struct request),
	.init = init,
	.run = start,
};
