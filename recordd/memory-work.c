/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Write the step's measurements to the user's memory, and add the result of the comparison with it
 * to the step's record. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "recordd/recordd-log.h"
#include "recordd/step-record.h"
#include "recordd/user-child.h"

#define LIFE_MS 10000 /* after the step's end */

/* In the child: the record; after a line end, what went wrong. */
static int run(void *argument, int out_fd)
{
	const struct nt_recordd *recordd = argument;
	char text[NT_STEP_RECORD_MAX + 2 + sizeof(((struct nt_step_memory *)0)->remark)];
	struct nt_step_memory remembered;
	struct nt_step_read read;
	size_t bytes;

	if (nt_recordd_become_user(recordd, out_fd, NT_REMEMBER_FILE_MAX) < 0)
		return 1;
	nt_step_record_read(recordd, &read);
	if (!read.launched || !read.ticket.memory[0])
		return 0;
	nt_remember(&read.sum, &recordd->arguments, &read.ticket,
		    read.calibrated && !recordd->calibration.stored ? &read.calibration : NULL,
		    &remembered);
	bytes = nt_step_record_make(recordd, &read, &remembered, text);
	nt_step_read_fini(&read);
	if (remembered.failed)
		bytes += (size_t)snprintf(text + bytes, sizeof(text) - bytes, "\n%s",
					  remembered.remark);
	return write(out_fd, text, bytes) < 0;
}

void nt_memory_look(struct nt_recordd *recordd, int64_t now_ms)
{
	const struct nt_arguments *arguments = &recordd->arguments;
	struct nt_error err;

	(void)now_ms;
	if (!recordd->final || !arguments->first || recordd->work[NT_WORK_MEMORY].begun ||
	    arguments->memory_mib == NT_ARGUMENTS_NO_MEMORY || strcmp(arguments->ticket, "-") == 0)
		return;
	if (nt_recordd_begin(recordd, NT_WORK_MEMORY, recordd->ended_ms + LIFE_MS, &err) < 0)
		nt_recordd_tell(recordd, NT_ARGUMENTS_ERROR, "nothing will be remembered: %s",
				err.text);
}

static void ended(void *argument, const struct nt_work_result *result)
{
	struct nt_recordd *recordd = argument;
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

const struct nt_work_kind nt_memory_kind = { .run = run, .ended = ended };
