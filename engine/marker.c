/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/marker.h"

#include <math.h>
#include <string.h>
#include "contract/key-id.h"
#include "engine/quantiles.h"
#include "lib/quantile.h"

#define READINGS 6400u /* in a program's life */
#define STEADY_FACTOR 1.5
#define EXACT 32u /* calls of a step up to which its last one is awaited; else a 32nd part is off */
#define FEWEST_PART 64u /* by which the fewest steps are exceeded, at most */

bool nt_marker_same(const struct nt_marker_vote *a, const struct nt_marker_vote *b)
{
	return a->key.key == b->key.key && a->key.comm == b->key.comm && a->a_step == b->a_step;
}

/* ---- what a stretch tells */

static uint64_t steps_by(const struct nt_period *period, unsigned at)
{
	return period->key[at].newest.number / period->key[at].calls;
}

static bool preferred(const struct nt_period *period, unsigned a, unsigned b)
{
	const struct nt_period_call *call_a = &period->key[a].newest;
	const struct nt_period_call *call_b = &period->key[b].newest;
	unsigned band_a = nt_key_band(call_a->key), band_b = nt_key_band(call_b->key);
	unsigned coll_a = nt_key_coll(call_a->key), coll_b = nt_key_coll(call_b->key);

	if (period->key[a].calls != period->key[b].calls)
		return period->key[a].calls < period->key[b].calls;
	if (band_a != band_b)
		return band_a < band_b;
	if (coll_a != coll_b)
		return coll_a < coll_b;
	return call_a->comm != call_b->comm ? call_a->comm < call_b->comm
					    : call_a->key < call_b->key;
}

/* -1: none is counted. */
static int choose(const struct nt_period *period)
{
	uint64_t least = UINT64_MAX;
	uint32_t ranks = 0;
	int best = -1;

	for (unsigned i = 0; i < period->keys; i++) {
		const struct nt_period_call *call = &period->key[i].newest;

		if (call->number == 0 || call->ranks < ranks)
			continue;
		if (call->ranks > ranks || steps_by(period, i) < least)
			least = steps_by(period, i);
		ranks = call->ranks;
	}
	for (unsigned i = 0; i < period->keys; i++) {
		const struct nt_period_call *call = &period->key[i].newest;

		if (call->number != 0 && call->ranks == ranks &&
		    steps_by(period, i) <= least + least / FEWEST_PART + 1 && /* 1: a step's middle */
		    (best < 0 || preferred(period, i, (unsigned)best)))
			best = (int)i;
	}
	return best;
}

/* Of the marker's calls, by number modulo those of a step: that before the longest gap to the
 * next. */
static uint32_t last_of_step(const struct nt_period_call *calls, unsigned count,
			     const struct nt_marker_vote *vote)
{
	const struct nt_period_call *before = NULL;
	double sum[NT_PERIOD_CALLS / 4] = { 0 }; /* a stretch has four steps */
	uint32_t last = 0;

	for (unsigned i = 0; i < count; i++) {
		if (calls[i].key != vote->key.key || calls[i].comm != vote->key.comm)
			continue;
		if (before && calls[i].ns > before->ns)
			sum[before->number % vote->a_step] += (double)(calls[i].ns - before->ns);
		before = &calls[i];
	}
	for (uint32_t i = 1; i < vote->a_step; i++)
		last = sum[i] > sum[last] ? i : last;
	return last;
}

static struct nt_marker_vote vote_of(const struct nt_period_call *calls, unsigned count,
				     uint32_t comm)
{
	struct nt_marker_vote vote = { .votes = 0 };
	struct nt_period period;
	int at = nt_period_find(calls, count, comm, &period) ? choose(&period) : -1;

	if (at < 0)
		return vote;
	vote.key = (struct nt_marker_key){ period.key[at].newest.key, period.key[at].newest.comm,
					   period.key[at].newest.ranks };
	vote.a_step = period.key[at].calls;
	vote.last = last_of_step(calls, count, &vote);
	return vote;
}

/* ---- what stretches agree on */

/* The newest in place of the one with the fewest votes. */
static void cast(struct nt_marker *marker, const struct nt_marker_vote *vote)
{
	unsigned at = 0;

	marker->stretches++;
	if (vote->a_step == 0)
		return;
	for (unsigned i = 0; i < NT_MARKER_VOTES; i++) {
		if (nt_marker_same(&marker->vote[i], vote)) {
			marker->vote[i].votes++;
			marker->vote[i].last = vote->last;
			return;
		}
		if (marker->vote[i].votes < marker->vote[at].votes)
			at = i;
	}
	marker->vote[at] = *vote;
	marker->vote[at].votes = 1;
}

static void follow(struct nt_marker *marker, const struct nt_marker_vote *vote)
{
	if (!nt_marker_same(&marker->followed, vote)) {
		marker->counted = false;
		marker->newest = (struct nt_marker_step){ .steps = 0 };
	}
	marker->followed = *vote;
}

/* The one that more than half tell. */
static void elect(struct nt_marker *marker)
{
	const struct nt_marker_vote *open = &marker->open, *best = open;
	unsigned most = open->a_step > 0;
	const unsigned all = marker->stretches + most;

	for (unsigned i = 0; i < NT_MARKER_VOTES; i++) {
		const struct nt_marker_vote *v = &marker->vote[i];
		const bool again = open->a_step > 0 && nt_marker_same(v, open);

		if (v->votes == 0 || v->votes + again < most)
			continue;
		best = again ? open : v;
		most = v->votes + again;
	}
	marker->told = 2 * most > all;
	if (marker->told)
		follow(marker, best);
}

/* ---- how long steps take */

/* Times of a stretch's steps. Returns their number. */
static unsigned step_times(const struct nt_period_call *calls, unsigned count,
			   const struct nt_marker_vote *vote, float us[NT_PERIOD_CALLS])
{
	const struct nt_period_call *before = NULL;
	unsigned steps = 0;

	for (unsigned i = 0; i < count; i++) {
		if (calls[i].key != vote->key.key || calls[i].comm != vote->key.comm ||
		    calls[i].number % vote->a_step != vote->last)
			continue;
		if (before && calls[i].ns > before->ns)
			us[steps++] = (float)(calls[i].ns - before->ns) / 1e3F;
		before = &calls[i];
	}
	return steps;
}

/* Medians of as many parts as fit. */
static void take_times(const struct nt_period_call *calls, unsigned count,
		       const struct nt_marker_vote *vote, struct nt_marker_times *times)
{
	float us[NT_PERIOD_CALLS];
	const unsigned steps = step_times(calls, count, vote, us);

	*times = (struct nt_marker_times){ .key = vote->key,
					   .a_step = vote->a_step,
					   .begun_us = calls[0].ns / 1000,
					   .ended_us = calls[count - 1].ns / 1000 };
	times->count = steps < NT_MARKER_TIMES ? steps : NT_MARKER_TIMES;
	for (unsigned i = 0; i < times->count; i++) {
		const unsigned from = i * steps / times->count;
		const unsigned to = (i + 1) * steps / times->count;

		nt_sort_floats(us + from, to - from);
		times->us[i] = (float)nt_quantile_floats(us + from, to - from, 0.5);
	}
}

/* The followed key's newest call. Readings may know of the key too late to tell. */
static void see_call(struct nt_marker *marker, const struct nt_period_call *calls, unsigned count)
{
	const struct nt_marker_key *key = &marker->followed.key;

	while (count > 0 &&
	       (calls[count - 1].key != key->key || calls[count - 1].comm != key->comm))
		count--;
	if (count > 0 && calls[count - 1].ns / 1000 > marker->called_us)
		marker->called_us = calls[count - 1].ns / 1000;
}

void nt_marker_note(struct nt_marker *marker, const struct nt_period_call *calls, unsigned count,
		    uint32_t comm)
{
	marker->open = vote_of(calls, count, comm);
	elect(marker);
	see_call(marker, calls, count);
	if (marker->open.a_step > 0)
		take_times(calls, count, &marker->open, &marker->times[marker->timed]);
}

void nt_marker_end(struct nt_marker *marker)
{
	cast(marker, &marker->open);
	if (marker->open.a_step > 0)
		marker->timed++;
	if (marker->timed == NT_MARKER_STRETCHES)
		memmove(&marker->times[0], &marker->times[1],
			--marker->timed * sizeof(marker->times[0]));
	marker->open = (struct nt_marker_vote){ .votes = 0 };
	elect(marker);
}

/* ---- the followed key's calls */

static uint64_t life_us(const struct nt_marker *marker)
{
	return marker->read_us - marker->begun_us;
}

/* Is a step over after so many calls? */
static bool ends_step(const struct nt_marker_vote *vote, uint64_t calls)
{
	return calls >= vote->last &&
	       (calls + vote->a_step - vote->last) % vote->a_step <= vote->a_step / (EXACT + 1);
}

void nt_marker_read(struct nt_marker *marker, uint64_t now_us, uint64_t calls)
{
	const struct nt_marker_vote *vote = &marker->followed;
	const uint64_t before_us = marker->read_us, before = marker->calls;
	const bool counted = marker->counted;
	uint64_t steps, apart_us = now_us - before_us;

	if (marker->begun_us == 0)
		marker->begun_us = marker->called_us = now_us;
	marker->read_us = now_us;
	if (vote->a_step == 0)
		return;
	marker->counted = true;
	marker->calls = calls;
	if (!counted || calls <= before) /* when the calls before were made is unknown */
		return;
	marker->called_us = now_us;
	steps = (calls - before) / vote->a_step;
	apart_us = steps > 1 ? apart_us / steps : apart_us;
	if (ends_step(vote, calls))
		marker->newest = (struct nt_marker_step){ (calls - vote->last) / vote->a_step,
							  now_us - apart_us / 2, apart_us };
}

uint64_t nt_marker_rest_us(const struct nt_marker *marker)
{
	return life_us(marker) / READINGS;
}

/* ---- what is told */

/* Stretches that have times of the followed key. */
static unsigned times_of(const struct nt_marker *marker,
			 const struct nt_marker_times *of[NT_MARKER_STRETCHES])
{
	const unsigned all = marker->timed + (marker->open.a_step > 0);
	const struct nt_marker_vote *vote = &marker->followed;
	unsigned count = 0;

	for (unsigned i = 0; i < all; i++) {
		const struct nt_marker_times *t = &marker->times[i];

		if (t->count > 0 && t->key.key == vote->key.key && t->key.comm == vote->key.comm &&
		    t->a_step == vote->a_step)
			of[count++] = t;
	}
	return count;
}

/* As many as the most of a stretch, or NT_MARKER_PERIODS if there are several. */
static unsigned periods_of(const struct nt_marker *marker, double *us)
{
	const struct nt_marker_times *of[NT_MARKER_STRETCHES];
	const unsigned stretches = times_of(marker, of);
	unsigned at = 0, count;
	double from_us, all_us;

	if (stretches == 0)
		return 0;
	count = stretches > 1 ? NT_MARKER_PERIODS : of[0]->count;
	from_us = (double)of[0]->begun_us;
	all_us = (double)(stretches > 1 ? marker->read_us : of[0]->ended_us) - from_us;
	for (unsigned i = 0; i < count; i++) {
		const double now_us = from_us + all_us * (i + 0.5) / count;
		double begun_us, part;

		while (at + 1 < stretches && (double)of[at + 1]->begun_us <= now_us)
			at++;
		begun_us = (double)of[at]->begun_us;
		part = at + 1 < stretches ? (double)of[at + 1]->begun_us : from_us + all_us;
		part = (now_us - begun_us) / (part - begun_us);
		us[i] = (double)of[at]->us[(unsigned)(fmin(part, 0.999) * of[at]->count)];
	}
	return count;
}

static bool is_steady(const double *period, unsigned count, double median)
{
	unsigned usual = 0;

	for (unsigned i = 0; i < count; i++)
		usual += period[i] <= STEADY_FACTOR * median && median <= STEADY_FACTOR * period[i];
	return 2 * usual >= count;
}

/* 0: not known. */
static double median_of(const struct nt_marker *marker, struct nt_marker_found *found)
{
	double sorted[NT_MARKER_PERIODS], median;

	if (!marker->told || marker->read_us - marker->called_us > life_us(marker) / 2)
		return 0;
	found->periods = periods_of(marker, found->period_us);
	if (found->periods == 0)
		return 0;
	memcpy(sorted, found->period_us, found->periods * sizeof(sorted[0]));
	nt_sort_doubles(sorted, found->periods);
	median = sorted[found->periods / 2];
	return is_steady(sorted, found->periods, median) ? median : 0;
}

bool nt_marker_find(const struct nt_marker *marker, struct nt_marker_found *found)
{
	if (median_of(marker, found) <= 0)
		return false;
	found->key = marker->followed.key;
	found->a_step = marker->followed.a_step;
	found->steps = marker->calls / found->a_step;
	return true;
}

double nt_marker_step_us(const struct nt_marker *marker)
{
	struct nt_marker_found found;

	return median_of(marker, &found);
}
