/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "record/says.h"

#include <ctype.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "contract/names.h"
#include "contract/reason.h"
#include "lib/append.h"
#include "lib/table.h"

#define NOTHING_MS 0.05 /* less reads 0.0 */
#define AS_FAST 0.005 /* less reads 1.00 x */
#define BELIEVED_MAX 1e12 /* of any unit */
#define SELDOM 0.1 /* calls a step: fewer that were not timed are those of its start */
#define TOLD_SPENT 0.5 /* of what was saved: what was spent is told */

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

/* ---- the calls of a step */

static enum nt_says_why why_of(int reason)
{
	if (reason == NT_REASON_P2P)
		return NT_SAYS_SEEN;
	if (reason == NT_REASON_UNWORTHY)
		return NT_SAYS_LITTLE;
	if (reason == NT_REASON_REMEMBERED)
		return NT_SAYS_USED;
	if (reason == NT_REASON_COMM_NOT_TUNED)
		return NT_SAYS_COMM;
	switch (nt_reason_about(reason)) {
	case NT_ABOUT_KEY: return NT_SAYS_BEST;
	case NT_ABOUT_OPEN_KEY: return NT_SAYS_OPEN;
	case NT_ABOUT_COMM: return NT_SAYS_COMM;
	case NT_ABOUT_NOTHING:
	case NT_ABOUT_CALLS:
	case NT_ABOUT_STEP: break;
	}
	return NT_SAYS_NONE;
}

void nt_says_why_add(struct nt_says_step *step, int reason)
{
	const enum nt_says_why why = why_of(reason);

	/* The communicator's own reason tells more. */
	if (why == NT_SAYS_NONE ||
	    (step->why[why] && step->reason[why] != NT_REASON_COMM_NOT_TUNED))
		return;
	step->why[why] = true;
	step->reason[why] = reason;
}

double nt_says_key_us(const struct nt_says_key *key, double steps)
{
	const double calls = key->calls / (key->comms > 1 ? key->comms : 1);

	if (key->own_us > 0)
		return key->own_us * calls;
	if (key->us > 0)
		return key->us * calls;
	return calls < SELDOM * steps ? 0 : key->predicted_us * calls;
}

void nt_says_key_add(struct nt_says_step *step, const struct nt_says_key *key)
{
	const enum nt_says_why why = why_of(key->reason);

	nt_says_why_add(step, key->reason);
	step->why_us[why] += nt_says_key_us(key, step->steps);
}

/* ---- a step from its record */

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

void nt_says_behind(struct nt_says_step *step, const char *from, const char *end)
{
	from = take_argument(from, end, step->late, sizeof(step->late));
	(void)take_argument(from, end, step->call, sizeof(step->call));
	step->late[0] = (char)tolower((unsigned char)step->late[0]);
}

/* A reason's code: the last word of a text, before its arguments. */
static int take_code(struct nt_says_step *step, const char *from, const char *end)
{
	char code[NT_REASON_CODE_MAX];
	const char *at = from, *stop = find_end(from, end);
	size_t bytes;
	int reason;

	for (const char *c = from; c < stop; c++) {
		if (*c == ' ')
			at = c + 1;
	}
	bytes = (size_t)(stop - at);
	if (bytes >= sizeof(code))
		return NT_REASON_NONE;
	memcpy(code, at, bytes);
	code[bytes] = '\0';
	reason = nt_reason_parse(code);
	if (reason == NT_REASON_BEHIND && stop < end)
		nt_says_behind(step, stop + 1, end);
	return reason;
}

/* ["8r2n 1 nopmix","algo"], ["3 little"] */
static void take_codes(struct nt_says_step *step, struct nt_text array)
{
	struct nt_text text;
	size_t pos = 0;

	while (nt_json_scan_text(array, &pos, &text))
		nt_says_why_add(step, take_code(step, text.at, text.at + text.bytes));
}

static void note_finding(struct nt_finding *worst, const struct nt_finding *finding)
{
	if (!worst->text[0] || finding->id < worst->id)
		*worst = *finding;
}

/* ["ports:n1:...","cpus:..."] */
static void take_findings(struct nt_says_step *step, struct nt_text array)
{
	struct nt_finding finding;
	struct nt_text text;
	size_t pos = 0;

	while (nt_json_scan_text(array, &pos, &text)) {
		if (nt_finding_read(&finding, text.at, text.bytes) == 0)
			note_finding(&step->worst, &finding);
	}
}

#define FIGURE(type, member, index)                           \
	{                                                     \
#member, offsetof(struct type, member), index \
	}

struct figure {
	const char *name;
	size_t at;
	unsigned index;
};

static void take_figures(void *to, const struct figure *figures, size_t count,
			 const struct nt_json_member *member)
{
	for (size_t i = 0; i < count; i++) {
		if (nt_text_is(member->name, figures[i].name))
			*(double *)((char *)to + figures[i].at) = number_in(member->value,
									    figures[i].index);
	}
}

#define TAKE(to, figures, member) \
	take_figures(to, figures, sizeof(figures) / sizeof((figures)[0]), member)

static void take_key(struct nt_says_step *step, struct nt_text value)
{
	static const struct figure figures[] = {
		FIGURE(nt_says_key, calls, 0),	      FIGURE(nt_says_key, comms, 0),
		FIGURE(nt_says_key, own_us, 0),	      FIGURE(nt_says_key, us, 0),
		FIGURE(nt_says_key, predicted_us, 0),
	};
	struct nt_says_key key = { .reason = NT_REASON_NONE };
	struct nt_json_member member;
	struct nt_json_scanner scan;

	nt_json_scan_begin(&scan, value);
	while (nt_json_scan_next(&scan, &member) > 0) {
		TAKE(&key, figures, &member);
		if (nt_text_is(member.name, "why") && member.value.bytes > 2)
			key.reason = take_code(step, member.value.at + 1,
					       member.value.at + member.value.bytes - 1);
	}
	nt_says_key_add(step, &key);
}

/* Of the keys of a communicator. */
static void take_keys(struct nt_says_step *step, struct nt_text keys)
{
	struct nt_json_member member;
	struct nt_json_scanner scan;

	nt_json_scan_begin(&scan, keys);
	while (nt_json_scan_next(&scan, &member) > 0)
		take_key(step, member.value);
}

/* Without its quotes. */
static void take_text(char out[NT_SAYS_NAME], struct nt_text value)
{
	if (value.bytes > 2 && value.at[0] == '"')
		snprintf(out, NT_SAYS_NAME, "%.*s", (int)value.bytes - 2, value.at + 1);
}

static void take_member(struct nt_says_step *step, const struct nt_json_member *member)
{
	static const struct figure figures[] = {
		FIGURE(nt_says_step, ranks, 0),
		FIGURE(nt_says_step, nodes, 0),
		FIGURE(nt_says_step, step_us, 1),
		FIGURE(nt_says_step, steps, 0),
		FIGURE(nt_says_step, saved_ms, 0),
		FIGURE(nt_says_step, spent_ms, 0),
		FIGURE(nt_says_step, estimated_ms, 0),
		FIGURE(nt_says_step, calibration_s, 0),
		{ "measured", offsetof(struct nt_says_step, speed), 0 },
	};

	TAKE(step, figures, member);
	if (nt_text_is(member->name, "program"))
		take_text(step->program, member->value);
	if (nt_text_is(member->name, "launch"))
		take_text(step->launch, member->value);
	step->saves |= nt_text_is(member->name, "saved_ms");
	step->early |= nt_text_is(member->name, "early");
	step->cut |= nt_text_is(member->name, "as_of");
	step->observed |= nt_text_is(member->name, "mode") &&
			  nt_text_is(member->value, "\"observe\"");
}

void nt_says_add(struct nt_says *says, struct nt_text text)
{
	struct nt_says_step step = { .steps = 0 };
	struct nt_json_member member;
	struct nt_json_scanner scan;

	nt_json_scan_begin(&scan, text);
	while (nt_json_scan_next(&scan, &member) > 0)
		take_member(&step, &member);
	nt_json_scan_begin(&scan, text);
	while (nt_json_scan_next(&scan, &member) > 0) {
		if (member.value.at[0] == '{')
			take_keys(&step, member.value);
		else if (nt_text_is(member.name, "why") || nt_text_is(member.name, "rest"))
			take_codes(&step, member.value);
		else if (nt_text_is(member.name, "findings"))
			take_findings(&step, member.value);
	}
	nt_says_take(says, &step);
}

/* ---- all steps */

bool nt_says_is_calibration(const char *program)
{
	return strcmp(program, NT_CALIBRATES) == 0;
}

static bool is_default(const struct nt_says_step *step)
{
	return strcmp(step->launch, "default") == 0 || (!step->launch[0] && step->speed <= 0);
}

/* NULL: too many. */
static struct nt_says_program *find_program(struct nt_says *says, const struct nt_says_step *step)
{
	struct nt_says_program *program = says->program;

	for (unsigned i = 0; i < says->programs; i++, program++) {
		if (strcmp(program->name, step->program) == 0 && program->ranks == step->ranks &&
		    program->nodes == step->nodes)
			return program;
	}
	if (says->programs == NT_SAYS_PROGRAMS)
		return NULL;
	says->programs++;
	*program = (struct nt_says_program){ .ranks = step->ranks, .nodes = step->nodes };
	memcpy(program->name, step->program, sizeof(program->name));
	return program;
}

static void take_steps(struct nt_says *says, const struct nt_says_step *step)
{
	struct nt_says_program *program = find_program(says, step);
	const double all_us = step->steps * step->step_us;

	if (!program)
		return;
	program->all_us += fmax(1, step->steps) * step->step_us;
	program->now_us = step->step_us;
	if (is_default(step)) {
		/* At least one, if their number is not known. */
		program->own_us += fmax(1, step->steps) * step->step_us;
		program->own_steps += fmax(1, step->steps);
		return;
	}
	program->used_us += all_us;
	program->used_steps += step->steps;
	program->used = true;
	program->profile_us = step->step_us;
	program->speed = step->speed;
	memcpy(program->profile, step->launch, sizeof(program->profile));
	if (step->speed > 0)
		program->remembered_us += all_us * (step->speed - 1);
}

void nt_says_take(struct nt_says *says, const struct nt_says_step *step)
{
	bool tells = step->late[0] != '\0';

	says->any = true;
	says->calibration_ms += 1e3 * step->calibration_s;
	if (nt_says_is_calibration(step->program))
		return;
	if (step->step_us > 0)
		take_steps(says, step);
	says->observed |= step->observed;
	says->saves |= step->saves && !step->observed;
	says->saved_ms += step->saved_ms;
	says->spent_ms += step->spent_ms;
	says->estimated_ms += step->estimated_ms;
	says->runs |= step->early;
	says->cut = step->cut && !step->early;
	for (int why = 0; why < NT_SAYS_WHYS; why++)
		tells |= step->why[why];
	if (step->worst.text[0])
		note_finding(&says->worst, &step->worst);
	says->newest.late[0] = '\0';
	if (tells)
		says->newest = *step;
}

/* The program that took longest; NULL: none was measured. */
static const struct nt_says_program *main_program(const struct nt_says *says)
{
	const struct nt_says_program *main = NULL;

	for (unsigned i = 0; i < says->programs; i++) {
		if (!main || says->program[i].all_us > main->all_us)
			main = &says->program[i];
	}
	return main;
}

static double launch_ms(const struct nt_says_program *program)
{
	if (program->own_steps <= 0)
		return program->remembered_us / 1e3;
	return (program->own_us / program->own_steps * program->used_steps - program->used_us) /
	       1e3;
}

struct nt_says_gain nt_says_gain(const struct nt_says *says)
{
	struct nt_says_gain gain = { .calls_ms = says->saved_ms,
				     .exploring_ms = says->spent_ms,
				     .calibration_ms = says->calibration_ms };
	const struct nt_says_program *main = main_program(says);

	for (unsigned i = 0; i < says->programs; i++)
		gain.launch_ms += launch_ms(&says->program[i]);
	gain.net_ms = gain.launch_ms + gain.calls_ms - gain.exploring_ms - gain.calibration_ms;
	if (!main)
		return gain;
	memcpy(gain.program, main->name, sizeof(gain.program));
	gain.ranks = main->ranks;
	gain.nodes = main->nodes;
	gain.step_us = main->used ? main->profile_us : main->now_us;
	if (!main->used)
		return gain;
	memcpy(gain.profile, main->profile, sizeof(gain.profile));
	gain.by_job = main->own_steps > 0;
	gain.without_us = gain.by_job ? main->own_us / main->own_steps
				      : main->profile_us * main->speed;
	gain.speed = gain.without_us / gain.step_us;
	return gain;
}

/* ---- the sentence */

/* A launch profile was used, and nothing is known of steps without it. */
static bool is_unmeasured(const struct nt_says_gain *gain)
{
	return gain->step_us > 0 && gain->profile[0] && gain->speed <= 0;
}

static bool is_gain_known(const struct nt_says_gain *gain)
{
	return gain->step_us > 0 && gain->speed > 0 && fabs(gain->speed - 1) >= AS_FAST;
}

/* Adds a piece if it fits as a whole. */
static void add(char out[NT_SAYS_MAX], const char *piece)
{
	if (strlen(out) + strlen(piece) < NT_SAYS_MAX)
		nt_append(out, NT_SAYS_MAX, "%s", piece);
}

static void add_step(const struct nt_says_gain *gain, char out[NT_SAYS_MAX])
{
	char piece[128], now[32], before[32];

	nt_time_text(gain->step_us, now, sizeof(now));
	nt_time_text(gain->without_us, before, sizeof(before));
	if (is_gain_known(gain))
		snprintf(piece, sizeof(piece), "step %s, was %s (%.2f x); ", now, before,
			 gain->speed);
	else if (is_unmeasured(gain))
		snprintf(piece, sizeof(piece), "step %s with %s, without not measured; ", now,
			 gain->profile);
	else
		snprintf(piece, sizeof(piece), "step %s; ", now);
	if (gain->step_us > 0)
		add(out, piece);
}

/* The reason that most of the time has, or the most important one if no times are known. share: of
 * all calls; part: of the program's time, if that is known. */
static enum nt_says_why main_why(const struct nt_says_step *step, double *share, double *part)
{
	enum nt_says_why main = NT_SAYS_NONE;
	double all_us = 0, step_us = step->steps * step->step_us;

	for (int why = 0; why < NT_SAYS_WHYS; why++)
		all_us += step->why_us[why];
	for (int why = 1; why < NT_SAYS_WHYS; why++) {
		if (step->why[why] && step->why_us[why] >= step->why_us[main])
			main = (enum nt_says_why)why;
	}
	*share = all_us > 0 ? step->why_us[main] / all_us : 1;
	/* Times to the next call of communicators at once may be longer than the step. */
	*part = step_us > step->why_us[main] ? step->why_us[main] / step_us : *share;
	return main;
}

#define NEARLY_ALL 0.9

static const char *nothing_words(const struct nt_says *says, char *out, size_t out_bytes)
{
	static const char *const words[] = {
		[NT_SAYS_NONE] = "",
		[NT_SAYS_SEEN] = ": only sends and receives",
		[NT_SAYS_LITTLE] = ": too little communication",
		[NT_SAYS_COMM] = ": not tuned",
		[NT_SAYS_OPEN] = ": nothing was decided",
		[NT_SAYS_USED] = "",
		[NT_SAYS_BEST] = ": NCCL's choice is best",
	};
	double share, part;
	const enum nt_says_why why = main_why(&says->newest, &share, &part);

	if (why == NT_SAYS_OPEN && says->runs)
		snprintf(out, out_bytes, "nothing saved yet: still exploring");
	else if (why == NT_SAYS_OPEN && says->newest.why[NT_SAYS_BEST])
		snprintf(out, out_bytes, "nothing saved: %.0f %% was not decided", 100 * part);
	else if (why == NT_SAYS_BEST && share < NEARLY_ALL)
		snprintf(out, out_bytes, "nothing saved: NCCL's is best in %.0f %% compared",
			 100 * part);
	else if (why == NT_SAYS_COMM)
		snprintf(out, out_bytes, "nothing saved: not tuned (%s)",
			 nt_reason_code(says->newest.reason[why]));
	else if (why == NT_SAYS_USED)
		snprintf(out, out_bytes, "remembered choices used");
	else
		snprintf(out, out_bytes, "nothing saved%s", words[why]);
	return out;
}

static bool has_why(const struct nt_says *says)
{
	double share, part;

	return main_why(&says->newest, &share, &part) != NT_SAYS_NONE;
}

static void add_saved(const struct nt_says *says, const struct nt_says_gain *gain,
		      char out[NT_SAYS_MAX])
{
	const double saved_ms = gain->launch_ms + gain->calls_ms;
	const double spent_ms = gain->exploring_ms + gain->calibration_ms;
	const bool nothing = fabs(saved_ms) < NOTHING_MS;
	char piece[NT_SAYS_MAX], text[32];

	if (!nothing) {
		snprintf(piece, sizeof(piece), "%s %s", saved_ms > 0 ? "saved" : "lost",
			 nt_duration_text(fabs(saved_ms), text, sizeof(text)));
		add(out, piece);
	} else if (says->estimated_ms >= NOTHING_MS) {
		snprintf(piece, sizeof(piece), "saved about %s (estimate)",
			 nt_duration_text(says->estimated_ms, text, sizeof(text)));
		add(out, piece);
	} else if (says->observed && !says->saves) {
		add(out, "only measured");
	} else if (says->any && !is_gain_known(gain) && !is_unmeasured(gain) &&
		   (says->saves || has_why(says))) {
		add(out, nothing_words(says, piece, sizeof(piece)));
	}
	if (!nothing && spent_ms > TOLD_SPENT * fabs(saved_ms)) {
		snprintf(piece, sizeof(piece), ", spent %s",
			 nt_duration_text(spent_ms, text, sizeof(text)));
		add(out, piece);
	}
}

static const char *stall_words(const struct nt_says_step *step, char out[NT_SAYS_MAX])
{
	char piece[NT_SAYS_MAX];

	nt_append(out, NT_SAYS_MAX, "stalled: others wait for %s", step->late);
	snprintf(piece, sizeof(piece), " (%s)", step->call);
	if (step->call[0])
		add(out, piece);
	return out;
}

/* Removes the last piece; false: there is none. */
static bool drop_piece(char *out)
{
	char *last = NULL;

	for (char *c = out; *c; c++) {
		if ((*c == ';' || *c == ',') && c[1] == ' ')
			last = c;
	}
	if (!out[0])
		return false;
	*(last ? last : out) = '\0';
	return true;
}

/* "set-up: ports (n17)", behind what else has room */
static void add_finding(const struct nt_finding *worst, char out[NT_SAYS_MAX])
{
	char node[NT_FINDING_NODE_MAX], piece[NT_SAYS_MAX];

	if (!worst->text[0])
		return;
	(void)nt_finding_node(worst, node);
	snprintf(piece, sizeof(piece), "set-up: %s%s%.40s%s", nt_finding_code(worst->id),
		 node[0] ? " (" : "", node, node[0] ? ")" : "");
	while (strlen(out) + strlen("; ") + strlen(piece) >= NT_SAYS_MAX && drop_piece(out))
		;
	nt_append(out, NT_SAYS_MAX, "%s%s", out[0] ? "; " : "", piece);
}

const char *nt_says_text(const struct nt_says *says, char out[NT_SAYS_MAX])
{
	const struct nt_says_gain gain = nt_says_gain(says);
	char text[32];
	size_t bytes;

	out[0] = '\0';
	if (says->newest.late[0])
		return stall_words(&says->newest, out);
	if (says->runs)
		add(out, "so far: ");
	else if (says->cut)
		add(out, "cut short: ");
	bytes = strlen(out);
	add_step(&gain, out);
	add_saved(says, &gain, out);
	if (!out[bytes])
		out[0] = '\0';
	if (!out[0] && says->calibration_ms >= NOTHING_MS)
		nt_append(out, NT_SAYS_MAX, "calibrated for %s",
			  nt_duration_text(says->calibration_ms, text, sizeof(text)));
	bytes = strlen(out);
	if (bytes > 2 && strcmp(out + bytes - 2, "; ") == 0)
		out[bytes - 2] = '\0';
	add_finding(&says->worst, out);
	return out;
}
