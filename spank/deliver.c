/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* deliver.c - see deliver.h */
#include "spank/deliver.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <slurm/slurm.h>
#include "record/filesink.h"
#include "record/spoolkeep.h"
#include "spank/post.h"
#include "spank/step.h"

#define EARLY_LIMIT_MS 12000 /* more than a writing takes when slurmctld is away */
#define HANDED 'h' /* what the child says before its result */
#define OUTPUT_MAX 256

static struct nt_spool_entry entry_of(const struct nt_delivery *delivery)
{
	return (struct nt_spool_entry){
		.cluster = delivery->errand->cluster,
		.job = delivery->errand->job,
		.uid = delivery->errand->uid,
		.step = delivery->step,
		.record = delivery->record,
	};
}

/* The directory of files comes first in the site's list. */
static bool to_file(const struct nt_delivery *delivery)
{
	return delivery->sinks.at[0] == NT_SINK_FILE;
}

/* ---- files of root's */

static void say_dropped(const struct nt_delivery *delivery, const char *directory, int64_t dropped)
{
	if (dropped > 0)
		delivery->say(NT_ERRAND_ERROR, "%.150s: %" PRId64 " old records had to go",
			      directory, dropped);
}

static int keep(const struct nt_delivery *delivery, bool sync, struct nt_error *err)
{
	const char *spool = delivery->errand->spool;
	const struct nt_spool_entry entry = entry_of(delivery);
	int part_fd = nt_spool_open(spool, NT_PART_WAITING, true, err);
	int64_t dropped = 0;
	int rc;

	if (part_fd < 0)
		return -1;
	rc = nt_spool_write(part_fd, NT_PART_WAITING, &entry, sync, &dropped, err);
	close(part_fd);
	say_dropped(delivery, spool, dropped);
	return rc;
}

/* The step's record, or another of its job, waits. */
static bool waits(const struct nt_delivery *delivery)
{
	const struct nt_errand *errand = delivery->errand;
	struct nt_spool_list list;
	int part_fd = nt_spool_open(errand->spool, NT_PART_WAITING, false, NULL);
	bool found = part_fd >= 0 &&
		     nt_spool_list(&list, part_fd, errand->cluster, errand->job, NULL) == 0 &&
		     list.count > 0;

	if (part_fd >= 0) {
		nt_spool_list_fini(&list);
		close(part_fd);
	}
	return found;
}

/* The file stays the one that the child knows. false: it has been brought after all. */
static bool still_waits(const struct nt_delivery *delivery)
{
	const struct nt_spool_entry entry = entry_of(delivery);
	int part_fd = nt_spool_open(delivery->errand->spool, NT_PART_WAITING, false, NULL);
	bool found = part_fd >= 0 && nt_spool_sync(part_fd, &entry) == 0;

	if (part_fd >= 0)
		close(part_fd);
	return found;
}

/* From now on it is to outlive the machine. */
static void tell_waiting(struct nt_delivery *delivery, const char *why)
{
	const struct nt_errand *errand = delivery->errand;
	struct nt_error err;

	/* A batch script without a record brings those of its steps, which stay where they are. */
	if (delivery->early || delivery->told || !delivery->record[0] ||
	    (delivery->spooled && !still_waits(delivery)))
		return;
	delivery->told = true;
	if (!delivery->spooled)
		delivery->spooled = keep(delivery, true, &err) == 0;
	if (delivery->spooled)
		delivery->say(NT_ERRAND_INFO,
			      "job %" PRIu32 " step %s: the record waits in %.80s: %.160s",
			      errand->job, delivery->step, errand->spool, why);
	else
		delivery->say(NT_ERRAND_ERROR,
			      "job %" PRIu32 " step %s: the record is lost: %.100s; %.100s",
			      errand->job, delivery->step, why, err.text);
}

/* ---- the child that talks to slurmctld */

static void say_handed(void *argument)
{
	const char word = HANDED;

	(void)!write(*(const int *)argument, &word, 1);
}

static int run_post(void *argument, int out_fd)
{
	const struct nt_delivery *delivery = argument;
	const struct nt_errand *errand = delivery->errand;
	struct nt_post post = {
		.entry = entry_of(delivery),
		.sinks = &delivery->sinks,
		.spool = errand->spool,
		.rundir = errand->rundir,
		.early = delivery->early,
		.last = errand->step == NT_STEP_BATCH && !delivery->early,
		.handed = delivery->early ? NULL : say_handed,
		.argument = &out_fd,
	};
	char text[1 + sizeof(((struct nt_error *)0)->text)];
	struct nt_error err = { "" };

	close(NT_ERRAND_FD);
	if (!delivery->record[0])
		post.entry.record = NULL;
	slurm_init(NULL);
	text[0] = (char)nt_post(&post, &err);
	snprintf(text + 1, sizeof(text) - 1, "%s", err.text);
	return write(out_fd, text, strlen(text)) < 0;
}

static void take_result(struct nt_delivery *delivery, const char *out, size_t bytes,
			struct nt_error *err)
{
	if (bytes > 0 && out[0] == HANDED) {
		out++;
		bytes--;
	}
	if (bytes == 0)
		return;
	delivery->result = (enum nt_account)out[0];
	if (bytes > 1)
		snprintf(err->text, sizeof(err->text), "%s", out + 1);
}

static void conclude(struct nt_delivery *delivery, const char *why)
{
	delivery->tried_ms = nt_clock_ms();
	if (!delivery->record[0])
		return;
	if (delivery->result == NT_ACCOUNT_WRITTEN)
		memcpy(delivery->written, delivery->record, sizeof(delivery->written));
	else if (delivery->result != NT_ACCOUNT_QUEUED)
		tell_waiting(delivery, why);
}

/* true: nothing is left to be done, as it is there, or as there is no other place for it. */
static bool write_file(struct nt_delivery *delivery)
{
	const struct nt_spool_entry entry = entry_of(delivery);
	const char *directory = delivery->sinks.directory;
	struct nt_error err = { "" };
	int64_t dropped = 0;

	delivery->result = NT_ACCOUNT_FAILED;
	if (nt_filesink_put(directory, &entry, &dropped, &err) == 0)
		delivery->result = NT_ACCOUNT_WRITTEN;
	say_dropped(delivery, directory, dropped);
	if (delivery->result != NT_ACCOUNT_WRITTEN && delivery->sinks.count > 1)
		return false;
	conclude(delivery, err.text);
	return true;
}

static void take_record(struct nt_delivery *delivery, const char *record)
{
	snprintf(delivery->record, sizeof(delivery->record), "%s", record);
	delivery->told = delivery->spooled = false;
}

void nt_deliver_early(struct nt_delivery *delivery, const char *record)
{
	struct nt_error err;

	take_record(delivery, record);
	delivery->early = true;
	delivery->tried_ms = nt_clock_ms();
	delivery->result = NT_ACCOUNT_FAILED;
	if (to_file(delivery) && write_file(delivery))
		return;
	(void)keep(delivery, false, &err);
	(void)nt_child_start(&delivery->early_child, run_post, delivery, &err);
}

/* Its answer comes with its end. */
static void end_early(struct nt_delivery *delivery, int64_t deadline_ms)
{
	const struct nt_child_bounds bounds = { .deadline_ms = deadline_ms,
						.max_bytes = OUTPUT_MAX };
	struct nt_error err;
	struct nt_child child;

	if (nt_child_end(&child, &delivery->early_child, &bounds, &err) == 0 && delivery->early) {
		take_result(delivery, child.out ? child.out : "", child.out_bytes, &err);
		conclude(delivery, err.text);
	}
	nt_child_fini(&child);
}

bool nt_deliver_early_done(struct nt_delivery *delivery)
{
	int64_t now_ms = nt_clock_ms();

	if (delivery->early_child.pid == 0)
		return true;
	if (!nt_child_wait(&delivery->early_child, now_ms) &&
	    now_ms - delivery->tried_ms < EARLY_LIMIT_MS)
		return false;
	end_early(delivery, now_ms + NT_CHILD_STOP_MS);
	return true;
}

void nt_deliver_begin(struct nt_delivery *delivery, const char *record)
{
	struct nt_error err = { "" };

	take_record(delivery, record);
	delivery->early = false;
	delivery->result = NT_ACCOUNT_FAILED;
	if (to_file(delivery) && record[0] && write_file(delivery))
		return;
	if (record[0])
		delivery->spooled = keep(delivery, false, &err) == 0;
	else if (delivery->errand->step != NT_STEP_BATCH || !waits(delivery))
		return;
	if (nt_child_start(&delivery->child, run_post, delivery, &err) < 0)
		tell_waiting(delivery, err.text);
}

static void end_child(struct nt_delivery *delivery, int64_t deadline_ms)
{
	const struct nt_child_bounds bounds = { .deadline_ms = deadline_ms,
						.max_bytes = OUTPUT_MAX };
	struct nt_error err = { "libslurm ended the process" };
	char answer[OUTPUT_MAX + 1];
	struct nt_child child;
	bool told = delivery->told;

	if (delivery->child.pid == 0)
		return;
	if (nt_child_end(&child, &delivery->child, &bounds, &err) == 0) {
		snprintf(answer, sizeof(answer), "%.1s%s", &delivery->first,
			 child.out ? child.out : "");
		take_result(delivery, answer, strlen(answer), &err);
	}
	nt_child_fini(&child);
	conclude(delivery, err.text);
	if (told && delivery->result == NT_ACCOUNT_WRITTEN)
		delivery->say(NT_ERRAND_INFO,
			      "job %" PRIu32 " step %s: the record was delivered after all",
			      delivery->errand->job, delivery->step);
}

void nt_deliver_wait(struct nt_delivery *delivery, int64_t until_ms)
{
	char word = '\0';

	delivery->first = '\0';
	if (delivery->child.pid == 0)
		return;
	if (!nt_child_wait(&delivery->child, until_ms)) {
		tell_waiting(delivery, "slurmctld has not answered yet");
		return;
	}
	if (read(delivery->child.fds[0], &word, 1) == 1 && word == HANDED)
		return;
	/* It has ended without: what it has to say is told while slurmstepd listens. */
	delivery->first = word;
	end_child(delivery, until_ms + NT_CHILD_STOP_MS);
}

void nt_deliver_end(struct nt_delivery *delivery, int64_t deadline_ms)
{
	end_child(delivery, deadline_ms);
	if (delivery->early_child.pid != 0)
		end_early(delivery, deadline_ms);
}
