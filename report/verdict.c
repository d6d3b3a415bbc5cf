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
		{ "TREE", "Tree" },	    { "RING", "Ring" }, { "COLLNET_DIRECT", "CollNet Direct" },
		{ "NVLS_TREE", "NVLS Tree" }, { "SIMPLE", "Simple" },
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

const char *nt_shape_words(int64_t ranks, int64_t nodes, char *out, size_t out_bytes)
{
	if (nodes == 1)
		snprintf(out, out_bytes, "the %" PRId64 " ranks of one node", ranks);
	else if (nodes == ranks)
		snprintf(out, out_bytes, "the %" PRId64 " ranks on as many nodes", ranks);
	else
		snprintf(out, out_bytes, "the %" PRId64 " ranks across %" PRId64 " nodes", ranks,
			 nodes);
	return out;
}

/* "158 us", "1.90 ms": three digits. */
static const char *time_text(double us, char *out, size_t out_bytes)
{
	const char *unit = us < 999.5 ? "us" : us < 999.5e3 ? "ms" : "s";
	double value = us < 999.5 ? us : us < 999.5e3 ? us / 1e3 : us / 1e6;
	int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;

	snprintf(out, out_bytes, "%.*f %s", decimals, value, unit);
	return out;
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
	char step[48], size[24], shape[80], arm[96], of_arm[32], of_auto[32], saved[40] = "";
	char saved_text[32];
	double arm_us = nt_row_us(row, NT_SIDE_ARM), auto_us = nt_row_us(row, NT_SIDE_AUTO);

	if (!isnan(row->saved_ms) && row->saved_ms >= 0)
		snprintf(saved, sizeof(saved), "; saved %s",
			 nt_duration_text(row->saved_ms, saved_text, sizeof(saved_text)));
	else if (!isnan(row->saved_ms))
		snprintf(saved, sizeof(saved), "; lost %s so far",
			 nt_duration_text(-row->saved_ms, saved_text, sizeof(saved_text)));
	step_prefix(maker->summary, row->step, step, sizeof(step));
	nt_size_text(row->bytes, size, sizeof(size));
	nt_shape_words(row->ranks, row->nodes, shape, sizeof(shape));
	nt_arm_words(row->arm, arm, sizeof(arm));
	if (isnan(arm_us) || isnan(auto_us))
		say(maker, NT_SENTENCE_GAIN, "", "%s%s %s on %s: %s is in use%s.", step,
		    nt_coll_name(row->coll), size, shape, arm, saved);
	else
		say(maker, NT_SENTENCE_GAIN, "",
		    "%s%s %s on %s: %s takes %s%s instead of NCCL's %s%s.", step,
		    nt_coll_name(row->coll), size, shape, arm,
		    time_text(arm_us, of_arm, sizeof(of_arm)),
		    nt_row_has_own(row) ? "" : " to the next call",
		    time_text(auto_us, of_auto, sizeof(of_auto)), saved);
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
	return a->step == b->step && a->ranks == b->ranks && a->nodes == b->nodes &&
	       a->coll == b->coll;
}

static bool stays(const struct nt_row *row)
{
	return is_state(row, NT_KEYSTATE_KEPT);
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
					 told == 0	      ? ""
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
		char step[48], shape[80], where[160];

		for (count = 1; i + count < summary->row_count && same_kind(row, row + count);)
			count++;
		where_it_stays(row, count, where, sizeof(where));
		if (where[0] && told++ < STAYS_SHOWN)
			say(maker, NT_SENTENCE_STAYS, "", "%s%s on %s: nothing to gain %s.",
			    step_prefix(summary, row->step, step, sizeof(step)),
			    nt_coll_name(row->coll),
			    nt_shape_words(row->ranks, row->nodes, shape, sizeof(shape)), where);
		else
			more += where[0] != '\0';
	}
	if (more > 0)
		say(maker, NT_SENTENCE_STAYS, "",
		    "Nothing to gain either in %zu more collectives: the table has them.", more);
}

/* ---- what was not decided */

static void say_measured(struct maker *maker)
{
	const struct nt_summary *summary = maker->summary;
	size_t count = 0;

	for (size_t i = 0; i < summary->row_count; i++)
		count += is_state(&summary->rows[i], NT_KEYSTATE_OBSERVED);
	if (count > 0)
		say(maker, NT_SENTENCE_MEASURED, "To try other choices: --nccl-tune=bandit.",
		    "Only measured, as mode observe does: %zu collective%s and size%s.", count,
		    count == 1 ? "" : "s", count == 1 ? "" : "s");
}

static void say_unfinished(struct maker *maker)
{
	const struct nt_summary *summary = maker->summary;
	const struct nt_row *first = NULL;
	struct nt_said said;
	char size[24], spent_text[32], spent[64] = "";
	double spent_ms = 0;
	size_t count = 0;

	for (size_t i = 0; i < summary->row_count; i++) {
		const struct nt_row *row = &summary->rows[i];

		if (!is_state(row, NT_KEYSTATE_EXPLORING))
			continue;
		count++;
		spent_ms += isnan(row->spent_ms) ? 0 : row->spent_ms;
		if (!first || row->calls > first->calls)
			first = row;
	}
	if (count == 0)
		return;
	nt_reason_say(&said, nt_reason_find("unfinished")->words, NULL);
	if (spent_ms > 0)
		snprintf(spent, sizeof(spent), ", at a cost of %s",
			 nt_duration_text(spent_ms, spent_text, sizeof(spent_text)));
	say(maker, NT_SENTENCE_UNFINISHED, said.type,
	    "Unfinished when the step ended%s: %s %s%s.", spent, nt_coll_name(first->coll),
	    nt_size_text(first->bytes, size, sizeof(size)),
	    count == 1 ? ""
		       : (snprintf(spent_text, sizeof(spent_text), " and %zu more", count - 1),
			  spent_text));
}

/* ---- the net time */

/* When the row's arm came into use, in seconds of running; NAN: not known. */
static double decided_after_s(const struct nt_row *row)
{
	if (row->decided < 0 || isnan(row->auto_period_us))
		return NAN;
	return (double)row->decided * row->auto_period_us / 1e6;
}

/* Seconds saved after so many seconds of running. */
static double saved_after(const struct nt_summary *summary, size_t step, double seconds)
{
	double saved_s = 0;

	for (size_t i = 0; i < summary->row_count; i++) {
		const struct nt_row *row = &summary->rows[i];
		double rate = nt_row_saving_rate(row), from_s = decided_after_s(row);

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
};

static struct net net_of(const struct nt_summary *summary, size_t step)
{
	struct net net = { 0 };

	for (size_t i = 0; i < summary->row_count; i++) {
		const struct nt_row *row = &summary->rows[i];

		if (row->step != step)
			continue;
		net.saved_ms += isnan(row->saved_ms) ? 0 : row->saved_ms;
		net.spent_ms += isnan(row->spent_ms) ? 0 : row->spent_ms;
		net.gained |= nt_row_is_tuned(row) && worth(row) > 0;
	}
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
		say(maker, NT_SENTENCE_NET,
		    "To use what it found without exploring: " POLICY ".",
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
		    "Run such steps with " POLICY ": it explores nothing, and uses what is "
		    "remembered.",
		    "%s spent %s on exploring and has gained nothing by it so far.", name, spent);
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
		if (net.spent_ms > net.saved_ms && losses++ < GAINS_SHOWN)
			say_loss(maker, i, &net);
	}
	say(maker, NT_SENTENCE_NET, "", "Net time saved: %s (saved %s, spent %s).",
	    nt_duration_text(all.saved_ms - all.spent_ms, net_text, sizeof(net_text)),
	    nt_duration_text(all.saved_ms, saved, sizeof(saved)),
	    nt_duration_text(all.spent_ms, spent, sizeof(spent)));
}

/* ---- what was not tuned */

/* A remark without the communicator's shape before it: "4r2n, 2 communicators: why". */
struct about {
	int64_t ranks, nodes; /* 0: of the step */
	size_t comms;
	const char *why;
};

static struct about about_of(const char *text)
{
	struct about about = { 0, 0, 1, text };
	int64_t ranks, nodes;
	size_t comms = 1;
	int end = 0;

	if (sscanf(text, "%" SCNd64 "r%" SCNd64 "n%n", &ranks, &nodes, &end) < 2 || end == 0)
		return about;
	text += end;
	end = 0;
	if (sscanf(text, ", %zu communicator%n", &comms, &end) == 1 && end > 0) {
		text += end;
		text += *text == 's';
	}
	if (strncmp(text, ": ", 2) == 0)
		about = (struct about){ ranks, nodes, comms, text + 2 };
	return about;
}

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
						 count > 1 ? ", " : "",
						 summary->remarks[i].step);
	}
	out[0] = '\0';
	if (summary->step_count < 2 || !summary->remarks[first].step[0])
		return;
	used = (size_t)snprintf(out, out_bytes, " in step%s %s", count == 1 ? "" : "s", names);
	if (count > SIZES_SHOWN && used < out_bytes)
		snprintf(out + used, out_bytes - used, " and %zu more", count - SIZES_SHOWN);
}

static void say_remark(struct maker *maker, size_t which)
{
	const struct nt_summary *summary = maker->summary;
	struct about about = about_of(summary->remarks[which].text);
	char steps[160], who[120] = "", count[48];
	struct nt_said said;

	nt_reason_say(&said, about.why, NULL);
	steps_of(summary, which, steps, sizeof(steps));
	snprintf(count, sizeof(count), "%zu communicators of ", about.comms);
	if (about.ranks > 0)
		snprintf(who, sizeof(who), " %s%" PRId64 " ranks on %" PRId64 " node%s",
			 about.comms == 1 ? "a communicator of " : count, about.ranks, about.nodes,
			 about.nodes == 1 ? "" : "s");
	say(maker, NT_SENTENCE_UNTUNED, said.type, "Not tuned%s%s%s: %s", steps,
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
	int64_t more = 0;

	for (size_t i = 0; i < summary->step_count; i++)
		more += summary->steps[i].more;
	if (summary->more_steps > 0)
		say(maker, NT_SENTENCE_PARTIAL, "",
		    "%" PRId64 " more steps had no room in accounting and are missing here.",
		    summary->more_steps);
	if (more > 0)
		say(maker, NT_SENTENCE_PARTIAL, "",
		    "%" PRId64 " more collectives, sizes and reasons had no room in accounting and "
		    "are missing here.",
		    more);
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
	say_measured(&maker);
	say_unfinished(&maker);
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
