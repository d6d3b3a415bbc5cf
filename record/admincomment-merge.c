/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* A step's record into a job's AdminComment. */
#include "record/admincomment-merge.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "contract/names.h"
#include "record/member-names.h"
#include "lib/json-scanner.h"
#include "record/says.h"
#include "record/step.h"

#define LAUNCH_BYTES 34 /* the longest name of a profile, in quotes */
#define WRONG "\"results are wrong" /* a remark of spank/recordd/remember.c */
#define REMARK_BYTES 200

/* Figures that a step keeps when it is thinned out. */
static const char *const numbers[] = { "measured",     "spent_ms",    "saved_ms",
				       "estimated_ms", "calibration", "calibration_s" };

#define NUMBERS (sizeof(numbers) / sizeof(numbers[0]))
#define NUMBER_BYTES 12

/* A member of the job's record: a step, or something that a later version put there. */
struct part {
	struct nt_text name, value;
	bool step;
	bool thin; /* write mode and count only */
	bool gone;
	unsigned long long more;
	struct nt_text mode;
	struct nt_text launch, number[NUMBERS], remark; /* no bytes: not there */
};

struct job {
	struct part *parts;
	size_t count;
	unsigned long long more; /* steps that were dropped */
	char says[NT_SAYS_MAX]; /* "": nothing is known */
};

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

/* What nobody may miss. */
static bool is_grave(struct nt_text remark)
{
	return remark.bytes > sizeof(WRONG) && remark.bytes <= REMARK_BYTES &&
	       memcmp(remark.at, WRONG, sizeof(WRONG) - 1) == 0;
}

/* What is left to say of a step whose entries have no room: their number, what they cost and saved,
 * the launch profile with what it was worth, and that results were wrong. */
static void thin_out(struct part *part)
{
	struct nt_json_member member;
	struct nt_json_scanner scan;

	part->thin = true;
	part->more = 0;
	part->mode = nt_text_of("\"?\"");
	nt_json_scan_begin(&scan, part->value);
	while (nt_json_scan_next(&scan, &member) > 0) {
		if (nt_text_is(member.name, "mode") && member.value.at[0] == '"' &&
		    member.value.bytes < 16)
			part->mode = member.value;
		else if (nt_text_is(member.name, "launch") && member.value.at[0] == '"' &&
			 member.value.bytes <= LAUNCH_BYTES)
			part->launch = member.value;
		else if (nt_text_is(member.name, "remark") && is_grave(member.value))
			part->remark = member.value;
		else if (nt_text_is(member.name, NT_STEP_MORE))
			part->more += number_of(member.value);
		else if (member.value.at[0] == '{')
			part->more += nt_json_scan_count(member.value);
		for (size_t i = 0; i < NUMBERS; i++) {
			if (nt_text_is(member.name, numbers[i]) &&
			    member.value.bytes <= NUMBER_BYTES)
				part->number[i] = member.value;
		}
	}
}

/* Ours must be an object of the version that is written here; so many steps will be added. */
static enum nt_admincomment_merge read_job(struct job *job, struct nt_text value, size_t added)
{
	struct nt_json_member member;
	struct nt_json_scanner scan;
	bool version = false;

	nt_json_scan_begin(&scan, value);
	job->parts = calloc(nt_json_scan_count(value) + added, sizeof(job->parts[0]));
	if (!job->parts)
		return NT_ADMINCOMMENT_MERGE_NO_MEMORY;
	while (nt_json_scan_next(&scan, &member) > 0) {
		struct part *part = &job->parts[job->count];

		if (nt_text_is(member.name, "v")) {
			version = number_of(member.value) == NT_RECORD_VERSION;
		} else if (nt_text_is(member.name, NT_STEP_MORE)) {
			job->more = number_of(member.value);
		} else if (!nt_text_is(member.name, NT_STEP_SAYS)) {
			part->name = member.name;
			part->value = member.value;
			part->step = nt_step_member_is(&member);
			job->count++;
		}
	}
	return version ? NT_ADMINCOMMENT_MERGE_DONE : NT_ADMINCOMMENT_MERGE_FOREIGN;
}

#define PUT(...) \
	used += (size_t)snprintf(out ? out + used : NULL, out ? out_bytes - used : 0, __VA_ARGS__)

/* The number of bytes as snprintf counts them, here and below; out may be NULL. */
static size_t write_head(const struct job *job, char *out, size_t out_bytes)
{
	size_t used = 0;

	PUT("{");
	if (job->says[0])
		PUT("\"" NT_STEP_SAYS "\":\"%s\",", job->says);
	PUT("\"v\":%d", NT_RECORD_VERSION);
	if (job->more > 0)
		PUT(",\"more\":%llu", job->more);
	return used;
}

static size_t write_part(const struct part *part, char *out, size_t out_bytes)
{
	size_t used = 0;

	if (part->gone)
		return 0;
	PUT(",\"%.*s\":", (int)part->name.bytes, part->name.at);
	if (!part->thin) {
		PUT("%.*s", (int)part->value.bytes, part->value.at);
		return used;
	}
	PUT("{\"mode\":%.*s", (int)part->mode.bytes, part->mode.at);
	if (part->launch.bytes > 0)
		PUT(",\"launch\":%.*s", (int)part->launch.bytes, part->launch.at);
	for (size_t i = 0; i < NUMBERS; i++) {
		if (part->number[i].bytes > 0)
			PUT(",\"%s\":%.*s", numbers[i], (int)part->number[i].bytes,
			    part->number[i].at);
	}
	if (part->remark.bytes > 0)
		PUT(",\"remark\":%.*s", (int)part->remark.bytes, part->remark.at);
	PUT(",\"more\":%llu}", part->more);
	return used;
}

#undef PUT

static size_t write_job(const struct job *job, char *out, size_t out_bytes)
{
	size_t used = write_head(job, out, out_bytes);

	for (size_t i = 0; i < job->count; i++)
		used += write_part(&job->parts[i], out ? out + used : NULL,
				   out ? out_bytes - used : 0);
	if (out)
		snprintf(out + used, out_bytes - used, "}");
	return used + 1;
}

/* Of all steps, before any is thinned out. */
static void summarize(struct job *job)
{
	struct nt_says says = { .saves = false };

	for (size_t i = 0; i < job->count; i++) {
		if (job->parts[i].step && !job->parts[i].gone)
			nt_says_add(&says, job->parts[i].value);
	}
	nt_says_text(&says, job->says);
}

/* Make room, the oldest first; the last part is a step that is being written and stays. */
static bool fit(struct job *job)
{
	size_t parts_bytes = write_job(job, NULL, 0) - write_head(job, NULL, 0);

	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i + 1 < job->count; i++) {
			struct part *part = &job->parts[i];

			if (parts_bytes + write_head(job, NULL, 0) <= NT_JOB_RECORD_MAX)
				return true;
			if (!part->step || part->gone)
				continue;
			parts_bytes -= write_part(part, NULL, 0);
			if (pass == 0) {
				thin_out(part);
			} else {
				part->gone = true;
				job->more++;
			}
			parts_bytes += write_part(part, NULL, 0);
		}
	}
	return parts_bytes + write_head(job, NULL, 0) <= NT_JOB_RECORD_MAX;
}

/* The text around ours: before and behind, which are empty where there is no text yet. */
struct surrounding_text {
	struct nt_text before, behind;
	bool key; /* ours is not there yet: write its name, and a comma if others are */
	bool comma;
};

static void find_frame(struct nt_text comment, struct surrounding_text *frame, struct nt_text *ours)
{
	struct nt_json_member member;
	struct nt_json_scanner scan;
	const char *last = NULL;

	ours->at = NULL;
	nt_json_scan_begin(&scan, comment);
	while (nt_json_scan_next(&scan, &member) > 0) {
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

static enum nt_admincomment_merge join(const struct surrounding_text *frame, const struct job *job,
				       char **out)
{
	static const char key[] = "\"" NT_RECORD_KEY "\":";
	size_t ours_bytes = write_job(job, NULL, 0);
	size_t room = frame->before.bytes + frame->behind.bytes + sizeof(key) + ours_bytes + 4;
	int used;

	if (room > NT_COMMENT_MAX)
		return NT_ADMINCOMMENT_MERGE_NO_ROOM;
	*out = malloc(room);
	if (!*out)
		return NT_ADMINCOMMENT_MERGE_NO_MEMORY;
	used = snprintf(*out, room, "%.*s%s%s", (int)frame->before.bytes, frame->before.at,
			frame->key && frame->comma ? "," : "", frame->key ? key : "");
	used += (int)write_job(job, *out + used, room - (size_t)used);
	snprintf(*out + used, room - (size_t)used, "%.*s", (int)frame->behind.bytes,
		 frame->behind.at);
	return NT_ADMINCOMMENT_MERGE_DONE;
}

/* Take the step's old record out, put the new one at the end. */
static bool replace(struct job *job, const struct nt_admincomment_merge_step *step)
{
	struct part *added = &job->parts[job->count];

	for (size_t i = 0; i < job->count; i++) {
		if (job->parts[i].gone || !nt_text_is(job->parts[i].name, step->step))
			continue;
		if (nt_text_is(job->parts[i].value, step->record))
			return false;
		job->parts[i].gone = true;
	}
	added->name = nt_text_of(step->step);
	added->value = nt_text_of(step->record);
	added->step = true;
	job->count++;
	return true;
}

/* What thin_out() makes of it, or what that has become of an earlier record of the step: members
 * of entries are objects. */
static bool is_thin(struct nt_text value)
{
	struct nt_json_member member;
	struct nt_json_scanner scan;
	bool more = false;

	nt_json_scan_begin(&scan, value);
	while (nt_json_scan_next(&scan, &member) > 0) {
		if (member.value.at[0] == '{' || nt_text_is(member.name, NT_STEP_WHY))
			return false;
		more |= nt_text_is(member.name, NT_STEP_MORE);
	}
	return more;
}

bool nt_admincomment_merge_holds(const char *comment, const char *step, const char *record)
{
	struct nt_text text = nt_text_of(comment);
	struct nt_text ours, value;

	if (!nt_json_scan_is(text, '{') || !nt_json_scan_member(text, NT_RECORD_KEY, &ours))
		return false;
	if (!nt_json_scan_member(ours, step, &value))
		return nt_json_scan_member(ours, NT_STEP_MORE, &value);
	return nt_text_is(value, record) || is_thin(value);
}

bool nt_admincomment_merge_shows(const char *comment, const char *step)
{
	struct nt_text text = nt_text_of(comment);
	struct nt_text ours, value;

	return nt_json_scan_is(text, '{') && nt_json_scan_member(text, NT_RECORD_KEY, &ours) &&
	       nt_json_scan_member(ours, step, &value);
}

enum nt_admincomment_merge nt_admincomment_merge_steps(
	const char *comment, const struct nt_admincomment_merge_step *steps, size_t count,
	char **out)
{
	struct nt_text text = nt_text_of(comment);
	struct surrounding_text frame;
	struct job job = { .parts = NULL };
	struct nt_text ours;
	enum nt_admincomment_merge result;
	bool changed = false;

	*out = NULL;
	if (strspn(comment, " \t\r\n") == text.bytes)
		text = nt_text_of("{}");
	if (!nt_json_scan_is(text, '{'))
		return NT_ADMINCOMMENT_MERGE_FOREIGN;
	find_frame(text, &frame, &ours);
	if (frame.key)
		ours = nt_text_of("{\"v\":1}");
	result = read_job(&job, ours, count);
	for (size_t i = 0; result == NT_ADMINCOMMENT_MERGE_DONE && i < count; i++)
		changed |= replace(&job, &steps[i]);
	if (result == NT_ADMINCOMMENT_MERGE_DONE && !changed)
		result = NT_ADMINCOMMENT_MERGE_UNCHANGED;
	if (result == NT_ADMINCOMMENT_MERGE_DONE)
		summarize(&job);
	if (result == NT_ADMINCOMMENT_MERGE_DONE && !fit(&job))
		result = NT_ADMINCOMMENT_MERGE_NO_ROOM;
	if (result == NT_ADMINCOMMENT_MERGE_DONE)
		result = join(&frame, &job, out);
	free(job.parts);
	return result;
}

enum nt_admincomment_merge nt_admincomment_merge_step(const char *comment, const char *step,
						      const char *record, char **out)
{
	const struct nt_admincomment_merge_step one = { step, record };

	return nt_admincomment_merge_steps(comment, &one, 1, out);
}
