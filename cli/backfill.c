/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* nccl-tune backfill: deliver the records in the spool to accounting. */
#include "cli/command.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>
#include "lib/clock.h"
#include "record/spool-retention.h"
#include "cli/backfill-settle.h"
#include "report/model/places.h"

#define TIME_S 60 /* of one run; the next one continues */
#define QUIET_S 900 /* programs that write at a job's end have done so by then */
#define SECONDS_MAX 86400
#define BROKEN_MAX 3 /* queries of accounting that fail one after the other */

struct request {
	struct nt_record_places places;
	const char *directory;
	bool dry_run, list, retry;
	int64_t time_s, quiet_s;
};

struct work {
	const struct request *request;
	struct nt_backfill backfill;
	struct nt_spool_list lists[2]; /* waiting, sent */
	struct nt_backfill_file *files;
	size_t count, first, reached;
};

static const char *const part_names[] = { "waiting", "sent", "dead" };

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
	int *parts = work->backfill.parts;

	parts[NT_PART_WAITING] = spool_fd;
	for (int part = NT_PART_SENT; part <= NT_PART_DEAD; part++) {
		parts[part] = nt_spool_open(work->request->directory, (enum nt_spool_part)part,
					    true, err);
		if (parts[part] < 0)
			return -1;
	}
	return 0;
}

/* ---- a run */

static int collect(struct work *work, struct nt_error *err)
{
	size_t total = 0;

	for (int part = NT_PART_WAITING; part <= NT_PART_SENT; part++) {
		(void)nt_spool_keep(work->backfill.parts[part], (enum nt_spool_part)part, true);
		if (nt_spool_list(&work->lists[part], work->backfill.parts[part], NULL, 0, err) < 0)
			return -1;
		total += work->lists[part].count;
	}
	work->files = calloc(total + 1, sizeof(work->files[0]));
	if (!work->files)
		return nt_error_set(err, "no memory for a list of the spool");
	for (int part = NT_PART_WAITING; part <= NT_PART_SENT; part++) {
		for (size_t i = 0; i < work->lists[part].count; i++) {
			const struct nt_spool_item *item = &work->lists[part].items[i];

			work->files[work->count++] = (struct nt_backfill_file){
				(enum nt_spool_part)part, item->name
			};
		}
	}
	return 0;
}

/* The files in turn, from a random portion on: a user's many files, which are limited, are not
 * always the first. */
static size_t settle_portion(struct work *work, bool *broken)
{
	struct nt_backfill_file files[NT_BACKFILL_PORTION];
	size_t count = 0;

	while (count < NT_BACKFILL_PORTION && work->reached + count < work->count) {
		files[count] = work->files[(work->first + work->reached + count) % work->count];
		count++;
	}
	return nt_backfill_settle(&work->backfill, files, count, broken);
}

static int settle_all(struct work *work, struct nt_error *err)
{
	unsigned broken_count = 0;
	uint32_t first = 0;

	if (collect(work, err) < 0)
		return -1;
	(void)getrandom(&first, sizeof(first), GRND_NONBLOCK);
	work->first = first % (work->count / NT_BACKFILL_PORTION + 1) * NT_BACKFILL_PORTION;
	while (work->reached < work->count && broken_count < BROKEN_MAX &&
	       nt_clock_ms() < work->backfill.deadline_ms) {
		bool broken;

		work->reached += settle_portion(work, &broken);
		broken_count = broken ? broken_count + 1 : 0;
	}
	return 0;
}

static void print_sum(const struct work *work)
{
	const struct nt_backfill *backfill = &work->backfill;

	printf("%zu %s, %zu there already, %zu left for later, %zu failed", backfill->written,
	       backfill->dry_run ? "to be written" : "written", backfill->present, backfill->later,
	       backfill->failed);
	if (backfill->dead > 0)
		printf(", %zu set aside", backfill->dead);
	if (work->reached < work->count)
		printf(", %zu left for the next run", work->count - work->reached);
	putchar('\n');
}

/* ---- --list and --retry */

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
		if (nt_spooled_each(work->backfill.parts[part], show, name, err) < 0)
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
	if (nt_spool_write(work->backfill.parts[NT_PART_WAITING], NT_PART_WAITING, &entry, true,
			   NULL, err) < 0)
		return -1;
	return nt_spooled_remove(spooled, err);
}

static int work_on(struct work *work, int spool_fd, struct nt_error *err)
{
	const struct request *request = work->request;

	if (open_parts(work, spool_fd, err) < 0)
		return -1;
	if (request->list)
		return list_all(work, err);
	if (request->retry && !request->dry_run &&
	    nt_spooled_each(work->backfill.parts[NT_PART_DEAD], revive, work, err) < 0)
		return -1;
	if (settle_all(work, err) < 0)
		return -1;
	print_sum(work);
	return work->backfill.failed + work->backfill.dead > 0 ? 1 : 0;
}

static void finish(struct work *work)
{
	for (int part = NT_PART_WAITING; part <= NT_PART_DEAD; part++) {
		if (work->backfill.parts[part] >= 0)
			close(work->backfill.parts[part]);
	}
	for (size_t i = 0; i < 2; i++)
		nt_spool_list_fini(&work->lists[i]);
	free(work->files);
}

static int backfill(const struct request *request)
{
	struct work work = {
		.request = request,
		.backfill = { .dry_run = request->dry_run,
			      .sinks = &request->places.sinks,
			      .quiet_s = request->quiet_s,
			      .deadline_ms = nt_clock_ms() + request->time_s * 1000,
			      .parts = { -1, -1, -1 } },
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
