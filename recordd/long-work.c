/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Write the node's part of the step's long form (longform.h): at the step's end, and before that if
 * the step stalls. If the site has a directory for it, root first makes the user's own in it. */
#include <string.h>
#include <unistd.h>
#include "recordd/recordd-log.h"
#include "recordd/step-record.h"
#include "recordd/user-child.h"

#define MAKE_MS 200 /* for the directory, once a part is due */
#define LIFE_MS 14000 /* after the step's end, for the last part */

/* ---- the directory */

static int run_maker(void *argument, int out_fd)
{
	const struct nt_recordd *recordd = argument;
	const struct nt_arguments *arguments = &recordd->arguments;
	struct nt_error err;

	nt_child_close_others(out_fd, -1);
	if (nt_longform_make_directory(arguments->long_dir, arguments->uid, arguments->gid, &err) ==
	    0)
		return 0;
	return write(out_fd, err.text, strlen(err.text)) < 0;
}

static void tell_maker(const struct nt_recordd *recordd, const char *why)
{
	nt_recordd_tell(recordd, NT_ARGUMENTS_INFO, "%s: %s", recordd->arguments.long_dir, why);
}

static void maker_ended(void *argument, const struct nt_work_result *result)
{
	const struct nt_recordd *recordd = argument;

	if (result->why)
		tell_maker(recordd, result->why);
	else if (result->bytes > 0)
		nt_recordd_tell(recordd, NT_ARGUMENTS_INFO, "its long form: %s", result->out);
}

const struct nt_work_kind nt_long_maker_kind = { .run = run_maker, .ended = maker_ended };

/* It has until a part is due. */
void nt_long_maker_look(struct nt_recordd *recordd, int64_t now_ms)
{
	struct nt_error err;

	(void)now_ms;
	if (!recordd->work[NT_WORK_MAKER].begun && nt_longform_wanted(&recordd->arguments) &&
	    !recordd->arguments.long_parents &&
	    nt_recordd_begin(recordd, NT_WORK_MAKER, NT_WORK_NO_DEADLINE, &err) < 0)
		tell_maker(recordd, err.text);
}

/* ---- the part */

static int run_writer(void *argument, int out_fd)
{
	const struct nt_recordd *recordd = argument;
	const struct nt_arguments *arguments = &recordd->arguments;
	char text[NT_STEP_RECORD_MAX + 2] = "";
	struct nt_step_read read;
	struct nt_ranks ranks = { .count = 0 };

	if (nt_recordd_become_user(recordd, out_fd, nt_longform_bytes(arguments)) < 0)
		return 1;
	nt_step_collect(recordd, nt_ranks_keep, &ranks);
	nt_ranks_sort(&ranks);
	(void)nt_longform_say(out_fd, NT_LONGSAY_READ, "");
	nt_step_read_init(&read, arguments);
	for (size_t i = 0; i < ranks.count; i++)
		nt_step_read_add(&read, &ranks.item[i], arguments);
	(void)nt_step_record_make(recordd, &read, NULL, text);
	nt_step_read_fini(&read);
	return nt_longform_write(arguments, recordd->final, &ranks, text + 1, out_fd);
}

static bool take_byte(void *argument, char byte)
{
	struct nt_recordd *recordd = argument;

	return nt_longform_take_byte(&recordd->longform, byte);
}

static void end_writer(struct nt_recordd *recordd, const struct nt_work_result *result)
{
	nt_longform_end(&recordd->longform, result);
	if (recordd->work[NT_WORK_LONGFORM].last && recordd->longform.why[0])
		nt_recordd_tell(recordd, NT_ARGUMENTS_INFO, "its long form: %s",
				recordd->longform.why);
}

static void writer_ended(void *argument, const struct nt_work_result *result)
{
	struct nt_recordd *recordd = argument;
	struct nt_work_result shown = *result;

	/* Not once it has read the records: it may have written. Nor once these may be gone. */
	if (recordd->longform.stage == NT_LONGFORM_BEGUN && !recordd->released)
		(void)nt_recordd_retry(recordd, NT_WORK_LONGFORM, result);
	if (shown.why)
		shown.why = "its directory does not respond";
	end_writer(recordd, &shown);
}

const struct nt_work_kind nt_long_writer_kind = { .run = run_writer,
						  .byte = take_byte,
						  .ended = writer_ended };

static bool is_due(const struct nt_recordd *recordd, int64_t now_ms)
{
	const struct nt_rank_reading *reading = &recordd->reading;

	if (recordd->final)
		return !recordd->work[NT_WORK_LONGFORM].last;
	return reading->still && nt_longform_due(&recordd->longform, reading->changes, now_ms);
}

static void start(struct nt_recordd *recordd, int64_t now_ms)
{
	const int64_t deadline_ms = recordd->final ? recordd->ended_ms + LIFE_MS
						   : now_ms + NT_LONGFORM_LIMIT_MS;
	struct nt_error err;

	/* A writer that is late would replace a newer part with an older one. */
	nt_work_stop(&recordd->work[NT_WORK_LONGFORM]);
	nt_longform_begin(&recordd->longform, recordd->reading.changes, now_ms);
	if (nt_recordd_begin(recordd, NT_WORK_LONGFORM, deadline_ms, &err) < 0)
		end_writer(recordd, &(struct nt_work_result){ .out = "", .why = err.text });
}

void nt_long_writer_look(struct nt_recordd *recordd, int64_t now_ms)
{
	if (!nt_longform_wanted(&recordd->arguments) || !is_due(recordd, now_ms))
		return;
	if (nt_work_runs(&recordd->work[NT_WORK_MAKER]))
		nt_work_hurry(&recordd->work[NT_WORK_MAKER], now_ms + MAKE_MS);
	else
		start(recordd, now_ms);
}

static bool has(const struct nt_recordd *recordd, enum nt_longform_stage stage)
{
	return !nt_longform_wanted(&recordd->arguments) ||
	       (recordd->work[NT_WORK_LONGFORM].last &&
		(recordd->longform.stage == NT_LONGFORM_ENDED || recordd->longform.stage >= stage));
}

bool nt_long_work_has_read(const struct nt_recordd *recordd)
{
	return has(recordd, NT_LONGFORM_READ);
}

bool nt_long_work_has_dir(const struct nt_recordd *recordd)
{
	return has(recordd, NT_LONGFORM_PLACED);
}
