/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Deliver the step's record: into the site's directory of files if the site wants that alone,
 * otherwise into the spool, from where job-writer.h delivers it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <slurm/slurm.h>
#include "lib/clock.h"
#include "record/filesink.h"
#include "record/step.h"
#include "accounting/job-writer.h"
#include "recordd/parts.h"
#include "recordd/recordd-log.h"
#include "recordd/step-record.h"
#include "recordd/user-child.h"
#include "spank/step/step-name.h"

/* Between early records, first and at most; it doubles each time. While something is explored the
 * record changes all the time. */
#define AGAIN_MS 10000
#define AGAIN_MAX_MS 60000
#define QUEUED_MS 3000 /* ... if the job's next update was not due */
#define EARLY_LIMIT_MS 12000 /* longer than an update takes if slurmctld is down */
#define LIFE_MS 15000 /* after the step's end */
#define HANDED 'h' /* the child's message that the step need not wait */

static struct nt_spool_entry entry_of(const struct nt_recordd *recordd)
{
	return (struct nt_spool_entry){
		.cluster = recordd->arguments.cluster,
		.job = recordd->arguments.job,
		.uid = recordd->arguments.uid,
		.step = recordd->step,
		.record = recordd->delivery.record,
	};
}

/* ---- files of root's */

static void say_dropped(const char *directory, int dropped)
{
	if (dropped > 0)
		nt_recordd_say(NT_ARGUMENTS_ERROR, "%.150s: %d old records were removed", directory,
			       dropped);
}

static int put_in_spool(const struct nt_recordd *recordd, bool sync, struct nt_error *err)
{
	const char *spool = recordd->arguments.spool;
	const struct nt_spool_entry entry = entry_of(recordd);
	int part_fd = nt_spool_open(spool, NT_PART_WAITING, true, err);
	int rc;

	if (part_fd < 0)
		return -1;
	rc = nt_spool_put(part_fd, &entry, sync, err);
	close(part_fd);
	say_dropped(spool, rc);
	return rc;
}

/* A record of the job waits in the spool. */
static bool waits(const struct nt_recordd *recordd)
{
	const struct nt_arguments *arguments = &recordd->arguments;
	struct nt_spool_list list;
	int part_fd = nt_spool_open(arguments->spool, NT_PART_WAITING, false, NULL);
	bool found = part_fd >= 0 &&
		     nt_spool_list(&list, part_fd, arguments->cluster, arguments->job, NULL) == 0 &&
		     list.count > 0;

	if (part_fd >= 0) {
		nt_spool_list_fini(&list);
		close(part_fd);
	}
	return found;
}

/* Sync the file that the child delivers; false: it has been delivered meanwhile. */
static bool still_waits(const struct nt_recordd *recordd)
{
	const struct nt_spool_entry entry = entry_of(recordd);
	int part_fd = nt_spool_open(recordd->arguments.spool, NT_PART_WAITING, false, NULL);
	bool found = part_fd >= 0 && nt_spool_sync(part_fd, &entry) == 0;

	if (part_fd >= 0)
		close(part_fd);
	return found;
}

/* Report that the record waits. From now on it is to survive a crash of the machine. */
static void tell_waiting(struct nt_recordd *recordd, const char *why)
{
	struct nt_delivery *delivery = &recordd->delivery;
	struct nt_error err;

	/* A batch script without a record delivers those of its steps. */
	if (!recordd->final || delivery->told || !delivery->record[0] ||
	    (delivery->spooled && !still_waits(recordd)))
		return;
	if (!delivery->spooled)
		delivery->spooled = put_in_spool(recordd, true, &err) >= 0;
	/* The child may still deliver it. */
	if (!delivery->spooled && nt_work_runs(&recordd->work[NT_WORK_DELIVERY]))
		return;
	delivery->told = true;
	if (delivery->spooled)
		nt_recordd_tell(recordd, NT_ARGUMENTS_INFO, "the record waits in %.80s: %.160s",
				recordd->arguments.spool, why);
	else
		nt_recordd_tell(recordd, NT_ARGUMENTS_ERROR, "the record is lost: %.100s; %.100s",
				why, err.text);
}

static void conclude(struct nt_recordd *recordd, const char *why)
{
	struct nt_delivery *delivery = &recordd->delivery;

	delivery->tried_ms = nt_clock_ms();
	if (!delivery->record[0])
		return;
	if (nt_delivered_well(delivery->result))
		memcpy(delivery->written, delivery->record, sizeof(delivery->written));
	else if (delivery->result != NT_DELIVERED_LATER)
		tell_waiting(recordd, why);
}

/* If the site wants files alone, this process writes them itself. */
static void write_file(struct nt_recordd *recordd)
{
	struct nt_delivery *delivery = &recordd->delivery;
	const struct nt_spool_entry entry = entry_of(recordd);
	struct nt_error err = { "" };
	int rc = nt_filesink_put(delivery->sinks.directory, &entry, &err);

	if (rc >= 0)
		delivery->result = NT_DELIVERED_FILED;
	say_dropped(delivery->sinks.directory, rc);
	conclude(recordd, err.text);
}

/* ---- the child that talks to slurmctld */

static void say_handed(void *argument)
{
	const char byte = HANDED;

	(void)!write(*(const int *)argument, &byte, 1);
}

static enum nt_job_urgency urgency_of(const struct nt_recordd *recordd)
{
	if (!recordd->final)
		return NT_JOB_EARLY;
	/* The job ends with its batch script. */
	return recordd->arguments.step == NT_STEP_BATCH ? NT_JOB_AT_ONCE : NT_JOB_ENDED;
}

static int run(void *argument, int out_fd)
{
	const struct nt_recordd *recordd = argument;
	struct nt_job_writing writing = {
		.entry = entry_of(recordd),
		.spooled = recordd->delivery.spooled,
		.sinks = &recordd->delivery.sinks,
		.spool = recordd->arguments.spool,
		.rundir = recordd->arguments.rundir,
		.urgency = urgency_of(recordd),
		.handed = recordd->final ? say_handed : NULL,
		.argument = &out_fd,
	};
	char text[1 + sizeof(((struct nt_error *)0)->text)];
	struct nt_error err = { "" };

	nt_child_close_others(out_fd, -1);
	if (!recordd->delivery.record[0])
		writing.entry.record = NULL;
	slurm_init(NULL);
	text[0] = (char)nt_job_write(&writing, &err);
	snprintf(text + 1, sizeof(text) - 1, "%s", err.text);
	return write(out_fd, text, strlen(text)) < 0;
}

static void take_result(struct nt_recordd *recordd, const struct nt_work_result *result)
{
	struct nt_delivery *delivery = &recordd->delivery;

	if (result->bytes > 0)
		delivery->result = (enum nt_delivered)result->out[0];
	conclude(recordd, result->bytes > 1 ? result->out + 1
			  : result->why	    ? result->why
					    : "libslurm ended the process");
}

/* The record to deliver: with the whole step's findings, and with the path of its long form, if
 * these fit. */
static const char *record_of(const struct nt_recordd *recordd, char text[NT_STEP_RECORD_MAX + 1])
{
	const char *record = recordd->reading.record;

	memcpy(text, record, NT_STEP_RECORD_MAX + 1);
	if (recordd->nodes.known)
		nt_step_put_findings(text, nt_step_record_size(&recordd->arguments),
				     recordd->nodes.findings.item, recordd->nodes.findings.count);
	nt_longform_tell(&recordd->longform, text, NT_STEP_RECORD_MAX + 1);
	if (text[0] && nt_step_check(text, strlen(text), NULL) < 0)
		memcpy(text, record, NT_STEP_RECORD_MAX + 1);
	return text;
}

/* record: "" delivers only what waits in the spool, if the step has none. */
static void start(struct nt_recordd *recordd, enum nt_recordd_work kind, const char *record,
		  int64_t deadline_ms)
{
	struct nt_delivery *delivery = &recordd->delivery;
	struct nt_error err = { "" };

	snprintf(delivery->record, sizeof(delivery->record), "%s", record);
	delivery->told = delivery->spooled = delivery->handed = false;
	delivery->tried_ms = nt_clock_ms();
	delivery->result = NT_DELIVERED_FAILED;
	if (record[0] && !delivery->sinks.admincomment) {
		write_file(recordd);
		return;
	}
	if (record[0])
		delivery->spooled = put_in_spool(recordd, false, &err) >= 0;
	else if (!waits(recordd))
		return;
	if (nt_recordd_begin(recordd, kind, deadline_ms, &err) < 0)
		tell_waiting(recordd, err.text);
}

/* ---- while the step runs */

static bool is_early_due(struct nt_delivery *delivery, int64_t now_ms)
{
	const int64_t again_ms = delivery->again_ms > 0 ? delivery->again_ms : AGAIN_MS;
	const bool queued = delivery->result == NT_DELIVERED_LATER;

	if (delivery->tried_ms == 0)
		return true;
	if (now_ms - delivery->tried_ms < (queued ? QUEUED_MS : again_ms))
		return false;
	if (!queued)
		delivery->again_ms = 2 * again_ms < AGAIN_MAX_MS ? 2 * again_ms : AGAIN_MAX_MS;
	return true;
}

void nt_deliver_early_look(struct nt_recordd *recordd, int64_t now_ms)
{
	struct nt_delivery *delivery = &recordd->delivery;
	char record[NT_STEP_RECORD_MAX + 1];

	if (recordd->final || !recordd->arguments.first || !recordd->reading.decided ||
	    nt_work_runs(&recordd->work[NT_WORK_EARLY]) ||
	    delivery->result == NT_DELIVERED_NOWHERE ||
	    strcmp(record_of(recordd, record), delivery->written) == 0 ||
	    !is_early_due(delivery, now_ms))
		return;
	start(recordd, NT_WORK_EARLY, record, now_ms + EARLY_LIMIT_MS);
}

static void early_ended(void *argument, const struct nt_work_result *result)
{
	struct nt_recordd *recordd = argument;

	/* Then the last record's delivery has begun, and its state counts. */
	if (!recordd->final)
		take_result(recordd, result);
}

const struct nt_work_kind nt_deliver_early_kind = { .run = run, .ended = early_ended };

/* ---- at its end */

static bool take_byte(void *argument, char byte)
{
	struct nt_recordd *recordd = argument;

	if (byte != HANDED || recordd->delivery.handed)
		return false;
	recordd->delivery.handed = true;
	return true;
}

static void ended(void *argument, const struct nt_work_result *result)
{
	struct nt_recordd *recordd = argument;
	struct nt_delivery *delivery = &recordd->delivery;
	const bool told = delivery->told;

	take_result(recordd, result);
	if (told && nt_delivered_well(delivery->result))
		nt_recordd_tell(recordd, NT_ARGUMENTS_INFO, "the record was delivered after all");
}

const struct nt_work_kind nt_deliver_kind = { .run = run, .byte = take_byte, .ended = ended };

static void start_last(struct nt_recordd *recordd, enum nt_delivery_stage stage, int64_t now_ms)
{
	char record[NT_STEP_RECORD_MAX + 1];
	const bool news = strcmp(record_of(recordd, record), recordd->delivery.written) != 0;

	recordd->delivery.stage = stage;
	recordd->delivery.tell_ms = (stage == NT_DELIVERY_FIRST ? recordd->ended_ms : now_ms) +
				    NT_RECORDD_RELEASE_MS;
	if (news || recordd->arguments.step == NT_STEP_BATCH)
		start(recordd, NT_WORK_DELIVERY, news ? record : "", recordd->ended_ms + LIFE_MS);
}

/* All that adds to the record has done so, or has had its time. */
static bool is_record_ready(const struct nt_recordd *recordd, int64_t now_ms)
{
	const int64_t since_ms = now_ms - recordd->ended_ms;

	const struct nt_work *reader = &recordd->work[NT_WORK_READER];

	return reader->last && !nt_work_runs(reader) &&
	       (!nt_memory_holds(recordd, now_ms) || since_ms >= NT_DELIVER_MEMORY_MS) &&
	       (!nt_work_runs(&recordd->work[NT_WORK_NODES]) || since_ms >= NT_PARTS_MS) &&
	       (nt_long_work_has_dir(recordd) || since_ms >= NT_DELIVER_LONG_MS);
}

static bool others_run(const struct nt_recordd *recordd)
{
	return nt_work_runs(&recordd->work[NT_WORK_MEMORY]) ||
	       nt_work_runs(&recordd->work[NT_WORK_NODES]) ||
	       nt_work_runs(&recordd->work[NT_WORK_LONGFORM]);
}

void nt_deliver_look(struct nt_recordd *recordd, int64_t now_ms)
{
	struct nt_delivery *delivery = &recordd->delivery;

	if (!recordd->final || !recordd->arguments.first)
		return;
	if (nt_work_runs(&recordd->work[NT_WORK_DELIVERY])) {
		if (!delivery->handed && now_ms >= delivery->tell_ms)
			tell_waiting(recordd, "slurmctld has not answered yet");
		return;
	}
	switch (delivery->stage) {
	case NT_DELIVERY_NOT_BEGUN:
		if (is_record_ready(recordd, now_ms))
			start_last(recordd, NT_DELIVERY_FIRST, now_ms);
		break;
	case NT_DELIVERY_FIRST:
		delivery->stage = others_run(recordd) ? NT_DELIVERY_PAUSE : NT_DELIVERY_OVER;
		break;
	case NT_DELIVERY_PAUSE:
		if (!others_run(recordd))
			start_last(recordd, NT_DELIVERY_SECOND, now_ms);
		break;
	case NT_DELIVERY_SECOND: delivery->stage = NT_DELIVERY_OVER; break;
	case NT_DELIVERY_OVER: break;
	}
}

bool nt_deliver_is_handed(const struct nt_recordd *recordd)
{
	const struct nt_delivery *delivery = &recordd->delivery;

	return delivery->stage != NT_DELIVERY_NOT_BEGUN &&
	       (delivery->handed || !nt_work_runs(&recordd->work[NT_WORK_DELIVERY]));
}
