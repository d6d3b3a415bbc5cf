/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* A step's record into a job's AdminComment. */
#include "record/splice.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "contract/names.h"
#include "record/label.h"
#include "record/scan.h"
#include "record/step.h"

#define LAUNCH_BYTES 34 /* the longest name of a profile, in quotes */

/* A member of the job's record: a step, or something that a later version put there. */
struct part {
	struct nt_text name, value;
	bool step;
	bool thin; /* write mode and count only */
	bool gone;
	unsigned long long more;
	struct nt_text mode;
	struct nt_text launch, measured; /* no bytes: not there */
};

struct job {
	struct part *parts;
	size_t count;
	unsigned long long more; /* steps that were dropped */
};

/* Like nt_step_name_valid(), but for a text that no NUL ends. */
static bool is_step_name(struct nt_text name)
{
	char text[NT_STEP_NAME_MAX];

	if (name.bytes >= sizeof(text))
		return false;
	memcpy(text, name.at, name.bytes);
	text[name.bytes] = '\0';
	return nt_step_name_valid(text);
}

/* A count as JSON spells it; 0 for anything else. */
static unsigned long long number_of(struct nt_text value)
{
	unsigned long long number = 0;

	if (value.bytes > 9)
		return 0;
	for (size_t i = 0; i < value.bytes; i++) {
		if (value.at[i] < '0' || value.at[i] > '9')
			return 0;
		number = number * 10 + (unsigned)(value.at[i] - '0');
	}
	return number;
}

/* What is left to say of a step whose entries have no room: their number, and the launch profile
 * with what it was worth. */
static void thin_out(struct part *part)
{
	struct nt_member member;
	struct nt_scan scan;

	part->thin = true;
	part->more = 0;
	part->mode = nt_text_of("\"?\"");
	nt_scan_begin(&scan, part->value);
	while (nt_scan_next(&scan, &member) > 0) {
		if (nt_text_is(member.name, "mode") && member.value.at[0] == '"' &&
		    member.value.bytes < 16)
			part->mode = member.value;
		else if (nt_text_is(member.name, "launch") && member.value.at[0] == '"' &&
			 member.value.bytes <= LAUNCH_BYTES)
			part->launch = member.value;
		else if (nt_text_is(member.name, "measured") && member.value.bytes <= 12)
			part->measured = member.value;
		else if (nt_text_is(member.name, NT_STEP_MORE))
			part->more += number_of(member.value);
		else if (member.value.at[0] == '{')
			part->more += nt_scan_count(member.value);
	}
}

/* Ours must be an object of the version that is written here. */
static enum nt_splice read_job(struct job *job, struct nt_text value)
{
	struct nt_member member;
	struct nt_scan scan;
	bool version = false;

	nt_scan_begin(&scan, value);
	job->parts = calloc(nt_scan_count(value) + 1, sizeof(job->parts[0]));
	if (!job->parts)
		return NT_SPLICE_NO_MEMORY;
	while (nt_scan_next(&scan, &member) > 0) {
		struct part *part = &job->parts[job->count];

		if (nt_text_is(member.name, "v")) {
			version = number_of(member.value) == NT_RECORD_VERSION;
		} else if (nt_text_is(member.name, NT_STEP_MORE)) {
			job->more = number_of(member.value);
		} else {
			part->name = member.name;
			part->value = member.value;
			part->step = is_step_name(member.name) && member.value.at[0] == '{';
			job->count++;
		}
	}
	return version ? NT_SPLICED : NT_SPLICE_FOREIGN;
}

/* The number of bytes of ours as snprintf counts them; out may be NULL. */
static size_t write_job(const struct job *job, char *out, size_t out_bytes)
{
	size_t used = 0;

#define PUT(...) \
	used += (size_t)snprintf(out ? out + used : NULL, out ? out_bytes - used : 0, __VA_ARGS__)
	PUT("{\"v\":%d", NT_RECORD_VERSION);
	if (job->more > 0)
		PUT(",\"more\":%llu", job->more);
	for (size_t i = 0; i < job->count; i++) {
		const struct part *part = &job->parts[i];

		if (part->gone)
			continue;
		PUT(",\"%.*s\":", (int)part->name.bytes, part->name.at);
		if (!part->thin) {
			PUT("%.*s", (int)part->value.bytes, part->value.at);
			continue;
		}
		PUT("{\"mode\":%.*s", (int)part->mode.bytes, part->mode.at);
		if (part->launch.bytes > 0)
			PUT(",\"launch\":%.*s", (int)part->launch.bytes, part->launch.at);
		if (part->measured.bytes > 0)
			PUT(",\"measured\":%.*s", (int)part->measured.bytes, part->measured.at);
		PUT(",\"more\":%llu}", part->more);
	}
	PUT("}");
#undef PUT
	return used;
}

/* Make room, the oldest first; the last part is the step that is being written and stays. */
static bool fit(struct job *job)
{
	for (size_t i = 0; i + 1 < job->count; i++) {
		if (write_job(job, NULL, 0) <= NT_JOB_RECORD_MAX)
			return true;
		if (job->parts[i].step && !job->parts[i].gone)
			thin_out(&job->parts[i]);
	}
	for (size_t i = 0; i + 1 < job->count; i++) {
		if (write_job(job, NULL, 0) <= NT_JOB_RECORD_MAX)
			return true;
		if (job->parts[i].step && !job->parts[i].gone) {
			job->parts[i].gone = true;
			job->more++;
		}
	}
	return write_job(job, NULL, 0) <= NT_JOB_RECORD_MAX;
}

/* The text around ours: before and behind, which are empty where there is no text yet. */
struct frame {
	struct nt_text before, behind;
	bool key; /* ours is not there yet: write its name, and a comma if others are */
	bool comma;
};

static void find_frame(struct nt_text comment, struct frame *frame, struct nt_text *ours)
{
	struct nt_member member;
	struct nt_scan scan;
	const char *last = NULL;

	ours->at = NULL;
	nt_scan_begin(&scan, comment);
	while (nt_scan_next(&scan, &member) > 0) {
		last = member.value.at + member.value.bytes;
		if (nt_text_is(member.name, NT_RECORD_KEY))
			*ours = member.value;
	}
	frame->key = !ours->at;
	frame->comma = last != NULL;
	if (ours->at) {
		frame->before = (struct nt_text){ comment.at, (size_t)(ours->at - comment.at) };
		last = ours->at + ours->bytes;
	} else {
		if (!last)
			last = (const char *)memchr(comment.at, '{', comment.bytes) + 1;
		frame->before = (struct nt_text){ comment.at, (size_t)(last - comment.at) };
	}
	frame->behind = (struct nt_text){ last, comment.bytes - (size_t)(last - comment.at) };
}

static enum nt_splice join(const struct frame *frame, const struct job *job, char **out)
{
	static const char key[] = "\"" NT_RECORD_KEY "\":";
	size_t ours_bytes = write_job(job, NULL, 0);
	size_t room = frame->before.bytes + frame->behind.bytes + sizeof(key) + ours_bytes + 4;
	int used;

	if (room > NT_COMMENT_MAX)
		return NT_SPLICE_NO_ROOM;
	*out = malloc(room);
	if (!*out)
		return NT_SPLICE_NO_MEMORY;
	used = snprintf(*out, room, "%.*s%s%s", (int)frame->before.bytes, frame->before.at,
			frame->key && frame->comma ? "," : "", frame->key ? key : "");
	used += (int)write_job(job, *out + used, room - (size_t)used);
	snprintf(*out + used, room - (size_t)used, "%.*s", (int)frame->behind.bytes,
		 frame->behind.at);
	return NT_SPLICED;
}

/* Take the step's old record out, put the new one at the end. */
static enum nt_splice replace(struct job *job, const char *step, const char *record)
{
	struct part *added = &job->parts[job->count];

	for (size_t i = 0; i < job->count; i++) {
		if (!nt_text_is(job->parts[i].name, step))
			continue;
		if (nt_text_is(job->parts[i].value, record))
			return NT_SPLICE_UNCHANGED;
		job->parts[i].gone = true;
	}
	added->name = nt_text_of(step);
	added->value = nt_text_of(record);
	added->step = true;
	job->count++;
	return NT_SPLICED;
}

/* What thin_out() makes of it, or what that has become of an earlier record of the step: members
 * of entries are objects. */
static bool is_thin(struct nt_text value)
{
	struct nt_member member;
	struct nt_scan scan;
	bool more = false;

	nt_scan_begin(&scan, value);
	while (nt_scan_next(&scan, &member) > 0) {
		if (member.value.at[0] == '{' || nt_text_is(member.name, NT_STEP_WHY))
			return false;
		more |= nt_text_is(member.name, NT_STEP_MORE);
	}
	return more;
}

bool nt_splice_holds(const char *comment, const char *step, const char *record)
{
	struct nt_text text = nt_text_of(comment);
	struct nt_text ours, value;

	if (!nt_scan_is(text, '{') || !nt_scan_member(text, NT_RECORD_KEY, &ours))
		return false;
	if (!nt_scan_member(ours, step, &value))
		return nt_scan_member(ours, NT_STEP_MORE, &value);
	return nt_text_is(value, record) || is_thin(value);
}

enum nt_splice nt_splice_step(const char *comment, const char *step, const char *record, char **out)
{
	struct nt_text text = nt_text_of(comment);
	struct frame frame;
	struct job job = { NULL, 0, 0 };
	struct nt_text ours;
	enum nt_splice result;

	*out = NULL;
	if (strspn(comment, " \t\r\n") == text.bytes)
		text = nt_text_of("{}");
	if (!nt_scan_is(text, '{'))
		return NT_SPLICE_FOREIGN;
	find_frame(text, &frame, &ours);
	if (frame.key)
		ours = nt_text_of("{\"v\":1}");
	result = read_job(&job, ours);
	if (result == NT_SPLICED)
		result = replace(&job, step, record);
	if (result == NT_SPLICED && !fit(&job))
		result = NT_SPLICE_NO_ROOM;
	if (result == NT_SPLICED)
		result = join(&frame, &job, out);
	free(job.parts);
	return result;
}
