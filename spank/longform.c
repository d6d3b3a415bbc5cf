/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* longform.c - see longform.h: the part of nt-recordd */
#include "spank/longform.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "record/long.h"
#include "record/printable.h"
#include "record/step.h"
#include "spank/longsay.h"

#define OUTPUT_MAX 512

bool nt_longform_wanted(const struct nt_longform *longform)
{
	return longform->errand->long_mib > 0 && longform->errand->long_dir[0] == '/';
}

bool nt_longform_due(const struct nt_longform *longform, uint64_t signature)
{
	return nt_longform_wanted(longform) && longform->child.pid == 0 && signature != 0 &&
	       signature != longform->signature && nt_clock_ms() >= longform->next_ms;
}

static int64_t children_ms(void)
{
	struct rusage usage;

	getrusage(RUSAGE_CHILDREN, &usage);
	return (int64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000 +
	       (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1000;
}

static void take_word(struct nt_longform *longform, char word, const char *why)
{
	longform->written = longform->written || word == NT_LONGSAY_WRITTEN;
	longform->why[0] = '\0';
	if (word != NT_LONGSAY_WRITTEN && word != NT_LONGSAY_NOTHING)
		snprintf(longform->why, sizeof(longform->why), "%.*s",
			 (int)sizeof(longform->why) - 1, why[0] ? why : "its process ended early");
	nt_printable(longform->why);
}

/* said: the first word of its result, where that was heard already. */
static void finish(struct nt_longform *longform, char said, int64_t deadline_ms)
{
	const struct nt_child_bounds bounds = { .deadline_ms = deadline_ms,
						.max_bytes = OUTPUT_MAX };
	int64_t used_ms = children_ms();
	struct nt_error err = { "" };
	struct nt_child child;
	const char *out;

	if (nt_child_end(&child, &longform->child, &bounds, &err) < 0)
		nt_error_set(&err, "its directory does not answer");
	out = child.out ? child.out : "";
	while (!said && (out[0] == NT_LONGSAY_READ || out[0] == NT_LONGSAY_PLACED))
		longform->stage = *out++ == NT_LONGSAY_READ ? NT_LONGFORM_READ : NT_LONGFORM_PLACED;
	longform->killed = longform->stage == NT_LONGFORM_BEGUN && child.status == 128 + SIGKILL &&
			   !err.text[0];
	if (said)
		take_word(longform, said, out);
	else
		take_word(longform, out[0], out[0] ? out + 1 : err.text);
	nt_child_fini(&child);
	longform->stage = NT_LONGFORM_ENDED;
	used_ms = (children_ms() - used_ms) * NT_LONGFORM_SHARE;
	longform->next_ms = longform->begun_ms +
			    (used_ms > NT_LONGFORM_EVERY_MS ? used_ms : NT_LONGFORM_EVERY_MS);
}

void nt_longform_end(struct nt_longform *longform, int64_t deadline_ms)
{
	if (longform->child.pid != 0)
		finish(longform, '\0', deadline_ms);
}

void nt_longform_start(struct nt_longform *longform, uint64_t signature,
		       int (*call)(void *argument, int out_fd), void *argument)
{
	struct nt_error err;

	/* Who is behind would put an older part in place of a newer one. */
	nt_longform_end(longform, nt_clock_ms());
	longform->stage = NT_LONGFORM_BEGUN;
	longform->begun_ms = nt_clock_ms();
	longform->signature = signature;
	if (nt_child_start(&longform->child, call, argument, &err) < 0) {
		take_word(longform, '\0', err.text);
		longform->stage = NT_LONGFORM_ENDED;
	}
}

void nt_longform_await(struct nt_longform *longform, enum nt_longform_stage stage, int64_t until_ms)
{
	char word;

	while (longform->child.pid != 0 && longform->stage < stage &&
	       nt_child_wait(&longform->child, until_ms)) {
		if (read(longform->child.fds[0], &word, 1) != 1)
			word = '\0';
		if (word == NT_LONGSAY_READ)
			longform->stage = NT_LONGFORM_READ;
		else if (word == NT_LONGSAY_PLACED)
			longform->stage = NT_LONGFORM_PLACED;
		else
			finish(longform, word, nt_clock_ms() + NT_CHILD_STOP_MS);
	}
}

void nt_longform_look(struct nt_longform *longform)
{
	const int64_t now_ms = nt_clock_ms();

	nt_longform_await(longform, NT_LONGFORM_PLACED + 1, now_ms);
	if (longform->child.pid != 0 && now_ms - longform->begun_ms >= NT_LONGFORM_LIMIT_MS)
		nt_longform_end(longform, now_ms);
}

/* ---- in the step's record */

static int directory_of(const struct nt_errand *errand, char *out, size_t out_bytes)
{
	char job[NT_LONG_NAME_MAX];
	int bytes;

	nt_long_job_name(job, errand->cluster, errand->job);
	bytes = snprintf(out, out_bytes, "%s/%s", errand->long_dir, job);
	return bytes > 0 && (size_t)bytes < out_bytes ? bytes : -1;
}

#define FRAME sizeof(",\"" NT_STEP_LONG "\":\"\"")

size_t nt_longform_room(const struct nt_errand *errand)
{
	char directory[NT_STEP_LONG_MAX];
	int bytes = directory_of(errand, directory, sizeof(directory));

	if (errand->long_mib == 0 || errand->long_dir[0] != '/' || bytes < 0)
		return 0;
	return (size_t)bytes + FRAME;
}

/* Another member at the end of the object, if it has room and is nothing but text. */
static void add_member(char *record, size_t record_bytes, const char *name, const char *value)
{
	size_t used = strlen(record);
	size_t bytes = strlen(name) + strlen(value) + sizeof(",\"\":\"\"}");

	if (used < 2 || record[used - 1] != '}' || used - 1 + bytes > record_bytes ||
	    strpbrk(value, "\"\\{}"))
		return;
	snprintf(record + used - 1, bytes, ",\"%s\":\"%s\"}", name, value);
}

static bool has_reason(const struct nt_errand *errand)
{
	return errand->long_mib > 0 && errand->long_dir[0] != '/' && errand->long_dir[0] != '-';
}

void nt_longform_tell(const struct nt_longform *longform, char *record, size_t record_bytes)
{
	char text[NT_STEP_LONG_MAX];

	if (longform->why[0])
		snprintf(text, sizeof(text), "%s", longform->why);
	else if (has_reason(longform->errand))
		snprintf(text, sizeof(text), "%.*s", (int)sizeof(text) - 1,
			 longform->errand->long_dir);
	else
		text[0] = '\0';
	for (char *c = nt_printable(text); *c; c++) {
		if (strchr("\"\\{}", *c))
			*c = '?';
	}
	if (text[0])
		add_member(record, record_bytes, NT_STEP_NO_LONG, text);
	if ((longform->written || longform->stage == NT_LONGFORM_PLACED) &&
	    directory_of(longform->errand, text, sizeof(text)) >= 0)
		add_member(record, record_bytes, NT_STEP_LONG, text);
}
