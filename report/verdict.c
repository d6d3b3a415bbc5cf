/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences from rows. */
#include "report/verdict.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "contract/coll.h"
#include "record/rank.h"
#include "report/reasons.h"
#include "report/rowtext.h"
#include "report/rowtime.h"
#include "report/table.h"

#define GAINS_SHOWN 3
#define STAYS_SHOWN 4
#define SIZES_SHOWN 4
#define REASONS_SHOWN 5

#define POLICY "--nccl-tune=policy,launch=auto"

struct maker {
	struct nt_verdict_text *verdict;
	const struct nt_summary *summary;
	bool no_memory;
};

static void say(struct maker *maker, enum nt_sentence_kind kind, const char *type,
		const char *format, ...) __attribute__((format(printf, 4, 5)));

static void say(struct maker *maker, enum nt_sentence_kind kind, const char *type,
		const char *format, ...)
{
	struct nt_verdict_text *verdict = maker->verdict;
	struct nt_sentence *items = realloc(verdict->items, (verdict->count + 1) * sizeof(*items));
	struct nt_sentence *item;
	va_list args;

	if (!items) {
		maker->no_memory = true;
		return;
	}
	verdict->items = items;
	item = &items[verdict->count++];
	item->kind = kind;
	va_start(args, format);
	vsnprintf(item->text, sizeof(item->text), format, args);
	va_end(args);
	snprintf(item->type, sizeof(item->type), "%s", type);
}

/* ---- words */

/* "COLLNET_DIRECT" to "CollNet Direct"; what is no word stays as it is. */
static size_t put_word(char *out, size_t out_bytes, const char *name, size_t bytes)
{
	static const struct {
		const char *name, *word;
	} words[] = {
		{ "TREE", "Tree" },
		{ "RING", "Ring" },
		{ "COLLNET_DIRECT", "CollNet Direct" },
		{ "NVLS_TREE", "NVLS Tree" },
		{ "SIMPLE", "Simple" },
		{ "COLLNET_CHAIN", "CollNet Chain" },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strlen(words[i].name) == bytes && strncmp(words[i].name, name, bytes) == 0)
			return (size_t)snprintf(out, out_bytes, "%s", words[i].word);
	}
	return (size_t)snprintf(out, out_bytes, "%.*s", (int)bytes, name);
}

const char *nt_arm_words(int arm, char *out, size_t out_bytes)
{
	const char *name = nt_arm_name(arm), *and = " with ";
	size_t part = strcspn(name, "/");
	size_t used;

	if (arm == NT_ARM_AUTO) {
		snprintf(out, out_bytes, "NCCL's choice");
		return out;
	}
	used = put_word(out, out_bytes, name, part);
	for (int i = 0; name[part] == '/' && used < out_bytes; i++) {
		const char *at = name + part + 1;
		size_t bytes = strcspn(at, "/");

		part += 1 + bytes;
		if (i == 0) {
			used += (size_t)snprintf(out + used, out_bytes - used, "/");
			used += used < out_bytes ? put_word(out + used, out_bytes - used, at, bytes)
						 : 0;
		} else if (at[bytes - 1] == 'h') { /* "8ch" */
			used += (size_t)snprintf(out + used, out_bytes - used, "%s%.*s channels",
						 and, (int)bytes - 2, at);
			and = " and ";
		} else {
			used += (size_t)snprintf(out + used, out_bytes - used, "%schunks of %.*s",
						 and, (int)bytes, at);
		}
	}
	return out;
}

const char *nt_family_words(const struct nt_family *family, char *out, size_t out_bytes)
{
	const char *like = nt_parallel_name((int)family->parallel);
	char shape[64];

	if (family->nodes == 1)
		snprintf(shape, sizeof(shape), "the %" PRIu32 " ranks of one node", family->ranks);
	else if (family->nodes == family->ranks)
		snprintf(shape, sizeof(shape), "the %" PRIu32 " ranks on as many nodes",
			 family->ranks);
	else
		snprintf(shape, sizeof(shape), "the %" PRIu32 " ranks across %" PRIu32 " nodes",
			 family->ranks, family->nodes);
	if (family->name[0] || like[0])
		snprintf(out, out_bytes, "%s (%s%s%s%s%s)", shape, family->name,
			 family->name[0] && like[0] ? ", " : "", like[0] ? "looks " : "", like,
			 like[0] && family->parallel != NT_PARALLEL_WORLD ? " parallel"
			 : like[0]					  ? " wide"
									  : "");
	else
		snprintf(out, out_bytes, "%s", shape);
	return out;
}

static const struct nt_family *family_of(const struct maker *maker, const struct nt_row *row)
{
	return &maker->summary->families[row->family];
}

/* "Step 2: ", where there are several. */
static const char *step_prefix(const struct nt_summary *summary, size_t step, char *out,
			       size_t out_bytes)
{
	out[0] = '\0';
	if (summary->step_count > 1)
		snprintf(out, out_bytes, "Step %s: ", summary->steps[step].name);
	return out;
}

static bool is_state(const struct nt_row *row, const char *state)
{
	return row->state && strcmp(row->state, state) == 0;
}

/* ---- what is faster */

static double worth(const struct nt_row *row)
{
	return isnan(row->saved_ms) ? 0 : row->saved_ms;
}

static int by_worth(const void *left, const void *right)
{
	const struct nt_row *a = *(const struct nt_row *const *)left;
	const struct nt_row *b = *(const struct nt_row *const *)right;

	if (worth(a) < worth(b) || worth(a) > worth(b))
		return worth(a) > worth(b) ? -1 : 1;
	return (a > b) - (a < b);
}

static void say_gain(struct maker *maker, const struct nt_row *row)
{
	char step[48], size[24], shape[160], arm[96], of_arm[32], of_auto[32], saved[40] = "";
	char saved_text[32];
	double arm_us = nt_row_call_us(row, NT_OF_ARM), auto_us = nt_row_call_us(row, NT_OF_AUTO);

	if (!isnan(row->saved_ms) && row->saved_ms >= 0)
		snprintf(saved, sizeof(saved), "; saved %s",
			 nt_duration_text(row->saved_ms, saved_text, sizeof(saved_text)));
	else if (!isnan(row->saved_ms))
		snprintf(saved, sizeof(saved), "; lost %s so far",
			 nt_duration_text(-row->saved_ms, saved_text, sizeof(saved_text)));
	step_prefix(maker->summary, row->step, step, sizeof(step));
	nt_size_text(row->bytes, size, sizeof(size));
	nt_family_words(family_of(maker, row), shape, sizeof(shape));
	nt_arm_words(row->arm, arm, sizeof(arm));
	if (isnan(arm_us) || isnan(auto_us))
		say(maker, NT_SENTENCE_GAIN, "", "%s%s %s on %s: %s is in use%s.", step,
		    nt_coll_name(row->coll), size, shape, arm, saved);
	else
		say(maker, NT_SENTENCE_GAIN, "",
		    "%s%s %s on %s: %s takes %s%s instead of NCCL's %s%s.", step,
		    nt_coll_name(row->coll), size, shape, arm,
		    nt_time_text(arm_us, of_arm, sizeof(of_arm)),
		    nt_row_own_known(row) ? "" : " to the next call",
		    nt_time_text(auto_us, of_auto, sizeof(of_auto)), saved);
}

static void say_gains(struct maker *maker, const struct nt_row **rows)
{
	const struct nt_summary *summary = maker->summary;
	size_t count = 0;
	double saved_ms = 0;
	char text[32];

	for (size_t i = 0; i < summary->row_count; i++) {
		if (nt_row_is_tuned(&summary->rows[i]))
			rows[count++] = &summary->rows[i];
	}
	qsort(rows, count, sizeof(rows[0]), by_worth);
	for (size_t i = 0; i < count && i < GAINS_SHOWN; i++)
		say_gain(maker, rows[i]);
	for (size_t i = GAINS_SHOWN; i < count; i++)
		saved_ms += worth(rows[i]);
	if (count > GAINS_SHOWN)
		say(maker, NT_SENTENCE_GAIN, "",
		    "%zu more collectives and sizes run with another choice than NCCL's; together they "
		    "saved %s.",
		    count - GAINS_SHOWN, nt_duration_text(saved_ms, text, sizeof(text)));
}

/* ---- what stays */

/* Rows of one collective of one communicator stand together, by size. */
static bool same_kind(const struct nt_row *a, const struct nt_row *b)
{
	return a->step == b->step && a->family == b->family && a->coll == b->coll;
}

/* Kept, and not for lack of measurements. */
static bool stays(const struct nt_row *row)
{
	return is_state(row, NT_KEYSTATE_KEPT) && row->reason != NT_REASON_BUDGET &&
	       row->reason != NT_REASON_SAMPLES;
}

/* "at 4M and above", "at 64K, 1M and 4M", "at any size" of rows[0 .. count-1]; "" where none
 * stays. */
static void where_it_stays(const struct nt_row *rows, size_t count, char *out, size_t out_bytes)
{
	size_t kept = 0, first = count, used, told = 0;
	char size[24];

	for (size_t i = count; i > 0; i--) {
		kept += stays(&rows[i - 1]);
		if (stays(&rows[i - 1]) && first == i)
			first = i - 1; /* and all above it */
	}
	out[0] = '\0';
	if (kept == 0)
		return;
	if (kept == count && count > 1) {
		snprintf(out, out_bytes, "at any of its %zu sizes", count);
		return;
	}
	if (kept == count - first && kept > 1) {
		snprintf(out, out_bytes, "at %s and above",
			 nt_size_text(rows[first].bytes, size, sizeof(size)));
		return;
	}
	used = (size_t)snprintf(out, out_bytes, "at");
	for (size_t i = 0; i < count && told < SIZES_SHOWN; i++) {
		if (!stays(&rows[i]))
			continue;
		used += (size_t)snprintf(out + used, out_bytes - used, "%s %s",
					 told == 0	    ? ""
					 : told + 1 == kept ? " and"
							    : ",",
					 nt_size_text(rows[i].bytes, size, sizeof(size)));
		told++;
	}
	if (told < kept)
		snprintf(out + used, out_bytes - used, " and %zu more", kept - told);
}

static void say_stays(struct maker *maker)
{
	const struct nt_summary *summary = maker->summary;
	size_t count, told = 0, more = 0;

	for (size_t i = 0; i < summary->row_count; i += count) {
		const struct nt_row *row = &summary->rows[i];
		char step[48], shape[160], where[160];

		for (count = 1; i + count < summary->row_count && same_kind(row, row + count);)
			count++;
		where_it_stays(row, count, where, sizeof(where));
		if (where[0] && told++ < STAYS_SHOWN)
			say(maker, NT_SENTENCE_STAYS, "", "%s%s on %s: nothing to gain %s.",
			    step_prefix(summary, row->step, step, sizeof(step)),
			    nt_coll_name(row->coll),
			    nt_family_words(family_of(maker, row), shape, sizeof(shape)), where);
		else
			more += where[0] != '\0';
	}
	if (more > 0)
		say(maker, NT_SENTENCE_STAYS, "",
		    "Nothing to gain either in %zu more collectives: the table has them.", more);
}

/* ---- what was not decided */

/* "AllReduce 4M and 2 more", of rows of a reason, with those that the record only counts; 0 where
 * there are none. */
static size_t rows_of(const struct nt_summary *summary, int reason, double *spent_ms, char *out,
		      size_t out_bytes)
{
	const struct nt_row *first = NULL;
	char size[24], more[48] = "";
	size_t count = 0, rest = 0;

	*spent_ms = 0;
	for (size_t i = 0; i < summary->row_count; i++) {
		const struct nt_row *row = &summary->rows[i];

		if (nt_row_reason(row) != reason)
			continue;
		count++;
		*spent_ms += isnan(row->spent_ms) ? 0 : row->spent_ms;
		if (!first || row->calls > first->calls)
			first = row;
	}
	for (size_t i = 0; i < summary->step_count; i++)
		rest += (size_t)summary->steps[i].rest[reason];
	if (count + rest > 1)
		snprintf(more, sizeof(more), " and %zu more", count + rest - 1);
	if (!first)
		snprintf(out, out_bytes, "%zu collective%s and size%s", rest, rest == 1 ? "" : "s",
			 rest == 1 ? "" : "s");
	else
		snprintf(out, out_bytes, "%s %s%s", nt_coll_name(first->coll),
			 nt_size_text(first->bytes, size, sizeof(size)), more);
	return count + rest;
}

/* Reasons that are told of all their rows at once. */
static const struct {
	int reason;
	enum nt_sentence_kind kind;
	const char *says;
} together[] = {
	{ NT_REASON_OBSERVED, NT_SENTENCE_MEASURED, "Only measured, as mode observe does" },
	{ NT_REASON_UNWORTHY, NT_SENTENCE_MEASURED,
	  "Left alone, since it takes too little of the communication time" },
	{ NT_REASON_COUNTED, NT_SENTENCE_MEASURED,
	  "Left alone, since it was called too seldom or its turn did not come" },
	{ NT_REASON_UNFINISHED, NT_SENTENCE_UNFINISHED, "Unfinished when the step ended" },
	{ NT_REASON_BUDGET, NT_SENTENCE_UNFINISHED,
	  "Left as it was, since exploring on would have cost too much" },
	{ NT_REASON_SAMPLES, NT_SENTENCE_UNFINISHED,
	  "Left as it was, since too few calls could be timed" },
};

static void say_together(struct maker *maker)
{
	for (size_t i = 0; i < sizeof(together) / sizeof(together[0]); i++) {
		char which[96], spent_text[32], spent[64] = "";
		struct nt_said said;
		double spent_ms;

		if (rows_of(maker->summary, together[i].reason, &spent_ms, which, sizeof(which)) ==
		    0)
			continue;
		if (spent_ms > 0 && together[i].kind == NT_SENTENCE_UNFINISHED)
			snprintf(spent, sizeof(spent), " (it cost %s)",
				 nt_duration_text(spent_ms, spent_text, sizeof(spent_text)));
		nt_reason_say(&said, together[i].reason, NULL, NULL);
		say(maker, together[i].kind, said.type, "%s: %s%s.", together[i].says, which,
		    spent);
	}
}

/* ---- the net time */

/* Seconds saved after so many seconds of running. */
static double saved_after(const struct nt_summary *summary, size_t step, double seconds)
{
	double saved_s = 0;

	for (size_t i = 0; i < summary->row_count; i++) {
		const struct nt_row *row = &summary->rows[i];
		double rate = nt_row_saving_rate(row), from_s = nt_row_decided_s(row);

		if (row->step == step && !isnan(rate) && !isnan(from_s) && seconds > from_s)
			saved_s += rate * (seconds - from_s);
	}
	return saved_s;
}

#define LONGEST_S (30 * 86400.0)

double nt_verdict_pays_after_s(const struct nt_summary *summary, size_t step)
{
	double spent_s = 0, low = 0, high = LONGEST_S;

	for (size_t i = 0; i < summary->row_count; i++) {
		const struct nt_row *row = &summary->rows[i];

		if (row->step == step && !isnan(row->spent_ms))
			spent_s += row->spent_ms / 1e3;
	}
	if (spent_s <= 0 || saved_after(summary, step, high) < spent_s)
		return NAN;
	for (int i = 0; i < 60; i++) {
		double middle = (low + high) / 2;

		if (saved_after(summary, step, middle) < spent_s)
			low = middle;
		else
			high = middle;
	}
	return high;
}

struct net {
	double saved_ms, spent_ms;
	bool gained; /* something is faster */
	bool unfinished;
};

/* A step's own sums are of what had no room in the record, too. */
static struct net net_of(const struct nt_summary *summary, size_t step)
{
	const struct nt_step *known = &summary->steps[step];
	struct net net = { 0 };

	for (size_t i = 0; i < summary->row_count; i++) {
		const struct nt_row *row = &summary->rows[i];

		if (row->step != step)
			continue;
		net.saved_ms += worth(row);
		net.spent_ms += isnan(row->spent_ms) ? 0 : row->spent_ms;
		net.gained |= nt_row_is_tuned(row) && worth(row) > 0;
		net.unfinished |= nt_row_reason(row) == NT_REASON_UNFINISHED;
	}
	if (!isnan(known->spent_ms))
		net.spent_ms = known->spent_ms;
	if (!isnan(known->saved_ms))
		net.saved_ms = known->saved_ms;
	return net;
}

/* A step that has cost more than it saved. */
static void say_loss(struct maker *maker, size_t step, const struct net *net)
{
	double after_s = nt_verdict_pays_after_s(maker->summary, step);
	char name[48], spent[32], after[32] = "";

	if (maker->summary->step_count > 1)
		snprintf(name, sizeof(name), "Step %s", maker->summary->steps[step].name);
	else
		snprintf(name, sizeof(name), "This step");
	if (!isnan(after_s)) {
		nt_duration_text(ceil(after_s) * 1e3, after, sizeof(after));
		say(maker, NT_SENTENCE_NET, "To use what it found without exploring: " POLICY ".",
		    "%s was too short to pay for exploring: it would from %s on, or with " POLICY
		    ".",
		    name, after);
	} else if (net->gained) {
		say(maker, NT_SENTENCE_NET,
		    "Run longer, or use what it found without exploring: " POLICY ".",
		    "%s was too short to pay for exploring.", name);
	} else {
		nt_duration_text(net->spent_ms, spent, sizeof(spent));
		say(maker, NT_SENTENCE_NET,
		    net->unfinished ? ""
				    : "Run such steps with " POLICY
				      ": it explores nothing, and uses what is "
				      "remembered.",
		    "%s spent %s on exploring and gained nothing by it%s.", name, spent,
		    net->unfinished ? " before it ended" : "");
	}
}

static void say_net(struct maker *maker)
{
	const struct nt_summary *summary = maker->summary;
	struct net all = { 0 };
	char net_text[32], saved[32], spent[32];
	size_t losses = 0;

	for (size_t i = 0; i < summary->step_count; i++) {
		struct net net = net_of(summary, i);

		all.saved_ms += net.saved_ms;
		all.spent_ms += net.spent_ms;
		if (net.spent_ms > net.saved_ms && strcmp(summary->steps[i].mode, "observe") != 0 &&
		    losses++ < GAINS_SHOWN)
			say_loss(maker, i, &net);
	}
	say(maker, NT_SENTENCE_NET, "", "Net time saved: %s (saved %s, spent %s).",
	    nt_duration_text(all.saved_ms - all.spent_ms, net_text, sizeof(net_text)),
	    nt_duration_text(all.saved_ms, saved, sizeof(saved)),
	    nt_duration_text(all.spent_ms, spent, sizeof(spent)));
}

/* ---- what was not tuned */

static bool same_remark(const struct nt_remark *a, const struct nt_remark *b)
{
	return a->kind == b->kind && strcmp(a->text, b->text) == 0;
}

/* "in step 0", "in steps 0, 1, 2 and 5 more", of all remarks like that one. */
static void steps_of(const struct nt_summary *summary, size_t first, char *out, size_t out_bytes)
{
	char names[80] = "";
	size_t count = 0, used = 0;

	for (size_t i = first; i < summary->remark_count; i++) {
		if (!same_remark(&summary->remarks[i], &summary->remarks[first]))
			continue;
		if (count++ < SIZES_SHOWN)
			used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s",
						 count > 1 ? ", " : "", summary->remarks[i].step);
	}
	out[0] = '\0';
	if (summary->step_count < 2 || !summary->remarks[first].step[0])
		return;
	used = (size_t)snprintf(out, out_bytes, " in step%s %s", count == 1 ? "" : "s", names);
	if (count > SIZES_SHOWN && used < out_bytes)
		snprintf(out + used, out_bytes - used, " and %zu more", count - SIZES_SHOWN);
}

/* Was anything decided in a step? */
static bool was_tuned(const struct nt_summary *summary, const char *step)
{
	for (size_t i = 0; i < summary->row_count; i++) {
		const struct nt_row *row = &summary->rows[i];

		if (strcmp(summary->steps[row->step].name, step) == 0 &&
		    (is_state(row, NT_KEYSTATE_COMMITTED) || is_state(row, NT_KEYSTATE_KEPT)))
			return true;
	}
	return false;
}

/* A step that was tuned is not said not to have been. */
static const char *title_of(const struct nt_summary *summary, const struct nt_remark *remark)
{
	enum nt_reason_of about = nt_reason_about(remark->reason);

	if (about == NT_ABOUT_OPEN_KEY || about == NT_ABOUT_KEY)
		return "Left alone";
	return remark->ranks == 0 && was_tuned(summary, remark->step) ? "Tuned with limits"
								      : "Not tuned";
}

/* What mode observe does is told of the rows. */
static bool is_repeated(const struct maker *maker, const struct nt_remark *remark)
{
	double spent_ms;
	char which[96];

	return remark->reason == NT_REASON_MODE &&
	       rows_of(maker->summary, NT_REASON_OBSERVED, &spent_ms, which, sizeof(which)) > 0;
}

static void say_remark(struct maker *maker, size_t which)
{
	const struct nt_summary *summary = maker->summary;
	const struct nt_remark *remark = &summary->remarks[which];
	char steps[160], who[120] = "", count[48];
	struct nt_said said;

	nt_remark_say(&said, remark);
	steps_of(summary, which, steps, sizeof(steps));
	if (is_repeated(maker, remark))
		return;
	snprintf(count, sizeof(count), "%" PRId64 " communicators of ", remark->comms);
	if (remark->ranks > 0)
		snprintf(who, sizeof(who), " %s%" PRIu32 " rank%s on %" PRIu32 " node%s",
			 remark->comms == 1 ? "a communicator of " : count, remark->ranks,
			 remark->ranks == 1 ? "" : "s", remark->nodes,
			 remark->nodes == 1 ? "" : "s");
	say(maker, NT_SENTENCE_UNTUNED, said.type, "%s%s%s%s: %s", title_of(summary, remark), steps,
	    steps[0] && who[0] ? "," : "", who, said.says);
}

static void say_untuned(struct maker *maker)
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

/* ---- the rest */

static void say_launch(struct maker *maker)
{
	const struct nt_summary *summary = maker->summary;

	for (size_t i = 0, told = 0; i < summary->step_count; i++) {
		const struct nt_step *step = &summary->steps[i];

		if (!step->launch[0] || strcmp(step->launch, "default") == 0 ||
		    isnan(step->measured) || told++ >= GAINS_SHOWN)
			continue;
		say(maker, NT_SENTENCE_LAUNCH, "",
		    "Step %s: with launch profile %s the program's own step was %.2f times as fast.",
		    step->name, step->launch, step->measured);
	}
}

static void say_partial(struct maker *maker)
{
	const struct nt_summary *summary = maker->summary;
	const char *long_form = "";
	int64_t more = 0;

	for (size_t i = 0; i < summary->step_count; i++) {
		const struct nt_step *step = &summary->steps[i];

		more += step->more;
		if (step->more > 0 && !long_form[0])
			long_form = step->long_form;
		if (step->early)
			say(maker, NT_SENTENCE_PARTIAL, "",
			    "Step %s had not ended when this was written.", step->name);
		if (step->heard >= 0 && step->heard < step->nodes)
			say(maker, NT_SENTENCE_PARTIAL, "",
			    "Step %s: %" PRId64 " of %" PRId64 " nodes were read; communicators "
			    "that are on others alone are missing here.",
			    step->name, step->heard, step->nodes);
	}
	if (summary->more_steps > 0)
		say(maker, NT_SENTENCE_PARTIAL, "",
		    "%" PRId64 " more steps had no room in accounting and are missing here.",
		    summary->more_steps);
	if (more > 0)
		say(maker, NT_SENTENCE_PARTIAL, "",
		    "%" PRId64 " more collectives, sizes and reasons had no room in accounting and "
		    "are missing here.%s%s",
		    more, long_form[0] ? " All are in " : "", long_form);
	if (nt_summary_damaged(summary))
		say(maker, NT_SENTENCE_PARTIAL,
		    "Find out which other program changes AdminComment.",
		    "The record is damaged, this is what could be read.");
}

static void say_nothing(struct maker *maker)
{
	if (maker->summary->row_count > 0 || maker->verdict->count > 0)
		return;
	say(maker, NT_SENTENCE_MEASURED,
	    "If it should have, see that it runs NCCL on more than one GPU, long enough.",
	    "NCCL ran no collective often enough to be measured.");
}

int nt_verdict_make(struct nt_verdict_text *verdict, const struct nt_summary *summary,
		    struct nt_error *err)
{
	struct maker maker = { .verdict = verdict, .summary = summary };
	const struct nt_row **rows = calloc(summary->row_count + 1, sizeof(*rows));

	*verdict = (struct nt_verdict_text){ NULL, 0 };
	if (!rows)
		return nt_error_set(err, "no memory for a verdict");
	say_gains(&maker, rows);
	free(rows);
	say_stays(&maker);
	say_together(&maker);
	if (summary->row_count > 0)
		say_net(&maker);
	say_untuned(&maker);
	say_nothing(&maker);
	say_launch(&maker);
	say_partial(&maker);
	if (!maker.no_memory)
		return 0;
	nt_verdict_fini(verdict);
	return nt_error_set(err, "no memory for a verdict");
}

void nt_verdict_fini(struct nt_verdict_text *verdict)
{
	free(verdict->items);
	*verdict = (struct nt_verdict_text){ NULL, 0 };
}
