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
#include "record/bandwidth.h"
#include "record/rank.h"
#include "report/text/reasons.h"
#include "report/text/row-text.h"
#include "report/text/words.h"
#include "report/model/row-time.h"
#include "lib/append.h"
#include "lib/table.h"

#define LEAST_SEEN 0.01

/* Rows with a reason, of running steps or of others. */
struct reason_filter {
	int reason;
	bool running;
};

static bool is_wanted(const struct nt_summary *summary, const struct reason_filter *wanted,
		      const struct nt_key *row)
{
	return nt_row_reason(row) == wanted->reason &&
	       summary->steps[row->step].running == wanted->running;
}

/* "AllReduce 4M and 2 more", of these rows and of those that did not fit into the record. Returns
 * their number. */
static size_t rows_of(const struct nt_summary *summary, const struct reason_filter *wanted,
		      double *spent_ms, char *out, size_t out_bytes)
{
	const struct nt_key *first = NULL;
	char size[24], more[48] = "";
	size_t count = 0, rest = 0;

	*spent_ms = 0;
	for (size_t i = 0; i < summary->row_count; i++) {
		const struct nt_key *row = &summary->rows[i];

		if (!is_wanted(summary, wanted, row))
			continue;
		count++;
		*spent_ms += nt_or_zero(row->spent_ms);
		if (!first || row->calls > first->calls)
			first = row;
	}
	for (size_t i = 0; i < summary->step_count; i++)
		rest += summary->steps[i].running == wanted->running
				? (size_t)summary->steps[i].rest[wanted->reason]
				: 0;
	if (count + rest > 1)
		snprintf(more, sizeof(more), " and %zu more", count + rest - 1);
	if (!first)
		snprintf(out, out_bytes, "%zu collective%s and size%s", rest, nt_plural(rest),
			 nt_plural(rest));
	else
		snprintf(out, out_bytes, "%s %s%s", nt_coll_name(first->coll),
			 nt_size_text(first->bytes, size, sizeof(size)), more);
	return count + rest;
}

/* Reasons with one sentence for all their rows. */
static const struct {
	int reason;
	enum nt_sentence_kind kind;
} together[] = {
	{ NT_REASON_OBSERVED, NT_SENTENCE_MEASURED },
	{ NT_REASON_UNWORTHY, NT_SENTENCE_MEASURED },
	{ NT_REASON_COUNTED, NT_SENTENCE_MEASURED },
	{ NT_REASON_NOT_REMEMBERED, NT_SENTENCE_MEASURED },
	{ NT_REASON_GRAPHS, NT_SENTENCE_MEASURED },
	{ NT_REASON_ASYNCHRONOUS, NT_SENTENCE_MEASURED },
	{ NT_REASON_SYMMETRIC, NT_SENTENCE_MEASURED },
	{ NT_REASON_RAS, NT_SENTENCE_MEASURED },
	{ NT_REASON_SHM_SMALL, NT_SENTENCE_MEASURED },
	{ NT_REASON_LIMITS, NT_SENTENCE_MEASURED },
	{ NT_REASON_UNFINISHED, NT_SENTENCE_UNFINISHED },
	{ NT_REASON_BUDGET, NT_SENTENCE_UNFINISHED },
	{ NT_REASON_SAMPLES, NT_SENTENCE_UNFINISHED },
};

/* Of all rows together. */
static const char *exploring_words(const struct nt_summary *summary,
				   const struct reason_filter *wanted, char *out, size_t out_bytes)
{
	struct nt_exploring all = { -1, NAN };
	const struct nt_step *step = NULL;

	for (size_t i = 0; i < summary->row_count; i++) {
		const struct nt_key *row = &summary->rows[i];
		struct nt_exploring left;

		if (!is_wanted(summary, wanted, row))
			continue;
		step = &summary->steps[row->step];
		left = nt_row_exploring(row, step);
		if (left.calls > 0)
			all.calls = (all.calls < 0 ? 0 : all.calls) + left.calls;
		all.seconds = fmax(all.seconds, left.seconds);
	}
	return step ? nt_exploring_words(step, &all, out, out_bytes) : "still exploring";
}

static void say_rows(struct nt_maker *maker, enum nt_sentence_kind kind,
		     const struct reason_filter *wanted)
{
	char which[96], spent_text[32], spent[64] = "", words[128];
	struct nt_said said;
	double spent_ms;

	if (rows_of(maker->summary, wanted, &spent_ms, which, sizeof(which)) == 0)
		return;
	if (wanted->running && wanted->reason == NT_REASON_UNFINISHED) {
		nt_maker_say(maker, kind, "", "%s: %s.", which,
			     exploring_words(maker->summary, wanted, words, sizeof(words)));
		return;
	}
	if (wanted->running && wanted->reason == NT_REASON_COUNTED)
		return; /* its turn may come */
	if (spent_ms > 0 && kind == NT_SENTENCE_UNFINISHED)
		snprintf(spent, sizeof(spent), " (it cost %s)",
			 nt_duration_text(spent_ms, spent_text, sizeof(spent_text)));
	nt_said_key(&said, wanted->reason, NULL);
	nt_maker_say(maker, kind, said.type, "%s%s: %s", which, spent, said.says);
}

/* Collectives for which NCCL asks no tuner, unless they take too little time to mention. */
static void say_seen(struct nt_maker *maker)
{
	const struct nt_summary *summary = maker->summary;
	double all_us = 0, seen_us = 0;

	for (size_t i = 0; i < summary->row_count; i++) {
		const struct nt_key *row = &summary->rows[i];
		const double us = nt_row_all_us(row);

		all_us += isnan(us) ? 0 : us;
		seen_us += isnan(us) || nt_kind_tunable(row->coll) ? 0 : us;
	}
	if (seen_us < LEAST_SEEN * all_us || seen_us == 0)
		return;
	nt_maker_say(
		maker, NT_SENTENCE_MEASURED, "",
		"Sends, receives and all-to-alls take %.0f %% of the measured time of calls. They "
		"are seen and not tuned: NCCL asks no tuner about them.",
		100 * seen_us / all_us);
}

void nt_maker_open(struct nt_maker *maker)
{
	say_seen(maker);
	for (size_t i = 0; i < sizeof(together) / sizeof(together[0]); i++) {
		for (int running = 0; running < 2; running++)
			say_rows(maker, together[i].kind,
				 &(struct reason_filter){ together[i].reason, running });
	}
}

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
static bool is_repeated(const struct nt_maker *maker, const struct nt_remark *remark)
{
	const struct reason_filter ended = { NT_REASON_OBSERVED, false },
				   running = { ended.reason, true };
	double spent_ms;
	char which[96];

	return remark->why.id == NT_REASON_MODE &&
	       (rows_of(maker->summary, &ended, &spent_ms, which, sizeof(which)) > 0 ||
		rows_of(maker->summary, &running, &spent_ms, which, sizeof(which)) > 0);
}

static void say_remark(struct nt_maker *maker, size_t which)
{
	const struct nt_summary *summary = maker->summary;
	const struct nt_remark *remark = &summary->remarks[which];
	char steps[160], who[120] = "", count[48];
	struct nt_said said;

	nt_said_why(&said, &remark->why);
	steps_of(summary, which, steps, sizeof(steps));
	if (is_repeated(maker, remark))
		return;
	snprintf(count, sizeof(count), "%" PRId64 " communicators of ", remark->comms);
	if (remark->ranks > 0)
		snprintf(who, sizeof(who), ", %s%" PRIu32 " rank%s on %" PRIu32 " node%s",
			 remark->comms == 1 ? "a communicator of " : count, remark->ranks,
			 nt_plural(remark->ranks), remark->nodes, nt_plural(remark->nodes));
	nt_maker_say(maker,
		     remark->why.id == NT_REASON_BEHIND ? NT_SENTENCE_STALLED : NT_SENTENCE_UNTUNED,
		     said.type, "%s%s%s: %s", title_of(summary, remark), steps, who, said.says);
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
