/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
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

/* What is left of a step whose entries have no room: a line of the table of steps, which has its
 * mode and program, the launch profile and its reason, the time of the program's own steps, what
 * was spent and saved; and that results were wrong (recordd/remember.c). */
static const struct {
	const char *name;
	size_t bytes; /* at most */
	const char *begins; /* the value */
} kept[] = {
	{ "mode", 15, "\"" },	     { "program", 50, "\"" },
	{ "launch", 34, "\"" },	     { "from", 60, "\"" },
	{ "ranks", 9, "" },	     { "nodes", 9, "" },
	{ "step_us", 48, "[" },	     { "steps", 12, "" },
	{ "measured", 12, "" },	     { "spent_ms", 12, "" },
	{ "saved_ms", 12, "" },	     { "estimated_ms", 12, "" },
	{ "calibration_s", 12, "" }, { "remark", 200, "\"results are wrong" },
};

#define KEPT (sizeof(kept) / sizeof(kept[0]))
#define KEPT_ALIKE 3 /* the first ones: mode, program and launch profile */

/* A member of the job's record: a step, or a later version's. */
struct part {
	struct nt_text name, value;
	bool step;
	bool thin; /* write what is kept, and the number of entries */
	bool gone;
	unsigned long long more;
	struct nt_text kept[KEPT]; /* no bytes: not there */
};

struct job {
	struct part *parts;
	size_t count;
	unsigned long long more; /* steps that were dropped */
	char says[NT_SAYS_MAX]; /* "": nothing is known */
};

/* 0 if it is no count. */
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

static void thin_out(struct part *part)
{
	struct nt_json_member member;
	struct nt_json_scanner scan;

	part->thin = true;
	part->more = 0;
	part->kept[0] = nt_text_of("\"?\"");
	nt_json_scan_begin(&scan, part->value);
	while (nt_json_scan_next(&scan, &member) > 0) {
		if (nt_text_is(member.name, NT_STEP_MORE))
			part->more += number_of(member.value);
		else if (member.value.at[0] == '{')
			part->more += nt_json_scan_count(member.value);
		for (size_t i = 0; i < KEPT; i++) {
			if (nt_text_is(member.name, kept[i].name) &&
			    member.value.bytes <= kept[i].bytes &&
			    nt_text_begins(member.value, kept[i].begins))
				part->kept[i] = member.value;
		}
	}
}

/* Ours must be of the current version. added: steps to come. */
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

/* Return the number of bytes, as snprintf does; out may be NULL. */
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
	for (size_t i = 0; i < KEPT; i++) {
		if (part->kept[i].bytes > 0)
			PUT("%s\"%s\":%.*s", i == 0 ? "{" : ",", kept[i].name,
			    (int)part->kept[i].bytes, part->kept[i].at);
	}
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

/* Before any step is reduced. */
static void summarize(struct job *job)
{
	struct nt_says says = { .saves = false };

	for (size_t i = 0; i < job->count; i++) {
		if (job->parts[i].step && !job->parts[i].gone)
			nt_says_add(&says, job->parts[i].value);
	}
	nt_says_text(&says, job->says);
}

static bool same_text(struct nt_text a, struct nt_text b)
{
	return a.bytes == b.bytes && (a.bytes == 0 || memcmp(a.at, b.at, a.bytes) == 0);
}

/* Is there a newer step, reduced, too, of that program with that profile? */
static bool has_like(const struct job *job, size_t at)
{
	for (size_t i = at + 1; i < job->count; i++) {
		const struct part *newer = &job->parts[i];
		size_t same = 0;

		while (same < KEPT_ALIKE && same_text(newer->kept[same], job->parts[at].kept[same]))
			same++;
		if (newer->thin && !newer->gone && same == KEPT_ALIKE)
			return true;
	}
	return false;
}

/* Reduces steps, then removes them, the oldest first: of those alike one stays as long as possible.
 * The last part is a new step and stays. */
static bool fit(struct job *job)
{
	size_t parts_bytes = write_job(job, NULL, 0) - write_head(job, NULL, 0);

	for (int pass = 0; pass < 3; pass++) {
		for (size_t i = 0; i + 1 < job->count; i++) {
			struct part *part = &job->parts[i];

			if (parts_bytes + write_head(job, NULL, 0) <= NT_JOB_RECORD_MAX)
				return true;
			if (!part->step || part->gone || (pass == 1 && !has_like(job, i)))
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

struct surrounding_text {
	struct nt_text before, behind;
	bool key; /* ours is new: write its name, and a comma after others */
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
	char *ours;
	int used;

	if (room > NT_COMMENT_MAX)
		return NT_ADMINCOMMENT_MERGE_NO_ROOM;
	*out = malloc(room);
	if (!*out)
		return NT_ADMINCOMMENT_MERGE_NO_MEMORY;
	used = snprintf(*out, room, "%.*s%s%s", (int)frame->before.bytes, frame->before.at,
			frame->key && frame->comma ? "," : "", frame->key ? key : "");
	ours = *out + used;
	used += (int)write_job(job, *out + used, room - (size_t)used);
	/* Older releases' reasons. */
	for (char *bar = strchr(ours, '|'); bar; bar = strchr(bar, '|'))
		*bar = ':';
	snprintf(*out + used, room - (size_t)used, "%.*s", (int)frame->behind.bytes,
		 frame->behind.at);
	return NT_ADMINCOMMENT_MERGE_DONE;
}

/* Removes the step's old record, and adds the new one at the end. false: it is the same. */
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

/* Was it reduced by thin_out()? Then it has no entries, which are objects. */
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
