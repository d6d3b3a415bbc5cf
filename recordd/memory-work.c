/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Write to the user's memory: what the step's tasks measured before the program, while that runs,
 * for the user's other jobs, because a step may take days; the step's own measurements at its end,
 * with the result of the comparison for the step's record. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "recordd/parts.h"
#include "recordd/recordd-log.h"
#include "recordd/step-entry.h"
#include "recordd/step-record.h"
#include "recordd/user-child.h"

#define LIFE_MS 10000 /* after the step's end */
#define EVERY_MS 5000 /* until the program's ranks have told the hardware and the network */
#define TRIES 120
#define LIMIT_MS 10000
#define STORED 's'
#define WAITS 'p' /* for the parts of other nodes */

/* A byte once it is stored. */
static int store_calibration(const struct nt_recordd *recordd, struct nt_step_read *read,
			     int out_fd)
{
	const char word = STORED;

	if (!read->calibrated || !read->ticket.memory[0] || read->sum.comm_count == 0 ||
	    nt_remember_calibration(&read->sum, &recordd->arguments, &read->ticket,
				    &read->calibration, false) != NULL)
		return 0;
	return write(out_fd, &word, 1) < 0;
}

/* Do all nodes' parts have this one's fingerprint? -1: not all are there. Ranks that only measure
 * have not compared it. */
static int ask_parts(const struct nt_recordd *recordd, const struct nt_sum *sum, int out_fd)
{
	const char byte = WAITS;
	struct nt_long_set set;
	int alike = -1;

	if (sum->comm_count == 0 || nt_ranks_alike(sum, recordd->arguments.nodes) ||
	    write(out_fd, &byte, 1) < 0)
		return -1;
	nt_long_set_init(&set);
	if (nt_parts_gather(&recordd->arguments, &set, recordd->ended_ms + NT_PARTS_LATE_MS) == 0)
		alike = nt_parts_alike(&recordd->arguments, &set);
	nt_long_set_fini(&set);
	return alike;
}

/* The record; after a line end, what went wrong. */
static int remember(const struct nt_recordd *recordd, struct nt_step_read *read, int out_fd)
{
	char text[NT_STEP_RECORD_MAX + 2 + sizeof(((struct nt_step_memory *)0)->remark)];
	struct nt_step_memory remembered;
	size_t bytes;

	if (!read->launched || !read->ticket.memory[0])
		return 0;
	nt_step_remember(&read->sum, &recordd->arguments, &read->ticket,
			 read->calibrated && !recordd->calibration.stored ? &read->calibration
									  : NULL,
			 ask_parts(recordd, &read->sum, out_fd), &remembered);
	bytes = nt_step_record_make(recordd, read, &remembered, text);
	if (remembered.failed)
		bytes += (size_t)snprintf(text + bytes, sizeof(text) - bytes, "\n%s",
					  remembered.remark);
	return write(out_fd, text, bytes) < 0;
}

/* In the child. */
static int run(void *argument, int out_fd)
{
	const struct nt_recordd *recordd = argument;
	struct nt_step_read read;
	int rc;

	if (nt_recordd_become_user(recordd, out_fd, NT_REMEMBER_FILE_MAX) < 0)
		return 1;
	nt_step_record_read(recordd, &read);
	rc = recordd->final ? remember(recordd, &read, out_fd)
			    : store_calibration(recordd, &read, out_fd);
	nt_step_read_fini(&read);
	return rc;
}

static bool is_due(const struct nt_recordd *recordd, int64_t now_ms)
{
	const struct nt_calibration_work *own = &recordd->calibration;

	if (recordd->final)
		return strcmp(recordd->arguments.ticket, "-") != 0;
	return recordd->reading.calibrated && !own->stored && own->tries < TRIES &&
	       now_ms >= own->next_ms;
}

void nt_memory_look(struct nt_recordd *recordd, int64_t now_ms)
{
	const struct nt_arguments *arguments = &recordd->arguments;
	struct nt_work *work = &recordd->work[NT_WORK_MEMORY];
	struct nt_error err;

	if (!arguments->first || arguments->memory_mib == NT_ARGUMENTS_NO_MEMORY || work->last ||
	    !is_due(recordd, now_ms))
		return;
	if (nt_work_runs(work)) {
		if (recordd->final)
			nt_work_hurry(work, recordd->ended_ms + NT_WORK_STOP_MS);
		return;
	}
	recordd->calibration.tries++;
	recordd->calibration.next_ms = now_ms + EVERY_MS;
	if (nt_recordd_begin(recordd, NT_WORK_MEMORY,
			     recordd->final ? recordd->ended_ms + LIFE_MS : now_ms + LIMIT_MS,
			     &err) < 0 &&
	    recordd->final)
		nt_recordd_tell(recordd, NT_ARGUMENTS_ERROR, "nothing will be remembered: %s",
				err.text);
}

static void end_last(struct nt_recordd *recordd, const struct nt_work_result *result)
{
	const char *complaint = result->why;
	const char *end = memchr(result->out, '\n', result->bytes);

	if (!complaint && result->status != 0)
		complaint = "its process failed";
	if (end)
		complaint = end + 1;
	if (nt_reader_take(recordd, result->out, end ? (size_t)(end - result->out) : result->bytes,
			   NULL))
		recordd->reading.with_memory = true;
	if (complaint)
		nt_recordd_tell(recordd, NT_ARGUMENTS_ERROR, "the user's memory: %s", complaint);
}

static void ended(void *argument, const struct nt_work_result *result)
{
	struct nt_recordd *recordd = argument;

	if (recordd->work[NT_WORK_MEMORY].last)
		end_last(recordd, result);
	else if (!result->why && result->bytes == 1 && result->out[0] == STORED)
		recordd->calibration.stored = true;
}

static bool take_byte(void *argument, char byte)
{
	struct nt_recordd *recordd = argument;

	if (byte != WAITS)
		return false;
	recordd->memory_waits = true;
	return true;
}

const struct nt_work_kind nt_memory_kind = { .run = run, .byte = take_byte, .ended = ended };

bool nt_memory_holds(const struct nt_recordd *recordd, int64_t now_ms)
{
	return nt_work_runs(&recordd->work[NT_WORK_MEMORY]) &&
	       !(recordd->memory_waits && now_ms >= recordd->ended_ms + NT_PARTS_MS);
}
