/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "record/says.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "contract/names.h"
#include "contract/reason.h"
#include "lib/append.h"
#include "lib/table.h"

#define NOTHING_MS 0.05 /* less reads 0.0 */
#define AS_FAST 0.005 /* less reads 1.00 x */
#define SELDOM 0.1 /* calls a step: fewer that were not timed are those of its start */
#define TOLD_SPENT 0.5 /* of what was saved: what was spent is told */

/* Why nothing was saved, in increasing order of importance where times are not known. */
enum cause { NO_CAUSE, SEEN, LITTLE, COMM, OPEN, USED, BEST, CAUSES };

/* Of the calls of a step. */
struct told {
	double step_us; /* of all its program's own steps */
	char late[40], call[40]; /* whom it waits for, in which call; "": nobody */
	double us[CAUSES]; /* time of calls, by cause */
	bool has[CAUSES]; /* calls, or communicators, with the cause */
	int reason[CAUSES];
};

/* A program's own steps, at one place. */
struct program {
	const struct nt_step *first; /* of its steps: its name and place */
	double own_us, own_steps; /* with NCCL's own settings: all together, their number */
	double used_us, used_steps; /* with launch profiles */
	double remembered_us; /* saved, by memories */
	double all_us, now_us; /* of all steps; one's own in the newest step of the job */
	const struct nt_step *used; /* the newest step with a profile; NULL: none */
};

struct says {
	bool any; /* a step */
	bool observed, saves; /* a step was only measured; another saved something */
	bool runs, cut; /* a step runs; the last one did not record its end */
	double saved_ms, spent_ms, estimated_ms, calibration_ms;
	struct program program[NT_SAYS_PROGRAMS];
	unsigned programs;
	struct told newest; /* of the last step that tells of calls */
};

static double known(double value)
{
	return value > 0 ? value : 0; /* unknown: NAN or -1 */
}

/* ---- the calls of a step */

static enum cause cause_of(int reason)
{
	if (reason == NT_REASON_P2P)
		return SEEN;
	if (reason == NT_REASON_UNWORTHY)
		return LITTLE;
	if (reason == NT_REASON_REMEMBERED)
		return USED;
	if (reason == NT_REASON_COMM_NOT_TUNED)
		return COMM;
	switch (nt_reason_about(reason)) {
	case NT_ABOUT_KEY: return BEST;
	case NT_ABOUT_OPEN_KEY: return OPEN;
	case NT_ABOUT_COMM: return COMM;
	case NT_ABOUT_NOTHING:
	case NT_ABOUT_CALLS:
	case NT_ABOUT_STEP: break;
	}
	return NO_CAUSE;
}

static void add_reason(struct told *told, int reason)
{
	const enum cause cause = cause_of(reason);

	/* The communicator's own reason tells more. */
	if (cause == NO_CAUSE ||
	    (told->has[cause] && told->reason[cause] != NT_REASON_COMM_NOT_TUNED))
		return;
	told->has[cause] = true;
	told->reason[cause] = reason;
}

double nt_says_row_us(const struct nt_step *step, const struct nt_key *row, enum nt_which which)
{
	const double all = known((double)row->calls);
	const double calls = all / (row->comms > 1 ? (double)row->comms : 1);

	if (row->own_us[which] > 0)
		return row->own_us[which] * calls;
	if (row->us[which] > 0)
		return row->us[which] * calls;
	return calls < SELDOM * known((double)step->steps)
		       ? 0
		       : known(row->predicted_us[which]) * calls;
}

/* The first two arguments of NT_REASON_BEHIND. */
static void note_behind(struct told *told, const char *text)
{
	const char *late = text + strcspn(text, ":");
	const char *call;

	late += *late == ':';
	call = late + strcspn(late, ":");
	snprintf(told->late, sizeof(told->late), "%.*s", (int)(call - late), late);
	call += *call == ':';
	snprintf(told->call, sizeof(told->call), "%.*s", (int)strcspn(call, ":"), call);
	told->late[0] = (char)tolower((unsigned char)told->late[0]);
}

static void add_remarks(struct told *told, const struct nt_summary *summary,
			const struct nt_step *step)
{
	for (size_t i = 0; i < summary->remark_count; i++) {
		const struct nt_remark *remark = &summary->remarks[i];

		if (remark->kind != NT_REMARK_WHY || strcmp(remark->step, step->name) != 0)
			continue;
		add_reason(told, remark->why.id);
		if (remark->why.id == NT_REASON_BEHIND)
			note_behind(told, remark->why.text);
	}
}

/* true: it tells something. */
static bool take_calls(struct told *told, const struct nt_summary *summary, size_t at)
{
	const struct nt_step *step = &summary->steps[at];
	bool tells = false;

	*told = (struct told){ .step_us = known((double)step->steps) * known(step->step_us[1]) };
	for (size_t i = 0; i < summary->row_count; i++) {
		const struct nt_key *row = &summary->rows[i];

		if (row->step != at)
			continue;
		add_reason(told, row->reason);
		told->us[cause_of(row->reason)] += nt_says_row_us(step, row, NT_OF_AUTO);
	}
	add_remarks(told, summary, step);
	for (int reason = 0; reason < NT_REASON_COUNT; reason++) {
		if (step->rest[reason] > 0)
			add_reason(told, reason);
	}
	for (int cause = 0; cause < CAUSES; cause++)
		tells |= told->has[cause];
	return tells || told->late[0];
}

/* ---- all steps */

bool nt_step_is_calibration(const struct nt_step *step)
{
	return strcmp(step->program, NT_CALIBRATES) == 0;
}

static bool is_default(const struct nt_step *step)
{
	return strcmp(step->launch, "default") == 0 || (!step->launch[0] && !(step->measured > 0));
}

/* NULL: too many. */
static struct program *find_program(struct says *says, const struct nt_step *step)
{
	struct program *program = says->program;

	for (unsigned i = 0; i < says->programs; i++, program++) {
		if (strcmp(program->first->program, step->program) == 0 &&
		    program->first->ranks == step->ranks && program->first->nodes == step->nodes)
			return program;
	}
	if (says->programs == NT_SAYS_PROGRAMS)
		return NULL;
	says->programs++;
	*program = (struct program){ .first = step };
	return program;
}

static void add_own_steps(struct says *says, const struct nt_step *step)
{
	struct program *program = find_program(says, step);
	const double steps = known((double)step->steps), us = step->step_us[1];

	if (!program)
		return;
	program->all_us += fmax(1, steps) * us;
	program->now_us = us;
	if (is_default(step)) {
		/* At least one, if their number is not known. */
		program->own_us += fmax(1, steps) * us;
		program->own_steps += fmax(1, steps);
		return;
	}
	program->used_us += steps * us;
	program->used_steps += steps;
	program->used = step;
	if (step->measured > 0)
		program->remembered_us += steps * us * (step->measured - 1);
}

static void take_step(struct says *says, const struct nt_summary *summary, size_t at)
{
	const struct nt_step *step = &summary->steps[at];
	const bool observed = strcmp(step->mode, "observe") == 0;
	struct told told;

	says->any = true;
	says->calibration_ms += 1e3 * known(step->calibration_s);
	if (nt_step_is_calibration(step))
		return;
	if (step->step_us[1] > 0)
		add_own_steps(says, step);
	says->observed |= observed;
	says->saves |= !isnan(step->saved_ms) && !observed;
	says->saved_ms += nt_step_saved_ms(summary, at);
	says->spent_ms += nt_step_spent_ms(summary, at);
	says->estimated_ms += nt_or_zero(step->estimated_ms);
	says->runs |= step->early > 0;
	says->cut = step->as_of_s > 0 && step->early <= 0;
	says->newest.late[0] = '\0';
	if (take_calls(&told, summary, at))
		says->newest = told;
}

/* The program that took longest; NULL: none was measured. */
static const struct program *main_program(const struct says *says)
{
	const struct program *main = NULL;

	for (unsigned i = 0; i < says->programs; i++) {
		if (!main || says->program[i].all_us > main->all_us)
			main = &says->program[i];
	}
	return main;
}

static double launch_ms(const struct program *program)
{
	if (program->own_steps <= 0)
		return program->remembered_us / 1e3;
	return (program->own_us / program->own_steps * program->used_steps - program->used_us) /
	       1e3;
}

static struct nt_says_gain make_gain(const struct says *says)
{
	struct nt_says_gain gain = { .calls_ms = says->saved_ms,
				     .exploring_ms = says->spent_ms,
				     .calibration_ms = says->calibration_ms };
	const struct program *main = main_program(says);

	for (unsigned i = 0; i < says->programs; i++)
		gain.launch_ms += launch_ms(&says->program[i]);
	gain.net_ms = gain.launch_ms + gain.calls_ms - gain.exploring_ms - gain.calibration_ms;
	if (!main)
		return gain;
	snprintf(gain.program, sizeof(gain.program), "%s", main->first->program);
	gain.ranks = known((double)main->first->ranks);
	gain.nodes = known((double)main->first->nodes);
	gain.step_us = main->now_us;
	if (!main->used)
		return gain;
	snprintf(gain.profile, sizeof(gain.profile), "%s", main->used->launch);
	gain.step_us = main->used->step_us[1];
	gain.by_job = main->own_steps > 0;
	gain.without_us = gain.by_job ? main->own_us / main->own_steps
				      : gain.step_us * known(main->used->measured);
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

/* The cause that most of the time has, or the most important one if no times are known. share: of
 * all calls; part: of the program's time, if that is known. */
static enum cause main_cause(const struct told *told, double *share, double *part)
{
	enum cause main = NO_CAUSE;
	double all_us = 0;

	for (int cause = 0; cause < CAUSES; cause++)
		all_us += told->us[cause];
	for (int cause = 1; cause < CAUSES; cause++) {
		if (told->has[cause] && told->us[cause] >= told->us[main])
			main = (enum cause)cause;
	}
	*share = all_us > 0 ? told->us[main] / all_us : 1;
	/* Times to the next call of communicators at once may be longer than the step. */
	*part = told->step_us > told->us[main] ? told->us[main] / told->step_us : *share;
	return main;
}

#define NEARLY_ALL 0.9

static const char *nothing_words(const struct says *says, char *out, size_t out_bytes)
{
	static const char *const words[] = {
		[NO_CAUSE] = "",
		[SEEN] = ": only sends and receives",
		[LITTLE] = ": too little communication",
		[COMM] = ": not tuned",
		[OPEN] = ": nothing was decided",
		[USED] = "",
		[BEST] = ": NCCL's choice is best",
	};
	double share, part;
	const enum cause cause = main_cause(&says->newest, &share, &part);

	if (cause == OPEN && says->runs)
		snprintf(out, out_bytes, "nothing saved yet: still exploring");
	else if (cause == OPEN && says->newest.has[BEST])
		snprintf(out, out_bytes, "nothing saved: %.0f %% was not decided", 100 * part);
	else if (cause == BEST && share < NEARLY_ALL)
		snprintf(out, out_bytes, "nothing saved: NCCL's is best in %.0f %% compared",
			 100 * part);
	else if (cause == COMM)
		snprintf(out, out_bytes, "nothing saved: not tuned (%s)",
			 nt_reason_code(says->newest.reason[cause]));
	else if (cause == USED)
		snprintf(out, out_bytes, "remembered choices used");
	else
		snprintf(out, out_bytes, "nothing saved%s", words[cause]);
	return out;
}

static bool has_cause(const struct says *says)
{
	double share, part;

	return main_cause(&says->newest, &share, &part) != NO_CAUSE;
}

static void add_saved(const struct says *says, const struct nt_says_gain *gain,
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
		   (says->saves || has_cause(says))) {
		add(out, nothing_words(says, piece, sizeof(piece)));
	}
	if (!nothing && spent_ms > TOLD_SPENT * fabs(saved_ms)) {
		snprintf(piece, sizeof(piece), ", spent %s",
			 nt_duration_text(spent_ms, text, sizeof(text)));
		add(out, piece);
	}
}

static void add_stall(const struct told *told, char out[NT_SAYS_MAX])
{
	char piece[NT_SAYS_MAX];

	nt_append(out, NT_SAYS_MAX, "stalled: others wait for %s", told->late);
	snprintf(piece, sizeof(piece), " (%s)", told->call);
	if (told->call[0])
		add(out, piece);
}

static void say(const struct says *says, const struct nt_says_gain *gain, char out[NT_SAYS_MAX])
{
	char text[32];
	size_t bytes;

	if (says->newest.late[0]) {
		add_stall(&says->newest, out);
		return;
	}
	if (says->runs)
		add(out, "so far: ");
	else if (says->cut)
		add(out, "cut short: ");
	bytes = strlen(out);
	add_step(gain, out);
	add_saved(says, gain, out);
	if (!out[bytes])
		out[0] = '\0';
	if (!out[0] && says->calibration_ms >= NOTHING_MS)
		nt_append(out, NT_SAYS_MAX, "calibrated for %s",
			  nt_duration_text(says->calibration_ms, text, sizeof(text)));
	bytes = strlen(out);
	if (bytes > 2 && strcmp(out + bytes - 2, "; ") == 0)
		out[bytes - 2] = '\0';
}

struct nt_says_gain nt_says(const struct nt_summary *summary, size_t first, char out[NT_SAYS_MAX])
{
	struct says says = { .any = false };
	struct nt_says_gain gain;

	for (size_t i = first; i < summary->step_count; i++)
		take_step(&says, summary, i);
	gain = make_gain(&says);
	out[0] = '\0';
	say(&says, &gain, out);
	return gain;
}
