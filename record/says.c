/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "record/says.h"

#include <ctype.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "contract/reason.h"
#include "lib/append.h"
#include "lib/table.h"

#define NOTHING_MS 0.05 /* less reads 0.0 */
#define AS_FAST 0.005 /* less reads 1.00 x */
#define BELIEVED_MAX 1e12 /* of any unit */

/* A number, or the one at index in an array; 0: none, or not credible. */
static double number_in(struct nt_text value, unsigned index)
{
	char text[96], *at = text;
	double number = 0;

	if (value.bytes >= sizeof(text))
		return 0;
	memcpy(text, value.at, value.bytes);
	text[value.bytes] = '\0';
	at += text[0] == '[';
	for (; index > 0 && at; index--)
		at = (at = strchr(at, ',')) ? at + 1 : NULL;
	if (at)
		number = strtod(at, NULL);
	return fabs(number) <= BELIEVED_MAX ? number : 0;
}

/* Why nothing was saved, in increasing order of importance. */
enum why { WHY_NONE, WHY_SEEN, WHY_LITTLE, WHY_COMM, WHY_OPEN, WHY_USED, WHY_BEST };

static enum why why_of(int reason)
{
	if (reason == NT_REASON_P2P)
		return WHY_SEEN;
	if (reason == NT_REASON_UNWORTHY)
		return WHY_LITTLE;
	if (reason == NT_REASON_REMEMBERED)
		return WHY_USED;
	switch (nt_reason_about(reason)) {
	case NT_ABOUT_KEY: return WHY_BEST;
	case NT_ABOUT_OPEN_KEY: return WHY_OPEN;
	case NT_ABOUT_COMM: return WHY_COMM;
	case NT_ABOUT_NOTHING:
	case NT_ABOUT_CALLS:
	case NT_ABOUT_STEP: break;
	}
	return WHY_NONE;
}

static void note_why(struct nt_says *says, int reason)
{
	const enum why why = why_of(reason);

	if ((int)why <= says->why)
		return;
	says->why = (int)why;
	says->reason = reason;
}

/* Where a reason's code or argument ends. Older releases wrote '|'. */
static const char *find_end(const char *from, const char *end)
{
	while (from < end && *from != ':' && *from != '|')
		from++;
	return from;
}

/* Takes a reason's next argument, cut to fit. Returns where the rest begins. */
static const char *take_argument(const char *from, const char *end, char *out, size_t out_bytes)
{
	const char *stop = find_end(from, end);
	const size_t bytes = (size_t)(stop - from);

	snprintf(out, out_bytes, "%.*s", (int)(bytes < out_bytes ? bytes : out_bytes - 1), from);
	return stop < end ? stop + 1 : end;
}

static void take_behind(struct nt_says *says, const char *from, const char *end)
{
	from = take_argument(from, end, says->late, sizeof(says->late));
	(void)take_argument(from, end, says->call, sizeof(says->call));
	says->late[0] = (char)tolower((unsigned char)says->late[0]);
}

/* A reason's code: the last word of a text, before its arguments. */
static void take_code(struct nt_says *says, const char *from, const char *end)
{
	char code[NT_REASON_CODE_MAX];
	const char *at = from, *stop = find_end(from, end);
	size_t bytes;

	for (const char *c = from; c < stop; c++) {
		if (*c == ' ')
			at = c + 1;
	}
	bytes = (size_t)(stop - at);
	if (bytes >= sizeof(code))
		return;
	memcpy(code, at, bytes);
	code[bytes] = '\0';
	note_why(says, nt_reason_parse(code));
	if (nt_reason_parse(code) == NT_REASON_BEHIND && stop < end)
		take_behind(says, stop + 1, end);
}

/* ["8r2n 1 nopmix","algo"], ["3 little"] */
static void take_codes(struct nt_says *says, struct nt_text array)
{
	const char *at = array.at, *end = array.at + array.bytes, *close;

	while ((at = memchr(at, '"', (size_t)(end - at))) != NULL) {
		close = memchr(at + 1, '"', (size_t)(end - at - 1));
		if (!close)
			return;
		take_code(says, at + 1, close);
		at = close + 1;
	}
}

/* Of the keys of a communicator. */
static void take_keys(struct nt_says *says, struct nt_text keys)
{
	struct nt_json_member member;
	struct nt_json_scanner scan;

	nt_json_scan_begin(&scan, keys);
	while (nt_json_scan_next(&scan, &member) > 0) {
		struct nt_text why;

		if (nt_json_scan_member(member.value, "why", &why))
			take_codes(says, why);
	}
}

/* A step's own figures. */
struct figures {
	double step_us, speed, saved_ms, spent_ms, estimated_ms;
	double calibration_s;
	bool saves, observed, early, cut;
};

static void take_figure(struct figures *figures, const struct nt_json_member *member)
{
	static const struct {
		const char *name;
		size_t at;
		unsigned index;
	} numbers[] = {
		{ "step_us", offsetof(struct figures, step_us), 1 },
		{ "measured", offsetof(struct figures, speed), 0 },
		{ "saved_ms", offsetof(struct figures, saved_ms), 0 },
		{ "spent_ms", offsetof(struct figures, spent_ms), 0 },
		{ "estimated_ms", offsetof(struct figures, estimated_ms), 0 },
		{ "calibration_s", offsetof(struct figures, calibration_s), 0 },
	};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		if (nt_text_is(member->name, numbers[i].name))
			*(double *)((char *)figures + numbers[i].at) = number_in(member->value,
										 numbers[i].index);
	}
	figures->saves |= nt_text_is(member->name, "saved_ms");
	figures->early |= nt_text_is(member->name, "early");
	figures->cut |= nt_text_is(member->name, "as_of");
	figures->observed |= nt_text_is(member->name, "mode") &&
			     nt_text_is(member->value, "\"observe\"");
}

void nt_says_add(struct nt_says *says, struct nt_text step)
{
	struct figures figures = { 0 };
	struct nt_says with = *says;
	struct nt_json_member member;
	struct nt_json_scanner scan;

	with.late[0] = '\0';
	nt_json_scan_begin(&scan, step);
	while (nt_json_scan_next(&scan, &member) > 0) {
		take_figure(&figures, &member);
		if (member.value.at[0] == '{')
			take_keys(&with, member.value);
		else if (nt_text_is(member.name, "why") || nt_text_is(member.name, "rest"))
			take_codes(&with, member.value);
	}
	*says = with;
	if (figures.step_us > 0) {
		says->step_us = figures.step_us;
		says->speed = figures.speed;
	}
	says->any = true;
	says->observed |= figures.observed;
	says->saves |= figures.saves && !figures.observed;
	says->saved_ms += figures.saved_ms;
	says->spent_ms += figures.spent_ms + 1e3 * figures.calibration_s;
	says->estimated_ms += figures.estimated_ms;
	says->runs |= figures.early;
	says->cut = figures.cut && !figures.early;
}

static bool is_gain_known(const struct nt_says *says)
{
	return says->step_us > 0 && says->speed > 0 && fabs(says->speed - 1) >= AS_FAST;
}

/* Adds a piece if it fits as a whole. */
static void add(char out[NT_SAYS_MAX], const char *piece)
{
	if (strlen(out) + strlen(piece) < NT_SAYS_MAX)
		nt_append(out, NT_SAYS_MAX, "%s", piece);
}

static void add_step(const struct nt_says *says, char out[NT_SAYS_MAX])
{
	char piece[96], now[32], before[32];

	nt_time_text(says->step_us, now, sizeof(now));
	nt_time_text(says->step_us * says->speed, before, sizeof(before));
	if (is_gain_known(says))
		snprintf(piece, sizeof(piece), "step %s, was %s (%.2f x); ", now, before,
			 says->speed);
	else
		snprintf(piece, sizeof(piece), "step %s; ", now);
	if (says->step_us > 0)
		add(out, piece);
}

static const char *nothing_words(const struct nt_says *says, char *out, size_t out_bytes)
{
	static const char *const words[] = {
		[WHY_NONE] = "",
		[WHY_SEEN] = ": only sends and receives",
		[WHY_LITTLE] = ": too little communication",
		[WHY_COMM] = ": not tuned",
		[WHY_OPEN] = ": nothing was decided",
		[WHY_USED] = "",
		[WHY_BEST] = ": NCCL's choice is best",
	};

	if (says->why == WHY_OPEN && says->runs)
		snprintf(out, out_bytes, "nothing saved yet: still exploring");
	else if (says->why == WHY_COMM)
		snprintf(out, out_bytes, "nothing saved: not tuned (%s)",
			 nt_reason_code(says->reason));
	else if (says->why == WHY_USED)
		snprintf(out, out_bytes, "remembered choices used");
	else
		snprintf(out, out_bytes, "nothing saved%s", words[says->why]);
	return out;
}

static void add_calls(const struct nt_says *says, char out[NT_SAYS_MAX])
{
	char piece[NT_SAYS_MAX], text[32];
	const bool nothing = fabs(says->saved_ms) < NOTHING_MS;

	if (!nothing) {
		snprintf(piece, sizeof(piece), "%s %s", says->saved_ms > 0 ? "saved" : "lost",
			 nt_duration_text(fabs(says->saved_ms), text, sizeof(text)));
		add(out, piece);
	} else if (says->estimated_ms >= NOTHING_MS) {
		snprintf(piece, sizeof(piece), "saved about %s (estimate)",
			 nt_duration_text(says->estimated_ms, text, sizeof(text)));
		add(out, piece);
	} else if (says->observed && !says->saves) {
		add(out, "only measured");
	} else if (says->any && !is_gain_known(says) && (says->saves || says->why != WHY_NONE)) {
		add(out, nothing_words(says, piece, sizeof(piece)));
	}
	if (!nothing && says->spent_ms > fabs(says->saved_ms)) {
		snprintf(piece, sizeof(piece), ", spent %s",
			 nt_duration_text(says->spent_ms, text, sizeof(text)));
		add(out, piece);
	}
}

static const char *stall_words(const struct nt_says *says, char out[NT_SAYS_MAX])
{
	char piece[NT_SAYS_MAX];

	nt_append(out, NT_SAYS_MAX, "stalled: others wait for %s", says->late);
	snprintf(piece, sizeof(piece), " (%s)", says->call);
	if (says->call[0])
		add(out, piece);
	return out;
}

const char *nt_says_text(const struct nt_says *says, char out[NT_SAYS_MAX])
{
	size_t bytes;

	out[0] = '\0';
	if (says->late[0])
		return stall_words(says, out);
	if (says->runs)
		add(out, "so far: ");
	else if (says->cut)
		add(out, "cut short: ");
	bytes = strlen(out);
	add_step(says, out);
	add_calls(says, out);
	if (!out[bytes])
		out[0] = '\0';
	bytes = strlen(out);
	if (bytes > 2 && strcmp(out + bytes - 2, "; ") == 0)
		out[bytes - 2] = '\0';
	return out;
}
