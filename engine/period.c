/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/period.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "contract/coll.h"
#include "contract/key-id.h"
#include "lib/quantile.h"

#define SYMBOLS 256 /* different keys of a stretch */
#define REPEATS 4 /* of a window, at least */
#define LEAST_WINDOW 16 /* calls */
#define PARTS 8 /* a stretch is cut into, at most */
#define AGREE 0.75 /* of its parts */
#define RARE 0.97 /* longer gaps at a position are rare, and cut to */
#define CUT 1.5 /* ... that times as long */
#define NEAR_BEST 3.0 /* mean deviations: a mismatch is as good as the best */
#define NEAR_BEST_ADD 0.03
#define NOISE 4.0 /* mean deviations: beyond chance */
#define MOST_MISMATCH 1.2 /* a larger multiple than fits may be the period */
#define LEAST_MISMATCH 0.03 /* that counts, as a share of the time */
#define LEAST_ALONE 0.1 /* ... of a single key */
#define LEAST_LONGER 0.05 /* ... by which a period with more keys is the step's */
#define FEW_TIMES 4 /* a period with more keys that is so many times as long is the step's */
#define MOST_HIDDEN 8 /* small keys */
#define MANY_TIMES 33 /* ... and so many are a log's */

enum verdict {
	IRREGULAR, /* nothing repeats */
	EVEN, /* one key, evenly */
	UNCLEAR, /* a step or several */
	REGULAR,
};

/* The calls of a stretch that are looked at. */
struct view {
	unsigned count;
	uint16_t symbol[NT_PERIOD_CALLS];
	uint16_t call[NT_PERIOD_CALLS]; /* index in the stretch */
	float gap[NT_PERIOD_CALLS]; /* to the next one */
};

/* Where a period was found. */
struct section {
	enum verdict verdict;
	unsigned from, calls; /* of the newest window that has it */
	unsigned period; /* calls */
	unsigned by_keys; /* ... by keys alone */
	unsigned periods; /* of all windows that have it */
};

struct work {
	const struct nt_period_call *calls;
	unsigned symbols;
	unsigned symbol_call[SYMBOLS]; /* a call of each */
	uint16_t symbol[NT_PERIOD_CALLS];
	bool other[SYMBOLS]; /* of a communicator that is not looked at */
	struct view all, part; /* part: without some keys */
	/* Of a window */
	uint16_t border[NT_PERIOD_CALLS + 1];
	float gap[NT_PERIOD_CALLS], sorted[NT_PERIOD_CALLS];
	double mean[NT_PERIOD_CALLS];
};

static bool same_key(const struct nt_period_call *a, const struct nt_period_call *b)
{
	return a->key == b->key && a->comm == b->comm;
}

static bool is_small(const struct nt_period_call *call)
{
	return nt_band_floor(nt_key_band(call->key)) <= NT_PERIOD_SMALL;
}

/* False: too many. */
static bool name_keys(struct work *w, unsigned count, uint32_t comm)
{
	for (unsigned i = 0; i < count; i++) {
		unsigned s = 0;

		while (s < w->symbols && !same_key(&w->calls[i], &w->calls[w->symbol_call[s]]))
			s++;
		if (s == SYMBOLS)
			return false;
		if (s == w->symbols) {
			w->other[s] = comm != 0 && w->calls[i].comm != comm;
			w->symbol_call[w->symbols++] = i;
		}
		w->symbol[i] = (uint16_t)s;
	}
	return true;
}

static void take_view(const struct work *w, struct view *view, unsigned count,
		      const bool without[SYMBOLS])
{
	view->count = 0;
	for (unsigned i = 0; i < count; i++) {
		if (without[w->symbol[i]] || w->other[w->symbol[i]])
			continue;
		view->call[view->count] = (uint16_t)i;
		view->symbol[view->count++] = w->symbol[i];
	}
	for (unsigned i = 0; i + 1 < view->count; i++) {
		const uint64_t from = w->calls[view->call[i]].ns,
			       to = w->calls[view->call[i + 1]].ns;

		view->gap[i] = to > from ? (float)(to - from) : 0;
	}
	/* The newest call's is not over. */
	view->count -= view->count > 0;
}

/* Smallest period of all symbols; 0: none that repeats often enough. */
static unsigned period_by_keys(struct work *w, const uint16_t *symbol, unsigned count)
{
	unsigned length = 0;

	w->border[0] = w->border[1] = 0;
	for (unsigned i = 1; i < count; i++) {
		while (length > 0 && symbol[i] != symbol[length])
			length = w->border[length];
		if (symbol[i] == symbol[length])
			length++;
		w->border[i + 1] = (uint16_t)length;
	}
	return (count - length) * REPEATS <= count ? count - length : 0;
}

/* Gaps that are rare at their position of a period are cut. */
static void cut_gaps(struct work *w, const float *gap, unsigned count, unsigned period)
{
	for (unsigned at = 0; at < period; at++) {
		unsigned n = 0;
		float most;

		for (unsigned i = at; i < count; i += period)
			w->sorted[n++] = gap[i];
		nt_sort_floats(w->sorted, n);
		most = (float)(CUT * nt_quantile_floats(w->sorted, n, RARE));
		for (unsigned i = at; i < count; i += period)
			w->gap[i] = gap[i] < most ? gap[i] : most;
	}
}

/* Time by which gaps differ from those a period later, as a share. */
static double mismatch(const float *gap, unsigned count, unsigned period)
{
	double differ = 0, sum = 0;

	for (unsigned i = 0; i + period < count; i++) {
		differ += fabs((double)gap[i] - (double)gap[i + period]);
		sum += ((double)gap[i] + (double)gap[i + period]) / 2;
	}
	return sum > 0 ? differ / sum : 0;
}

/* Mean gaps at each position of a period. */
static void average(struct work *w, unsigned count, unsigned period)
{
	for (unsigned at = 0; at < period; at++) {
		unsigned n = 0;

		w->mean[at] = 0;
		for (unsigned i = at; i < count; i += period, n++)
			w->mean[at] += (double)w->gap[i];
		w->mean[at] /= n;
	}
}

/* Time by which the mean gaps of a period are off the mean of those at the same position of its
 * parts, as a share. */
static double part_mismatch(const struct work *w, unsigned period, unsigned part)
{
	double differ = 0, sum = 0;

	for (unsigned at = 0; at < part; at++) {
		double mean = 0;

		for (unsigned i = at; i < period; i += part)
			mean += w->mean[i];
		sum += mean;
		mean /= period / part;
		for (unsigned i = at; i < period; i += part)
			differ += fabs(w->mean[i] - mean);
	}
	return sum > 0 ? differ / sum : 0;
}

static double beyond_chance(double least, double noise, unsigned count, unsigned period)
{
	return fmax(least, NOISE * noise / sqrt((double)count / period));
}

/* The multiple of a window's period by keys by which gaps repeat, too; 1: they tell no more. */
static unsigned multiple_by_gaps(struct work *w, unsigned count, unsigned period)
{
	double miss[NT_PERIOD_MULTIPLES + 1], best = 2;
	bool larger[NT_PERIOD_MULTIPLES + 1] = { false }; /* a larger one repeats better */
	unsigned most = count / REPEATS / period, m = 1;

	most = most < NT_PERIOD_MULTIPLES ? most : NT_PERIOD_MULTIPLES;
	for (unsigned i = 1; i <= most; i++) {
		miss[i] = mismatch(w->gap, count, i * period);
		best = miss[i] < best ? miss[i] : best;
	}
	for (unsigned i = 2; i <= most; i++) {
		const double least = beyond_chance(LEAST_MISMATCH, miss[i], count, i * period);

		average(w, count, i * period);
		for (unsigned part = 1; part <= i / 2; part++) {
			if (i % part == 0 && part_mismatch(w, i * period, part * period) >= least)
				larger[part] = true;
		}
	}
	best += best * NEAR_BEST / sqrt((double)count / period) + NEAR_BEST_ADD;
	while (m < most && (larger[m] || miss[m] > best))
		m++;
	return m;
}

static struct section section_of(struct work *w, const struct view *view, unsigned from,
				 unsigned calls)
{
	struct section p = { .verdict = IRREGULAR, .from = from, .calls = calls };
	unsigned times;

	p.by_keys = period_by_keys(w, view->symbol + from, calls);
	if (p.by_keys == 0)
		return p;
	cut_gaps(w, view->gap + from, calls, p.by_keys);
	times = multiple_by_gaps(w, calls, p.by_keys);
	p.period = p.by_keys * times;
	p.periods = calls / p.period;
	p.verdict = REGULAR;
	if (mismatch(w->gap, calls, p.period) > MOST_MISMATCH)
		p.verdict = UNCLEAR;
	if (p.by_keys > 1)
		return p;
	average(w, calls, p.period);
	if (times == 1 || part_mismatch(w, p.period, 1) < LEAST_ALONE)
		p.verdict = EVEN;
	return p;
}

/* How often a symbol is called in a step. */
static unsigned calls_of(const struct view *view, const struct section *section, unsigned symbol)
{
	unsigned calls = 0;

	for (unsigned i = 0; i < section->period; i++)
		calls += view->symbol[section->from + i] == symbol;
	return calls;
}

static bool same_step(const struct work *w, const struct view *view, const struct section *a,
		      const struct section *b)
{
	if (a->verdict != b->verdict || a->period != b->period)
		return false;
	for (unsigned s = 0; s < w->symbols; s++) {
		if (calls_of(view, a, s) != calls_of(view, b, s))
			return false;
	}
	return true;
}

/* The newest of the sections that are like the most; IRREGULAR: too few are. */
static struct section agreed(const struct work *w, const struct view *view,
			     const struct section *section, unsigned count)
{
	struct section best = { .verdict = IRREGULAR };

	for (unsigned i = 0; i < count; i++) {
		unsigned like = 0, periods = 0;

		if (section[i].verdict == IRREGULAR)
			continue;
		for (unsigned j = 0; j < count; j++) {
			if (same_step(w, view, &section[i], &section[j])) {
				like++;
				periods += section[j].periods;
			}
		}
		if ((double)like < AGREE * count)
			continue;
		best = section[i];
		best.periods = periods;
	}
	if (best.verdict == REGULAR && best.periods < NT_PERIOD_LEAST)
		best.verdict = IRREGULAR;
	return best;
}

static struct section look(struct work *w, const struct view *view)
{
	struct section found = { .verdict = IRREGULAR }, section[PARTS];

	for (unsigned parts = 1; parts <= PARTS && found.verdict == IRREGULAR; parts *= 2) {
		const unsigned calls = view->count / parts;

		if (calls < LEAST_WINDOW)
			break;
		for (unsigned i = 0; i < parts; i++)
			section[i] = section_of(w, view, view->count - (parts - i) * calls, calls);
		found = agreed(w, view, section, parts);
	}
	return found;
}

/* Do the other calls' gaps repeat by the longer period only? */
static bool needs_longer(struct work *w, const struct section *part, unsigned longer)
{
	const float *gap = w->part.gap + part->from;
	double noise;

	if (longer * REPEATS > part->calls)
		return false;
	cut_gaps(w, gap, part->calls, part->by_keys);
	noise = mismatch(w->gap, part->calls, longer);
	average(w, part->calls, longer);
	return part_mismatch(w, longer, part->period) >=
	       beyond_chance(LEAST_LONGER, noise, part->calls, longer);
}

/* Steps with gradient accumulation often have so many parts. */
static bool is_power_of_two(unsigned times)
{
	return (times & (times - 1)) == 0;
}

/* Without some keys a period may be a part of what it is with them: are these called in every step,
 * or in a line of a log? Takes the part and its view if the part is the step. */
static void leave_out(struct work *w, unsigned count, const bool without[SYMBOLS],
		      struct section *section)
{
	unsigned longer = section->period, times;
	bool large = false; /* a log is not */
	struct section part;

	for (unsigned s = 0; s < w->symbols; s++) {
		const unsigned calls = without[s] ? calls_of(&w->all, section, s) : 0;

		longer -= calls;
		large |= calls > 0 && !is_small(&w->calls[w->symbol_call[s]]);
	}
	if (longer == 0 || longer == section->period)
		return;
	take_view(w, &w->part, count, without);
	part = look(w, &w->part);
	if (part.verdict == IRREGULAR || longer % part.period != 0 ||
	    (part.verdict == EVEN && large))
		return;
	times = longer / part.period;
	if (times == 1 || needs_longer(w, &part, longer) ||
	    (part.verdict == REGULAR && times <= FEW_TIMES))
		return;
	if (is_power_of_two(times))
		part.verdict = UNCLEAR;
	*section = part;
	w->all = w->part;
}

/* The keys that a period calls least, and any that it does not call. */
static void find_rarest(const struct work *w, const struct section *section, bool rarest[SYMBOLS])
{
	unsigned calls[SYMBOLS], least = UINT_MAX;

	for (unsigned s = 0; s < w->symbols; s++) {
		calls[s] = calls_of(&w->all, section, s);
		if (calls[s] > 0 && calls[s] < least)
			least = calls[s];
	}
	for (unsigned s = 0; s < w->symbols; s++)
		rarest[s] = calls[s] <= least;
}

static void tell(const struct work *w, const struct view *view, const struct section *section,
		 struct nt_period *found)
{
	*found = (struct nt_period){ .calls = section->period, .periods = section->periods };
	for (unsigned s = 0; s < w->symbols && found->keys < NT_PERIOD_KEYS; s++) {
		const unsigned calls = calls_of(view, section, s);
		unsigned at = view->count;

		if (calls == 0)
			continue;
		while (view->symbol[at - 1] != s)
			at--;
		found->key[found->keys].newest = w->calls[view->call[at - 1]];
		found->key[found->keys++].calls = calls;
	}
}

/* Steps from one of the hidden keys to the next in a stretch that is looked at without them. */
static double steps_between(struct work *w, unsigned count, const bool hidden[SYMBOLS],
			    unsigned period)
{
	unsigned since = 0, n = 0;
	bool any = false;

	for (unsigned i = 0; i < count; i++) {
		if (!hidden[w->symbol[i]]) {
			since += !w->other[w->symbol[i]];
			continue;
		}
		if (any && since > 0)
			w->sorted[n++] = (float)since;
		any = true;
		since = 0;
	}
	if (!any || since >= MANY_TIMES * period)
		return MANY_TIMES;
	nt_sort_floats(w->sorted, n);
	return n > 0 ? (double)nt_quantile_floats(w->sorted, n, 0.5) / period : 0;
}

/* The small key with the fewest calls of those that are not hidden yet. SYMBOLS: none */
static unsigned rarest_small(const struct work *w, unsigned count, const bool hidden[SYMBOLS])
{
	unsigned calls[SYMBOLS] = { 0 }, best = SYMBOLS;

	for (unsigned i = 0; i < count; i++)
		calls[w->symbol[i]]++;
	for (unsigned s = 0; s < w->symbols; s++) {
		if (!hidden[s] && !w->other[s] && is_small(&w->calls[w->symbol_call[s]]) &&
		    (best == SYMBOLS || calls[s] < calls[best]))
			best = s;
	}
	return best;
}

/* Small keys make the stretch irregular: without the rarest ones, which may be a log's. */
static struct section without_small(struct work *w, unsigned count)
{
	bool hidden[SYMBOLS] = { false };
	struct section section = { .verdict = IRREGULAR };
	double times;

	for (unsigned i = 0; section.verdict == IRREGULAR && i < MOST_HIDDEN; i++) {
		const unsigned rarest = rarest_small(w, count, hidden);

		if (rarest == SYMBOLS)
			break;
		hidden[rarest] = true;
		take_view(w, &w->all, count, hidden);
		section = look(w, &w->all);
	}
	if (section.verdict != REGULAR)
		return section;
	times = round(steps_between(w, count, hidden, section.period));
	if (times <= FEW_TIMES || (times < MANY_TIMES && is_power_of_two((unsigned)times)))
		section.verdict = UNCLEAR;
	return section;
}

/* A step with a small key is more than a part of one, as which fewer could be taken. */
static bool has_enough(const struct work *w, const struct section *section)
{
	for (unsigned i = 0; i < section->period; i++) {
		if (is_small(&w->calls[w->all.call[section->from + i]]))
			return true;
	}
	return section->periods >= NT_PERIOD_LEAST_LARGE;
}

static bool find(struct work *w, unsigned count, struct nt_period *found)
{
	bool without[SYMBOLS] = { false };
	struct section section;

	take_view(w, &w->all, count, without);
	section = look(w, &w->all);
	if (section.verdict == IRREGULAR)
		section = without_small(w, count);
	if (section.verdict == REGULAR) {
		find_rarest(w, &section, without);
		leave_out(w, count, without, &section);
	}
	if (section.verdict == REGULAR) {
		for (unsigned s = 0; s < w->symbols; s++)
			without[s] = is_small(&w->calls[w->symbol_call[s]]);
		leave_out(w, count, without, &section);
	}
	if (section.verdict != REGULAR || !has_enough(w, &section))
		return false;
	tell(w, &w->all, &section, found);
	return true;
}

bool nt_period_find(const struct nt_period_call *calls, unsigned count, uint32_t comm,
		    struct nt_period *found)
{
	struct work *w;
	bool is_found;

	if (count < LEAST_WINDOW || count > NT_PERIOD_CALLS)
		return false;
	w = malloc(sizeof(*w));
	if (!w)
		return false;
	w->calls = calls;
	w->symbols = 0;
	is_found = name_keys(w, count, comm) && find(w, count, found);
	free(w);
	return is_found;
}
