/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "record/lateness.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "lib/compare.h"

#define CALLS_MIN 8u /* fewer show nothing */
#define SLICE_CALLS 4u
/* A rank came last if the others waited so long, and for this share of their time. */
#define LATE_US 10.0
#define LATE_SHARE 0.03
/* A rank is named if the calls begin later for it than by chance: by this share of the program's
 * step, or of a call's time if the step is not known, and by so many standard errors, as calls show
 * them and as slices do, whose calls may not be independent. At least so many calls must show it.
 * It is steady if it leads in most slices. */
#define NAMED_STEP 0.03
#define NAMED_COST 0.1
#define NAMED_ERRORS 3.6
#define NAMED_SLICE_ERRORS 3.2
#define NAMED_SLICES 4u
#define NAMED_CALLS 6.0
#define STEADY_SLICES 0.75
#define EVEN_MOST 4096 /* ranks, of which that is looked at */
/* Somebody comes last again and again, beyond chance. */
#define AGAIN_SHARE 0.5
#define AGAIN_DEVIATIONS 3.6
/* Its calls with less than this share of the mean waiting are not counted. */
#define LITTLE_COST 0.2
/* Waiting that is reported though nobody is named. */
#define WANDERS_SHARE 0.1
#define VARIES_SHARE 0.3

enum { RANK, NODE };

struct call {
	double s;
	double middle_us; /* median of all ranks but the last */
	double least_us; /* the most that a rank took without waiting */
	double late_us; /* 0: nobody clearly came last */
	double cost_us; /* by all ranks */
	double gap_us[2]; /* how much later it began than without its latest RANK, or NODE */
	uint32_t who[2]; /* came last: its RANK and NODE */
	unsigned slice;
};

struct finder {
	struct nt_lateness *out;
	struct nt_late_sample *samples;
	size_t count;
	struct call *calls;
	double all_us; /* of all calls, of all ranks */
	double ring_us; /* of those that are rings */
	double step_us; /* of the program, for each call; 0: not known */
	bool even; /* nodes have as many ranks each */
	const struct call **sorted; /* scratch, as many as calls */
};

const char *nt_late_name(enum nt_late kind)
{
	static const char *const names[] = {
		[NT_LATE_NONE] = "",
		[NT_LATE_STEADY] = "steady",
		[NT_LATE_WANDERS] = "wanders",
		[NT_LATE_VARIES] = "varies",
	};

	return names[kind];
}

static int by_call(const void *left, const void *right)
{
	const struct nt_late_sample *a = left, *b = right;

	NT_COMPARE(a->call.coll, b->call.coll);
	NT_COMPARE(a->call.turn, b->call.turn);
	NT_COMPARE(a->call.us, b->call.us);
	NT_COMPARE(a->rank, b->rank);
	return 0;
}

static int by_rank(const void *left, const void *right)
{
	const struct nt_late_sample *a = left, *b = right;

	NT_COMPARE(a->rank, b->rank);
	return 0;
}

/* To sort pointers to calls. */
#define ORDER(name, member)                                                \
	static int name(const void *left, const void *right)               \
	{                                                                  \
		const struct call *a = *(const struct call *const *)left;  \
		const struct call *b = *(const struct call *const *)right; \
                                                                           \
		NT_COMPARE(a->member, b->member);                          \
		NT_COMPARE(a, b);                                          \
		return 0;                                                  \
	}

ORDER(by_time, s)
ORDER(by_cost, cost_us)
ORDER(by_lateness, late_us)
ORDER(by_late_rank, who[RANK])
ORDER(by_late_node, who[NODE])

/* Do a call's nodes have as many samples each? */
static bool is_even(const struct nt_late_sample *first, size_t ranks)
{
	size_t here = 0;

	for (size_t i = 0; i < ranks; i++) {
		size_t same = 0;

		for (size_t k = 0; k < ranks; k++)
			same += first[k].node == first[i].node;
		if (i > 0 && same != here)
			return false;
		here = same;
	}
	return true;
}

/* A node with more ranks than another begins later by chance: then only its latest rank counts. */
static double node_gap_us(const struct finder *f, const struct call *call,
			  const struct nt_late_sample *first, size_t ranks)
{
	for (size_t i = 1; i < ranks && f->even; i++) {
		if (first[i].node != first->node)
			return fmax(0, first[i].call.us - call->least_us);
	}
	return call->gap_us[RANK];
}

/* first: the samples of a call, the shortest first. */
static void take_call(struct finder *f, const struct nt_late_sample *first, size_t ranks)
{
	struct call *call = &f->calls[f->out->calls++];
	const double shortest = first->call.us;
	bool ring = true;

	if (f->out->calls == 1)
		f->even = ranks <= EVEN_MOST && is_even(first, ranks);
	*call = (struct call){ .s = first->call.s, .who = { first->rank, first->node } };
	for (size_t i = 0; i < ranks; i++)
		ring = ring && first[i].call.ring;
	call->least_us = ring ? shortest : 2 * shortest;
	for (size_t i = 0; i < ranks; i++) {
		call->cost_us += fmax(0, first[i].call.us - call->least_us);
		f->all_us += first[i].call.us;
		f->ring_us += ring ? first[i].call.us : 0;
	}
	call->gap_us[RANK] = fmax(0, first[1].call.us - call->least_us);
	call->gap_us[NODE] = node_gap_us(f, call, first, ranks);
	call->middle_us = first[1 + (ranks - 2) / 2].call.us;
	call->late_us = call->middle_us - call->least_us;
	if (call->late_us < LATE_US || call->late_us < LATE_SHARE * call->middle_us)
		call->late_us = 0;
	f->out->lost_us += ring ? call->cost_us : 0;
}

static bool same_call(const struct nt_late_sample *a, const struct nt_late_sample *b)
{
	return a->call.coll == b->call.coll && a->call.turn == b->call.turn;
}

/* Drops samples of calls that too few ranks have. */
static void take_calls(struct finder *f, int64_t ranks)
{
	size_t kept = 0, length;

	qsort(f->samples, f->count, sizeof(f->samples[0]), by_call);
	for (size_t i = 0; i < f->count; i += length) {
		for (length = 1;
		     i + length < f->count && same_call(&f->samples[i], &f->samples[i + length]);)
			length++;
		if (length < 2 || 4 * (double)length < 3 * (double)ranks ||
		    (double)length > (double)ranks)
			continue;
		take_call(f, &f->samples[i], length);
		for (size_t k = 0; k < length; k++) {
			f->samples[kept] = f->samples[i + k];
			f->samples[kept++].at = f->out->calls - 1;
		}
	}
	f->count = kept;
}

static void cut_slices(struct finder *f)
{
	struct nt_lateness *out = f->out;

	for (size_t i = 0; i < out->calls; i++)
		f->sorted[i] = &f->calls[i];
	qsort(f->sorted, out->calls, sizeof(f->sorted[0]), by_time);
	out->slices = NT_LATENESS_SLICES;
	if (out->calls / SLICE_CALLS < out->slices)
		out->slices = (unsigned)(out->calls / SLICE_CALLS);
	for (size_t i = out->calls; i-- > 0;) {
		const unsigned slice = (unsigned)(i * out->slices / out->calls);

		f->calls[f->sorted[i] - f->calls].slice = slice;
		out->from_s[slice] = f->sorted[i]->s;
	}
}

#define ALL_SLICES UINT32_MAX

/* Fills f->sorted with calls in which somebody came last; their number. */
static size_t pick(struct finder *f, unsigned slice)
{
	size_t count = 0;

	for (size_t i = 0; i < f->out->calls; i++) {
		const struct call *call = &f->calls[i];

		if ((slice == ALL_SLICES || call->slice == slice) && call->late_us > 0)
			f->sorted[count++] = call;
	}
	return count;
}

/* Whom the others waited for most; its calls are then adjacent. */
struct latest {
	size_t first, length;
	double gap_us; /* of these calls together */
	double own_calls; /* their effective number: as if all had equal gaps */
};

static struct latest find_latest(struct finder *f, size_t count, int what)
{
	struct latest out = { .length = 0 };
	size_t length;

	qsort(f->sorted, count, sizeof(f->sorted[0]), what == NODE ? by_late_node : by_late_rank);
	for (size_t i = 0; i < count; i += length) {
		double gap_us = 0, squares = 0;

		for (length = 0; i + length < count; length++) {
			const struct call *call = f->sorted[i + length];

			if (call->who[what] != f->sorted[i]->who[what])
				break;
			gap_us += call->gap_us[what];
			squares += call->gap_us[what] * call->gap_us[what];
		}
		if (gap_us > out.gap_us)
			out = (struct latest){ i, length, gap_us, gap_us * gap_us / squares };
	}
	return out;
}

/* Without calls that have hardly any waiting. */
static void tell_calls(struct nt_lateness *out, const struct call **own, size_t count)
{
	double little_us = 0;
	size_t skip = 0;

	for (size_t i = 0; i < count; i++)
		little_us += LITTLE_COST * own[i]->cost_us / (double)count;
	qsort(own, count, sizeof(own[0]), by_cost);
	while (own[skip]->cost_us < little_us)
		skip++;
	qsort(own + skip, count - skip, sizeof(own[0]), by_lateness);
	out->late_calls = count - skip;
	out->late_us = own[skip + out->late_calls / 2]->late_us;
}

struct moments {
	double count, sum, squares;
};

static void add_moment(struct moments *to, double value)
{
	to->count++;
	to->sum += value;
	to->squares += value * value;
}

static double mean_of(const struct moments *of)
{
	return of->count > 0 ? of->sum / of->count : 0;
}

static double error_of(const struct moments *of)
{
	const double mean = mean_of(of);

	return of->count < 2
		       ? INFINITY
		       : sqrt(fmax(0, of->squares / of->count - mean * mean) / (of->count - 1));
}

/* How much later a call begins for a rank or node than for any of so many others, in the mean: in
 * microseconds; 0 if that may be chance. */
static double excess_us(const struct finder *f, int what, uint32_t who, double others)
{
	struct moments calls = { 0 }, slices = { 0 }, slice[NT_LATENESS_SLICES] = { { 0 } };
	double mean_us;

	for (size_t i = 0; i < f->out->calls; i++) {
		const struct call *call = &f->calls[i];
		const double us = call->gap_us[what] * (call->who[what] == who ? 1 : -1 / others);

		add_moment(&calls, us);
		add_moment(&slice[call->slice], us);
	}
	for (unsigned i = 0; i < f->out->slices; i++)
		add_moment(&slices, mean_of(&slice[i]));
	mean_us = mean_of(&calls);
	if (mean_us < NAMED_ERRORS * error_of(&calls) ||
	    (f->out->slices >= NAMED_SLICES && mean_us < NAMED_SLICE_ERRORS * error_of(&slices)))
		return 0;
	return mean_us;
}

/* How many others there are for each of a rank, or of a node's ranks. */
static double count_others(const struct finder *f, int what, uint32_t who, double ranks)
{
	size_t here = 0;

	if (what == RANK)
		return ranks - 1;
	for (size_t i = 0; i < f->count; i++)
		here += f->samples[i].node == who;
	return (double)(f->count - here) / (double)here;
}

/* Is there one rank, or node, that others wait for? Time counts, not calls: where communication
 * takes most of a step, only its first call shows that a rank computes for longer. */
static bool name_one(struct finder *f, int what, double ranks)
{
	struct nt_lateness *out = f->out;
	const struct latest latest = find_latest(f, pick(f, ALL_SLICES), what);
	const struct call **own = &f->sorted[latest.first];
	const double call_us = f->all_us / (double)f->count;
	double others, us;

	if (latest.length == 0 || latest.own_calls < NAMED_CALLS)
		return false;
	others = count_others(f, what, own[0]->who[what], ranks);
	us = others > 0 ? excess_us(f, what, own[0]->who[what], others) : 0;
	if (us <= 0 || us < (f->step_us > 0 ? NAMED_STEP * f->step_us : NAMED_COST * call_us))
		return false;
	out->rank = what == NODE ? -1 : (int64_t)own[0]->who[RANK];
	out->node = own[0]->who[NODE];
	if (f->step_us > 0)
		out->cost = fmin(1, us / f->step_us);
	tell_calls(out, own, latest.length);
	return true;
}

/* In how many slices the named one leads. */
static unsigned led_slices(struct finder *f)
{
	const struct nt_lateness *out = f->out;
	const int what = out->rank < 0 ? NODE : RANK;
	const int64_t named = out->rank < 0 ? out->node : out->rank;
	unsigned led = 0;

	for (unsigned i = 0; i < out->slices; i++) {
		const struct latest latest = find_latest(f, pick(f, i), what);

		led += latest.length > 0 && f->sorted[latest.first]->who[what] == named;
	}
	return led;
}

/* Is late of all too many for a share by chance? */
static bool beyond_chance(double late, double all, double share)
{
	return all > 0 && share < 1 && late >= AGAIN_SHARE * all &&
	       late >= all * share + AGAIN_DEVIATIONS * sqrt(all * share * (1 - share));
}

/* Does who came last come last in the next call, too, beyond chance? */
static bool stays_a_while(struct finder *f)
{
	size_t count = pick(f, ALL_SLICES), length;
	double pairs = count > 0 ? (double)count - 1 : 0, chance = 0, again = 0;

	qsort(f->sorted, count, sizeof(f->sorted[0]), by_late_rank);
	for (size_t i = 0; i < count; i += length) {
		for (length = 1; i + length < count &&
				 f->sorted[i]->who[RANK] == f->sorted[i + length]->who[RANK];)
			length++;
		chance += pow((double)length / (double)count, 2);
	}
	qsort(f->sorted, count, sizeof(f->sorted[0]), by_time);
	for (size_t i = 1; i < count; i++)
		again += f->sorted[i]->who[RANK] == f->sorted[i - 1]->who[RANK];
	return beyond_chance(again, pairs, chance);
}

static enum nt_late judge(struct finder *f, double ranks)
{
	struct nt_lateness *out = f->out;

	if (name_one(f, RANK, ranks) || name_one(f, NODE, ranks))
		return led_slices(f) > STEADY_SLICES * out->slices ? NT_LATE_STEADY
								   : NT_LATE_WANDERS;
	if (isnan(out->waiting) || out->waiting < WANDERS_SHARE ||
	    out->lost_us < NAMED_STEP * f->step_us * ranks * (double)out->calls)
		return NT_LATE_NONE;
	if (stays_a_while(f))
		return NT_LATE_WANDERS;
	return out->waiting < VARIES_SHARE ? NT_LATE_NONE : NT_LATE_VARIES;
}

static double total(const struct nt_late_row *row)
{
	double us = 0;

	for (unsigned i = 0; i < NT_LATENESS_SLICES; i++)
		us += row->us[i];
	return us;
}

/* Keeps those that came latest. */
static void keep_row(struct nt_lateness *out, const struct nt_late_row *row)
{
	size_t least = 0;

	if (out->row_count < NT_LATENESS_ROWS) {
		out->row[out->row_count++] = *row;
		return;
	}
	for (size_t i = 1; i < out->row_count; i++) {
		if (total(&out->row[i]) < total(&out->row[least]))
			least = i;
	}
	if (total(row) <= total(&out->row[least]))
		return;
	memmove(&out->row[least], &out->row[least + 1],
		(out->row_count - least - 1) * sizeof(out->row[0]));
	out->row[out->row_count - 1] = *row;
}

static void make_rows(struct finder *f)
{
	size_t length;

	qsort(f->samples, f->count, sizeof(f->samples[0]), by_rank);
	for (size_t i = 0; i < f->count; i += length) {
		struct nt_late_row row = { .rank = f->samples[i].rank, .node = f->samples[i].node };
		size_t calls[NT_LATENESS_SLICES] = { 0 };

		for (length = 0; i + length < f->count && f->samples[i + length].rank == row.rank;
		     length++) {
			const struct nt_late_sample *sample = &f->samples[i + length];
			const struct call *call = &f->calls[sample->at];

			calls[call->slice]++;
			if (sample->rank == call->who[RANK])
				row.us[call->slice] += call->late_us;
		}
		for (unsigned k = 0; k < NT_LATENESS_SLICES; k++)
			row.us[k] = calls[k] ? row.us[k] / (double)calls[k] : 0;
		keep_row(f->out, &row);
	}
}

int nt_lateness_find(struct nt_lateness *out, struct nt_late_sample *samples, size_t count,
		     int64_t ranks, double step_us)
{
	struct finder f = { .out = out, .samples = samples, .count = count, .step_us = step_us };
	int rc = -1;

	*out = (struct nt_lateness){
		.waiting = NAN, .rank = -1, .node = -1, .late_us = NAN, .cost = NAN
	};
	if (ranks < 2 || count < (size_t)2 * CALLS_MIN)
		return 0;
	f.calls = calloc(count / 2, sizeof(f.calls[0]));
	f.sorted = calloc(count / 2, sizeof(f.sorted[0]));
	if (!f.calls || !f.sorted)
		goto out;
	take_calls(&f, ranks);
	rc = 0;
	if (out->calls < CALLS_MIN || f.all_us <= 0) {
		out->calls = 0;
		goto out;
	}
	if (f.ring_us > 0)
		out->waiting = out->lost_us / f.ring_us;
	cut_slices(&f);
	out->kind = judge(&f, (double)ranks);
	make_rows(&f);
out:
	free(f.sorted);
	free(f.calls);
	return rc;
}
