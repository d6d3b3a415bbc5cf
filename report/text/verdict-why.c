/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences on what was not decided or not tuned, and on what a record lacks. */
#include "report/text/verdict-maker.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "contract/coll.h"
#include "lib/plural.h"
#include "record/rank.h"
#include "report/text/reasons.h"
#include "report/text/row-text.h"
#include "report/text/words.h"
#include "report/model/row-time.h"
#include "lib/append.h"
#include "lib/table.h"

/* ---- rows, by reason */

/* Rows with a reason, of running steps or of others. */
struct class
{
	int reason;
	bool running;
	const struct nt_key *first; /* the one that takes longest; NULL: only counted */
	size_t rows, rest;
	double us; /* of a rank; NAN: not known */
};

static double row_us(const struct nt_summary *summary, const struct nt_key *row)
{
	return nt_row_part(summary, row) * nt_step_all_us(summary, row->step);
}

static struct class class_of(const struct nt_summary *summary, int reason, bool running)
{
	struct class out = { .reason = reason, .running = running, .us = NAN };
	double most = -1;

	for (size_t i = 0; i < summary->row_count; i++) {
		const struct nt_key *row = &summary->rows[i];
		const double us = nt_or_zero(row_us(summary, row));

		if (nt_row_reason(row) != reason || summary->steps[row->step].running != running ||
		    nt_step_is_calibration(&summary->steps[row->step]))
			continue;
		out.rows++;
		out.us = nt_or_zero(out.us) + us;
		if (us > most)
			out.first = row;
		most = fmax(most, us);
	}
	for (size_t i = 0; i < summary->step_count; i++)
		out.rest += summary->steps[i].running == running
				    ? (size_t)summary->steps[i].rest[reason]
				    : 0;
	return out;
}

/* "AllReduce 4M and 2 more", with those that did not fit into the record. */
static const char *class_name(const struct class *class, char *out, size_t out_bytes)
{
	const size_t count = class->rows + class->rest;
	char size[24];

	out[0] = '\0';
	if (!class->first)
		nt_append(out, out_bytes, "%zu collective%s and size%s", count, nt_plural(count),
			  nt_plural(count));
	else
		nt_append(out, out_bytes, "%s %s", nt_coll_name(class->first->coll),
			  nt_size_text(class->first->bytes, size, sizeof(size)));
	if (class->first && count > 1)
		nt_append(out, out_bytes, " and %zu more", count - 1);
	return out;
}

/* Of all rows together. */
static const char *exploring_words(const struct nt_summary *summary, const struct class *class,
				   char *out, size_t out_bytes)
{
	struct nt_exploring all = { -1, NAN };

	for (size_t i = 0; i < summary->row_count; i++) {
		const struct nt_key *row = &summary->rows[i];
		struct nt_exploring left;

		if (nt_row_reason(row) != class->reason || !summary->steps[row->step].running)
			continue;
		left = nt_row_exploring(row, &summary->steps[row->step]);
		if (left.calls > 0)
			all.calls = (all.calls < 0 ? 0 : all.calls) + left.calls;
		all.seconds = fmax(all.seconds, left.seconds);
	}
	return nt_exploring_words(&summary->steps[class->first->step], &all, out, out_bytes);
}

static double job_us(const struct nt_summary *summary)
{
	double us = 0;

	for (size_t i = 0; i < summary->step_count; i++)
		us += nt_step_is_calibration(&summary->steps[i]) ? 0 : nt_step_all_us(summary, i);
	return us;
}

static void say_class(struct nt_maker *maker, const struct class *class)
{
	const double part = class->us / job_us(maker->summary);
	char which[96], words[128], took[40] = "";
	struct nt_said said;

	class_name(class, which, sizeof(which));
	if (class->running && class->reason == NT_REASON_UNFINISHED && class->first) {
		nt_maker_say(maker, NT_SENTENCE_UNFINISHED, "", "%s: %s.", which,
			     exploring_words(maker->summary, class, words, sizeof(words)));
		return;
	}
	if (part >= NT_SHARE_LEAST)
		snprintf(took, sizeof(took), " (%.0f %% of the time)", 100 * fmin(part, 1));
	nt_said_key(&said, class->reason, NULL);
	nt_maker_say(maker, NT_SENTENCE_UNFINISHED, said.type, "%s%s: %s", which, took, said.says);
}

/* Was it not tuned, for a reason that its communicator does not tell? */
static bool is_open(int reason)
{
	const enum nt_reason_of about = nt_reason_about(reason);

	return reason == NT_REASON_BUDGET || reason == NT_REASON_SAMPLES ||
	       about == NT_ABOUT_COMM ||
	       (about == NT_ABOUT_OPEN_KEY && reason != NT_REASON_COMM_NOT_TUNED);
}

/* Its turn may come; or it takes too little time; or the record counts it for that reason. */
static bool is_little(const struct nt_summary *summary, const struct class *class)
{
	const double all_us = job_us(summary);

	if (class->rows == 0)
		return class->rest == 0 || summary->row_count > 0;
	return (class->running && class->reason == NT_REASON_COUNTED) ||
	       class->us < NT_SHARE_LEAST * all_us;
}

void nt_maker_open(struct nt_maker *maker)
{
	struct class found[2 * NT_REASON_COUNT];
	size_t count = 0;

	for (int reason = 0; reason < NT_REASON_COUNT; reason++) {
		for (int running = 0; running < 2 && is_open(reason); running++) {
			const struct class class = class_of(maker->summary, reason, running);
			size_t at = count;

			if (is_little(maker->summary, &class))
				continue;
			for (; at > 0 && found[at - 1].us < class.us; at--)
				found[at] = found[at - 1];
			found[at] = class;
			count++;
		}
	}
	for (size_t i = 0; i < count && i < NT_TOLD_MAX; i++)
		say_class(maker, &found[i]);
}

/* ---- communicators and steps */

static bool same_remark(const struct nt_remark *a, const struct nt_remark *b)
{
	return a->kind == b->kind && strcmp(a->why.text, b->why.text) == 0 &&
	       a->ranks == b->ranks && a->nodes == b->nodes && a->comms == b->comms;
}

/* "in step 0", "in steps 0, 1, 2 and 5 more": all with the same remark. */
static void steps_of(const struct nt_summary *summary, size_t first, char *out, size_t out_bytes)
{
	char names[NT_NAMED_MAX * (NT_STEP_NAME_MAX + 2)] = "";
	size_t count = 0;

	for (size_t i = first; i < summary->remark_count; i++) {
		if (!same_remark(&summary->remarks[i], &summary->remarks[first]))
			continue;
		if (count++ < NT_NAMED_MAX)
			nt_append(names, sizeof(names), "%s%s", count > 1 ? ", " : "",
				  summary->remarks[i].step);
	}
	out[0] = '\0';
	if (summary->step_count < 2 || !summary->remarks[first].step[0])
		return;
	nt_append(out, out_bytes, " in step%s %s", nt_plural(count), names);
	if (count > NT_NAMED_MAX)
		nt_append(out, out_bytes, " and %zu more", count - NT_NAMED_MAX);
}

static bool was_tuned(const struct nt_summary *summary, const char *step)
{
	for (size_t i = 0; i < summary->row_count; i++) {
		const struct nt_key *row = &summary->rows[i];

		if (strcmp(summary->steps[row->step].name, step) == 0 &&
		    (nt_row_is(row, NT_KEYSTATE_COMMITTED) || nt_row_is(row, NT_KEYSTATE_KEPT)))
			return true;
	}
	return false;
}

static const char *title_of(const struct nt_summary *summary, const struct nt_remark *remark)
{
	enum nt_reason_of about = nt_reason_about(remark->why.id);

	if (remark->why.id == NT_REASON_BEHIND)
		return "Stalled";
	if (about == NT_ABOUT_CALLS || remark->why.id == NT_REASON_NOT_LOADED ||
	    remark->why.id == NT_REASON_PLUGIN_FAILED || remark->why.id == NT_REASON_UNUSABLE ||
	    remark->why.id == NT_REASON_NOT_IN_FULL)
		return "Note";
	if (about == NT_ABOUT_OPEN_KEY || about == NT_ABOUT_KEY)
		return "Not changed";
	if (remark->ranks == 0 && was_tuned(summary, remark->step))
		return "Tuned with limits";
	/* These do not prevent tuning. */
	return remark->why.id == NT_REASON_OWN_ALGO || remark->why.id == NT_REASON_OWN_PROTO ||
			       remark->why.id == NT_REASON_LL128 ||
			       remark->why.id == NT_REASON_LL128_C2C
		       ? "Note"
		       : "Not tuned";
}

/* The rows' sentence says that mode observe changes nothing. */
static bool is_repeated(const struct nt_summary *summary, const struct nt_remark *remark)
{
	size_t observed = 0;

	for (int running = 0; running < 2; running++) {
		const struct class class = class_of(summary, NT_REASON_OBSERVED, running);

		observed += class.rows + class.rest;
	}
	return remark->why.id == NT_REASON_MODE && observed > 0;
}

/* Do the communicators' calls take hardly any time, as far as is known? */
static bool is_small(const struct nt_summary *summary, const struct nt_remark *remark)
{
	double us = NAN;

	for (size_t i = 0; i < summary->row_count; i++) {
		const struct nt_key *row = &summary->rows[i];

		if (remark->ranks > 0 && row->ranks == remark->ranks &&
		    row->nodes == remark->nodes &&
		    strcmp(summary->steps[row->step].name, remark->step) == 0)
			us = nt_or_zero(us) + nt_or_zero(row_us(summary, row));
	}
	return us > 0 && us < NT_SHARE_LEAST * job_us(summary);
}

static enum nt_sentence_kind kind_of(const struct nt_summary *summary,
				     const struct nt_remark *remark, const char *title)
{
	if (remark->why.id == NT_REASON_BEHIND)
		return NT_SENTENCE_STALLED;
	return strcmp(title, "Note") == 0 || is_small(summary, remark) ? NT_SENTENCE_NOTE
								       : NT_SENTENCE_UNTUNED;
}

static void say_remark(struct nt_maker *maker, size_t which)
{
	const struct nt_summary *summary = maker->summary;
	const struct nt_remark *remark = &summary->remarks[which];
	const char *title = title_of(summary, remark);
	char steps[160], who[120] = "", count[48];
	struct nt_said said;

	if (is_repeated(summary, remark))
		return;
	nt_said_why(&said, &remark->why);
	steps_of(summary, which, steps, sizeof(steps));
	snprintf(count, sizeof(count), "%" PRId64 " communicators of ", remark->comms);
	if (remark->ranks > 0)
		snprintf(who, sizeof(who), ", %s%" PRIu32 " rank%s on %" PRIu32 " node%s",
			 remark->comms == 1 ? "a communicator of " : count, remark->ranks,
			 nt_plural(remark->ranks), remark->nodes, nt_plural(remark->nodes));
	nt_maker_say(maker, kind_of(summary, remark, title), said.type, "%s%s%s: %s", title, steps,
		     who, said.says);
}

void nt_maker_untuned(struct nt_maker *maker)
{
	const struct nt_summary *summary = maker->summary;

	for (size_t i = 0; i < summary->remark_count; i++) {
		size_t before = 0;

		if (summary->remarks[i].kind != NT_REMARK_WHY)
			continue;
		while (!same_remark(&summary->remarks[before], &summary->remarks[i]))
			before++;
		if (before == i)
			say_remark(maker, i);
	}
}

/* Does it have communicators on a part of its nodes? Then unread nodes may have others. */
static bool has_small(const struct nt_summary *summary, size_t step)
{
	for (size_t i = 0; i < summary->family_count; i++) {
		const struct nt_family *family = &summary->families[i];

		if (family->step == step && family->nodes < summary->steps[step].nodes)
			return true;
	}
	return false;
}

/* The time of the figures, if the step runs or its processes wrote no last record. */
static void say_when(struct nt_maker *maker, const struct nt_step *step)
{
	char clock[NT_CLOCK_MAX];

	nt_clock_words((double)step->as_of_s, clock);
	if (step->running)
		nt_maker_say(maker, NT_SENTENCE_STATE, "", "Step %s runs%s%s.", step->name,
			     clock[0] ? ": figures as of " : "", clock);
	else if (clock[0])
		nt_maker_say(maker, NT_SENTENCE_STATE, "",
			     "Step %s wrote no final record: figures as of %s.", step->name, clock);
	else if (step->early)
		nt_maker_say(maker, NT_SENTENCE_STATE, "",
			     "The record of step %s was written before the step ended.",
			     step->name);
}

/* What its tasks measured before the program, or a step for others. */
static void say_calibration(struct nt_maker *maker, const struct nt_step *step)
{
	char text[400] = "", more[64];

	if (!(step->calibration_s > 0))
		return;
	nt_append(text, sizeof(text), "Calibration %s step %s: %s",
		  nt_step_is_calibration(step) ? "in" : "before", step->name,
		  nt_duration_text(step->calibration_s * 1e3, more, sizeof(more)));
	if (step->calibration_ranks > 0)
		nt_append(text, sizeof(text), " on %" PRId64 " rank%s", step->calibration_ranks,
			  nt_plural(step->calibration_ranks));
	if (step->calibration_why[0])
		nt_append(text, sizeof(text), ", without a result: %s", step->calibration_why);
	else if (step->calibration_gain > 0 && strcmp(step->launch, "default") != 0)
		nt_append(text, sizeof(text), "; calls %.2f x as fast with %s",
			  step->calibration_gain, step->launch);
	else
		nt_append(text, sizeof(text), "; nothing was faster than NCCL's own settings");
	if (step->calibration_deviation > 0)
		nt_append(text, sizeof(text), " (deviation %.1f %%)",
			  100 * step->calibration_deviation);
	nt_maker_say(maker, NT_SENTENCE_CALIBRATION, "", "%s.", text);
}

void nt_maker_partial(struct nt_maker *maker)
{
	const struct nt_summary *summary = maker->summary;
	const char *long_form = "";
	int64_t more = 0;

	for (size_t i = 0; i < summary->step_count; i++) {
		const struct nt_step *step = &summary->steps[i];

		more += step->more;
		if (step->more > 0 && !long_form[0])
			long_form = step->long_form;
		say_calibration(maker, step);
		say_when(maker, step);
		if (step->heard >= 0 && step->heard < step->nodes && has_small(summary, i))
			nt_maker_say(maker, NT_SENTENCE_PARTIAL, "",
				     "Step %s: %" PRId64 " of %" PRId64
				     " nodes were read; communicators that use only other nodes "
				     "are missing.",
				     step->name, step->heard, step->nodes);
	}
	if (summary->more_steps > 0)
		nt_maker_say(maker, NT_SENTENCE_PARTIAL, "",
			     "%" PRId64 " more step%s not fit into accounting and %s missing.",
			     summary->more_steps, summary->more_steps == 1 ? " did" : "s did",
			     summary->more_steps == 1 ? "is" : "are");
	if (more > 0)
		nt_maker_say(maker, NT_SENTENCE_PARTIAL, "",
			     "%" PRId64
			     " more collectives, sizes and reasons did not fit into accounting "
			     "and are missing.%s%s",
			     more, long_form[0] ? " All are in " : "", long_form);
	if (nt_summary_damaged(summary))
		nt_maker_say(maker, NT_SENTENCE_STATE,
			     "Find out which other program changes AdminComment.",
			     "The record is damaged; this is what could be read.");
}
