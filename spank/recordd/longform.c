/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The state of the long form in nt-recordd, and its place in the step's record. */
#include "spank/recordd/longform.h"

#include <stdio.h>
#include <string.h>
#include "record/long.h"
#include "lib/printable.h"
#include "record/step.h"

bool nt_longform_wanted(const struct nt_arguments *arguments)
{
	return arguments->long_mib > 0 && arguments->long_dir[0] == '/';
}

bool nt_longform_due(const struct nt_longform *longform, uint64_t signature, int64_t now_ms)
{
	return nt_longform_wanted(longform->arguments) && longform->stage == NT_LONGFORM_ENDED &&
	       signature != 0 && signature != longform->signature && now_ms >= longform->next_ms;
}

void nt_longform_begin(struct nt_longform *longform, uint64_t signature, int64_t now_ms)
{
	longform->stage = NT_LONGFORM_BEGUN;
	longform->next_ms = now_ms + NT_LONGFORM_EVERY_MS;
	longform->signature = signature;
}

bool nt_longform_word(struct nt_longform *longform, char word)
{
	if (word == NT_LONGSAY_READ)
		longform->stage = NT_LONGFORM_READ;
	else if (word == NT_LONGSAY_PLACED)
		longform->stage = NT_LONGFORM_PLACED;
	return word == NT_LONGSAY_READ || word == NT_LONGSAY_PLACED;
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

void nt_longform_end(struct nt_longform *longform, const struct nt_work_result *result)
{
	if (result->bytes > 0)
		take_word(longform, result->out[0], result->out + 1);
	else
		take_word(longform, '\0', result->why ? result->why : "");
	longform->stage = NT_LONGFORM_ENDED;
}

/* ---- in the step's record */

static int directory_of(const struct nt_arguments *arguments, char *out, size_t out_bytes)
{
	char job[NT_LONG_NAME_MAX];
	int bytes;

	nt_long_job_name(job, arguments->cluster, arguments->job);
	bytes = snprintf(out, out_bytes, "%s/%s", arguments->long_dir, job);
	return bytes > 0 && (size_t)bytes < out_bytes ? bytes : -1;
}

#define FRAME sizeof(",\"" NT_STEP_LONG "\":\"\"")

size_t nt_longform_room(const struct nt_arguments *arguments)
{
	char directory[NT_STEP_LONG_MAX];
	int bytes = directory_of(arguments, directory, sizeof(directory));

	if (!nt_longform_wanted(arguments) || bytes < 0)
		return 0;
	return (size_t)bytes + FRAME;
}

/* Adds a member to the object, if it has room for one, and if value is plain text. */
static void add_member(char *record, size_t record_bytes, const char *name, const char *value)
{
	size_t used = strlen(record);
	size_t bytes = strlen(name) + strlen(value) + sizeof(",\"\":\"\"}");

	if (used < 2 || record[used - 1] != '}' || used - 1 + bytes > record_bytes ||
	    strpbrk(value, "\"\\{}"))
		return;
	snprintf(record + used - 1, bytes, ",\"%s\":\"%s\"}", name, value);
}

static bool has_reason(const struct nt_arguments *arguments)
{
	return arguments->long_mib > 0 && arguments->long_dir[0] != '/' &&
	       arguments->long_dir[0] != '-';
}

void nt_longform_tell(const struct nt_longform *longform, char *record, size_t record_bytes)
{
	char text[NT_STEP_LONG_MAX];

	if (longform->why[0])
		snprintf(text, sizeof(text), "%s", longform->why);
	else if (has_reason(longform->arguments))
		snprintf(text, sizeof(text), "%.*s", (int)sizeof(text) - 1,
			 longform->arguments->long_dir);
	else
		text[0] = '\0';
	if (text[0])
		add_member(record, record_bytes, NT_STEP_NO_LONG, nt_printable_json(text));
	if ((longform->written || longform->stage == NT_LONGFORM_PLACED) &&
	    directory_of(longform->arguments, text, sizeof(text)) >= 0)
		add_member(record, record_bytes, NT_STEP_LONG, text);
}
