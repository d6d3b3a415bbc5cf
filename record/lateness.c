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
#define LATE_SHARE 0.1
/* A rank is named if half or more of the waiting is for it, so many standard deviations beyond
 * chance, in at least so many calls, at this share of all time. It is steady if it leads in most
 * slices. */
#define NAMED_SHARE 0.5
#define NAMED_DEVIATIONS 3.6
#define NAMED_CALLS 6.0
#define NAMED_COST 0.1
#define STEADY_SLICES 0.75
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

/* first: the samples of a call, the shortest first. */
static void take_call(struct finder *f, const struct nt_late_sample *first, size_t ranks)
{
	struct call *call = &f->calls[f->out->calls++];
	const double shortest = first->call.us;
	bool ring = true;

	*call = (struct call){ .s = first->call.s, .who = { first->rank, first->node } };
	for (size_t i = 0; i < ranks; i++)
		ring = ring && first[i].call.ring;
	call->least_us = ring ? shortest : 2 * shortest;
	for (size_t i = 0; i < ranks; i++) {
		call->cost_us += fmax(0, first[i].call.us - call->least_us);
		f->all_us += first[i].call.us;
		f->ring_us += ring ? first[i].call.us : 0;
	}
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
	double cost_us; /* waiting for it */
	double all_us; /* and for anybody */
	double own_calls, calls; /* effective numbers: as if all calls had equal cost */
};

static struct latest find_latest(struct finder *f, size_t count, int what)
{
	struct latest out = { .length = 0 };
	double all_squares = 0;
	size_t length;

	qsort(f->sorted, count, sizeof(f->sorted[0]), what == NODE ? by_late_node : by_late_rank);
	for (size_t i = 0; i < count; i += length) {
		double cost_us = 0, squares = 0;

		for (length = 0; i + length < count; length++) {
			const struct call *call = f->sorted[i + length];

			if (call->who[what] != f->sorted[i]->who[what])
				break;
			cost_us += call->cost_us;
			squares += call->cost_us * call->cost_us;
		}
		out.all_us += cost_us;
		all_squares += squares;
		if (cost_us > out.cost_us) {
			out.cost_us = cost_us;
			out.own_calls = cost_us * cost_us / squares;
			out.first = i;
			out.length = length;
		}
	}
	out.calls = all_squares > 0 ? out.all_us * out.all_us / all_squares : 0;
	return out;
}

/* Is late of all too many for a share by chance? */
static bool beyond_chance(double late, double all, double share)
{
	return all > 0 && share < 1 && late >= NAMED_SHARE * all &&
	       late >= all * share + NAMED_DEVIATIONS * sqrt(all * share * (1 - share));
}

/* Without calls that have hardly any waiting. */
static void tell_calls(struct nt_lateness *out, const struct call **own,
		       const struct latest *latest)
{
	const double little_us = LITTLE_COST * latest->cost_us / (double)latest->length;
	size_t skip = 0;

	qsort(own, latest->length, sizeof(own[0]), by_cost);
	while (own[skip]->cost_us < little_us)
		skip++;
	qsort(own + skip, latest->length - skip, sizeof(own[0]), by_lateness);
	out->late_calls = latest->length - skip;
	out->late_us = own[skip + out->late_calls / 2]->late_us;
}

/* Is there one rank, or node, that others wait for? Time counts, not calls: where communication
 * takes most of a step, only its first call shows that a rank computes for longer. */
static bool name_one(struct finder *f, int what, double ranks)
{
	struct nt_lateness *out = f->out;
	const struct latest latest = find_latest(f, pick(f, ALL_SLICES), what);
	const struct call **own = &f->sorted[latest.first];
	double share = 1 / ranks;

	if (latest.length == 0)
		return false;
	if (what == NODE) {
		size_t here = 0;

		for (size_t i = 0; i < f->count; i++)
			here += f->samples[i].node == own[0]->who[NODE];
		share = (double)here / (double)f->count;
	}
	if (latest.own_calls < NAMED_CALLS || latest.cost_us < NAMED_COST * f->all_us ||
	    !beyond_chance(latest.calls * latest.cost_us / latest.all_us, latest.calls, share))
		return false;
	out->rank = what == NODE ? -1 : (int64_t)own[0]->who[RANK];
	out->node = own[0]->who[NODE];
	tell_calls(out, own, &latest);
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
		return led_slices(f) >= STEADY_SLICES * out->slices ? NT_LATE_STEADY
								    : NT_LATE_WANDERS;
	if (isnan(out->waiting) || out->waiting < WANDERS_SHARE)
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
		     int64_t ranks)
{
	struct finder f = { .out = out, .samples = samples, .count = count };
	int rc = -1;

	*out = (struct nt_lateness){ .waiting = NAN, .rank = -1, .node = -1, .late_us = NAN };
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
