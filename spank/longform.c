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

void nt_longform_end(struct nt_longform *longform, int64_t deadline_ms)
{
	const struct nt_child_bounds bounds = { .deadline_ms = deadline_ms,
						.max_bytes = OUTPUT_MAX };
	int64_t used_ms = children_ms();
	struct nt_error err = { "" };
	struct nt_child child;
	const char *out;

	if (longform->child.pid == 0)
		return;
	if (nt_child_end(&child, &longform->child, &bounds, &err) < 0)
		snprintf(err.text, sizeof(err.text), "its directory does not answer");
	out = child.out ? child.out : "";
	if (out[0] == NT_LONGSAY_READ) {
		longform->read = true;
		out++;
	}
	longform->killed = !longform->read && child.status == 128 + SIGKILL && !err.text[0];
	take_word(longform, out[0], out[0] ? out + 1 : err.text);
	nt_child_fini(&child);
	used_ms = (children_ms() - used_ms) * NT_LONGFORM_SHARE;
	longform->next_ms = longform->begun_ms +
			    (used_ms > NT_LONGFORM_EVERY_MS ? used_ms : NT_LONGFORM_EVERY_MS);
}

void nt_longform_start(struct nt_longform *longform, uint64_t signature,
		       int (*call)(void *argument, int out_fd), void *argument)
{
	struct nt_error err;

	/* Who is behind would put an older part in place of a newer one. */
	nt_longform_end(longform, nt_clock_ms());
	longform->read = false;
	longform->begun_ms = nt_clock_ms();
	longform->signature = signature;
	if (nt_child_start(&longform->child, call, argument, &err) < 0) {
		take_word(longform, '\0', err.text);
		longform->read = true;
	}
}

void nt_longform_await_read(struct nt_longform *longform, int64_t until_ms)
{
	char word;

	if (longform->child.pid == 0 || longform->read ||
	    !nt_child_wait(&longform->child, until_ms))
		return;
	if (read(longform->child.fds[0], &word, 1) == 1 && word == NT_LONGSAY_READ)
		longform->read = true;
	else
		nt_longform_end(longform, nt_clock_ms() + NT_CHILD_STOP_MS);
}

void nt_longform_await(struct nt_longform *longform, int64_t until_ms)
{
	nt_longform_await_read(longform, until_ms);
	if (longform->child.pid == 0)
		return;
	if (longform->read && nt_child_wait(&longform->child, until_ms))
		nt_longform_end(longform, nt_clock_ms() + NT_CHILD_STOP_MS);
	else if (nt_clock_ms() - longform->begun_ms >= NT_LONGFORM_LIMIT_MS)
		nt_longform_end(longform, nt_clock_ms());
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
	if (longform->written && directory_of(longform->errand, text, sizeof(text)) >= 0)
		add_member(record, record_bytes, NT_STEP_LONG, text);
}
