/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/marker.h"

#include <stdlib.h>
#include "contract/key-id.h"
#include "engine/quantiles.h"
#include "lib/quantile.h"

#define READINGS 6400u /* in a program's life: the shortest windows are 1/100 of it */
#define SILENCE_PART 200u /* windows grow with idle time */
/* The ends of a window may be uncertain by a sixth of it together: its error is at most a
 * twelfth. */
#define DOUBT_PART 6u
#define STEADY_FACTOR 1.5
#define STEADY_SHARE 0.125
#define STEADY_OF_BEST 0.75
#define STEADY_SILENT 0.5

struct nt_marker_track {
	struct nt_marker_key key;
	struct nt_marker_call newest;
	uint64_t least_us; /* least length of a window */
	bool begun; /* edge[0] is set */
	unsigned windows; /* full ones, from one edge to the next */
	struct nt_marker_call edge[NT_MARKER_WINDOWS + 1];
};

static struct nt_marker_track *track_of(const struct nt_marker *marker,
					const struct nt_marker_key *key,
					const struct nt_marker_place *place)
{
	struct nt_marker_track *t;

	if (place->track == 0 || place->track > marker->tracks)
		return NULL;
	t = marker->track[place->track - 1];
	/* Another key may have replaced it. */
	return t->key.key == key->key && t->key.comm == key->comm ? t : NULL;
}

/* Which of two to drop first? */
static bool goes_before(const struct nt_marker_track *a, const struct nt_marker_track *b)
{
	if (a->key.ranks != b->key.ranks)
		return a->key.ranks < b->key.ranks;
	return a->newest.us < b->newest.us;
}

static uint64_t life_us(const struct nt_marker *marker)
{
	return marker->read_us - marker->begun_us;
}

/* Place for a new key; NT_MARKER_KEYS: none. */
static unsigned make_room(struct nt_marker *marker, uint32_t ranks)
{
	unsigned first = 0;

	if (marker->tracks < NT_MARKER_KEYS || ranks <= marker->full)
		return marker->tracks;
	for (unsigned i = 1; i < NT_MARKER_KEYS; i++) {
		if (goes_before(marker->track[i], marker->track[first]))
			first = i;
	}
	if (marker->track[first]->key.ranks < ranks ||
	    marker->read_us - marker->track[first]->newest.us > life_us(marker) / 2)
		return first;
	marker->full = ranks;
	return NT_MARKER_KEYS;
}

static struct nt_marker_track *start_track(struct nt_marker *marker,
					   const struct nt_marker_key *key,
					   struct nt_marker_place *place)
{
	unsigned at = make_room(marker, key->ranks);

	if (at == NT_MARKER_KEYS)
		return NULL;
	if (at == marker->tracks) {
		marker->track[at] = malloc(sizeof(*marker->track[at]));
		if (!marker->track[at])
			return NULL;
		marker->tracks++;
	}
	*marker->track[at] = (struct nt_marker_track){ .key = *key,
						       .least_us = NT_MARKER_WINDOW_US };
	place->track = at + 1;
	return marker->track[at];
}

static double length_us(const struct nt_marker_call *from, const struct nt_marker_call *to)
{
	return to->us > from->us ? (double)(to->us - from->us) : 0;
}

static double period_us(const struct nt_marker_call *from, const struct nt_marker_call *to)
{
	return length_us(from, to) / (double)(to->calls - from->calls);
}

/* Long windows with a pause in them must not lengthen later ones. */
static void merge_windows(struct nt_marker_track *t)
{
	float us[NT_MARKER_WINDOWS / 2];

	t->windows /= 2;
	for (unsigned i = 0; i < t->windows; i++) {
		t->edge[i + 1] = t->edge[2 * i + 2];
		us[i] = (float)length_us(&t->edge[i], &t->edge[i + 1]);
	}
	/* A little shorter, so that jitter does not make windows miss a call. */
	t->least_us = (uint64_t)(0.9 * nt_sample_quantile(us, t->windows, 0.5));
}

static bool makes_window(const struct nt_marker_track *t, uint64_t least_us)
{
	const struct nt_marker_call *last = &t->edge[t->windows];
	double us = length_us(last, &t->newest);

	return t->begun && t->newest.calls > last->calls && us >= (double)least_us &&
	       us >= (double)DOUBT_PART * (double)(last->doubt_us + t->newest.doubt_us);
}

static void note_calls(struct nt_marker_track *t, const struct nt_marker_call *newest)
{
	t->newest = *newest;
	if (!t->begun && newest->calls >= 2) {
		t->begun = true;
		t->edge[0] = *newest;
	}
	if (!makes_window(t, t->least_us))
		return;
	t->edge[++t->windows] = *newest;
	if (t->windows == NT_MARKER_WINDOWS)
		merge_windows(t);
}

void nt_marker_read(struct nt_marker *marker, uint64_t now_us)
{
	marker->before_us = marker->read_us;
	marker->read_us = now_us;
	marker->full = 0;
}

void nt_marker_see(struct nt_marker *marker, const struct nt_marker_key *key,
		   struct nt_marker_place *place, uint64_t calls)
{
	uint64_t more = calls - place->calls;
	struct nt_marker_track *t;
	uint64_t apart_us;

	if (calls <= place->calls)
		return;
	place->calls = calls;
	if (marker->tracks == 0)
		marker->begun_us = marker->read_us;
	marker->called_us = marker->read_us;
	t = track_of(marker, key, place);
	if (!t)
		t = start_track(marker, key, place);
	/* When calls before the first reading were made is unknown. */
	if (!t || marker->before_us == 0)
		return;
	apart_us = (marker->read_us - marker->before_us) / more;
	note_calls(t, &(struct nt_marker_call){ calls, marker->read_us - apart_us / 2, apart_us });
}

uint64_t nt_marker_rest_us(const struct nt_marker *marker)
{
	uint64_t rest_us, silent_us;

	if (marker->tracks == 0)
		return UINT64_MAX;
	rest_us = life_us(marker) / READINGS;
	silent_us = (marker->read_us - marker->called_us) / SILENCE_PART;
	return rest_us > silent_us ? rest_us : silent_us;
}

/* The open window counts from half the length on. */
static unsigned periods_of(const struct nt_marker_track *t, double *us)
{
	unsigned count = t->windows;

	for (unsigned i = 0; i < count; i++)
		us[i] = period_us(&t->edge[i], &t->edge[i + 1]);
	if (makes_window(t, t->least_us / 2)) {
		us[count] = period_us(&t->edge[count], &t->newest);
		count++;
	}
	return count;
}

/* How long the key has kept its usual period; 0: it is no longer called, or too little is known. */
static double steady_us(const struct nt_marker *marker, const struct nt_marker_track *t)
{
	double period[NT_MARKER_WINDOWS], median, sum = 0;
	unsigned count = periods_of(t, period);
	float us[NT_MARKER_WINDOWS];

	if (count < NT_MARKER_PERIODS ||
	    (double)(marker->read_us - t->newest.us) > STEADY_SILENT * (double)life_us(marker))
		return 0;
	for (unsigned i = 0; i < count; i++)
		us[i] = (float)period[i];
	median = nt_sample_quantile(us, count, 0.5);
	for (unsigned i = 0; i < count; i++) {
		const struct nt_marker_call *end = i < t->windows ? &t->edge[i + 1] : &t->newest;

		if (period[i] <= STEADY_FACTOR * median && median <= STEADY_FACTOR * period[i])
			sum += length_us(&t->edge[i], end);
	}
	return sum;
}

/* Of the largest communicators that have any. Returns their number. */
static unsigned find_steady(const struct nt_marker *marker, const struct nt_marker_track **steady)
{
	double us[NT_MARKER_KEYS], most_us = 0, least_us;
	unsigned count = 0;
	uint32_t ranks = 0;

	for (unsigned i = 0; i < marker->tracks; i++) {
		us[i] = steady_us(marker, marker->track[i]);
		most_us = us[i] > most_us ? us[i] : most_us;
	}
	least_us = STEADY_SHARE * (double)life_us(marker);
	if (least_us < STEADY_OF_BEST * most_us)
		least_us = STEADY_OF_BEST * most_us;
	for (unsigned i = 0; i < marker->tracks; i++) {
		const struct nt_marker_track *t = marker->track[i];

		if (us[i] <= 0 || us[i] < least_us || t->key.ranks < ranks)
			continue;
		if (t->key.ranks > ranks)
			count = 0;
		ranks = t->key.ranks;
		steady[count++] = t;
	}
	return count;
}

/* Fewer calls are rare: such keys are used only if there is nothing better. */
static uint64_t enough_calls(const struct nt_marker *marker, uint64_t most)
{
	uint64_t enough = life_us(marker) / NT_MARKER_SLOW_US;

	if (enough > NT_MARKER_CALLS)
		enough = NT_MARKER_CALLS;
	if (enough < life_us(marker) / NT_MARKER_RARE_US)
		enough = life_us(marker) / NT_MARKER_RARE_US;
	if (enough < NT_MARKER_FEW)
		enough = NT_MARKER_FEW;
	return enough < most / 2 ? enough : most / 2;
}

static bool preferred(const struct nt_marker_key *a, const struct nt_marker_key *b)
{
	unsigned band_a = nt_key_band(a->key), band_b = nt_key_band(b->key);
	unsigned coll_a = nt_key_coll(a->key), coll_b = nt_key_coll(b->key);

	if (band_a != band_b)
		return band_a < band_b;
	if (coll_a != coll_b)
		return coll_a < coll_b;
	return a->comm != b->comm ? a->comm < b->comm : a->key < b->key;
}

static const struct nt_marker_track *choose(const struct nt_marker *marker,
					    const struct nt_marker_track *const *steady,
					    unsigned count)
{
	const struct nt_marker_track *best = NULL;
	uint64_t most = 0, least = UINT64_MAX, enough;

	for (unsigned i = 0; i < count; i++)
		most = steady[i]->newest.calls > most ? steady[i]->newest.calls : most;
	enough = enough_calls(marker, most);
	for (unsigned i = 0; i < count; i++) {
		if (steady[i]->newest.calls >= enough && steady[i]->newest.calls < least)
			least = steady[i]->newest.calls;
	}
	for (unsigned i = 0; i < count; i++) {
		uint64_t calls = steady[i]->newest.calls;

		if (calls >= enough && calls <= least + least / 8 + 2 &&
		    (!best || preferred(&steady[i]->key, &best->key)))
			best = steady[i];
	}
	return best;
}

bool nt_marker_find(const struct nt_marker *marker, struct nt_marker_found *found)
{
	const struct nt_marker_track *steady[NT_MARKER_KEYS], *best;

	best = choose(marker, steady, find_steady(marker, steady));
	if (!best)
		return false;
	found->key = best->key;
	found->calls = best->newest.calls;
	found->periods = periods_of(best, found->period_us);
	return true;
}

bool nt_marker_newest(const struct nt_marker *marker, const struct nt_marker_key *key,
		      struct nt_marker_call *call)
{
	for (unsigned i = 0; i < marker->tracks; i++) {
		const struct nt_marker_track *t = marker->track[i];

		if (t->key.key == key->key && t->key.comm == key->comm) {
			*call = t->newest;
			return true;
		}
	}
	return false;
}

double nt_marker_step_us(const struct nt_marker *marker, struct nt_marker_key *key)
{
	struct nt_marker_found found;

	if (!nt_marker_find(marker, &found) || found.periods == 0)
		return 0;
	*key = found.key;
	nt_sort_doubles(found.period_us, found.periods);
	return found.period_us[found.periods / 2];
}

void nt_marker_clear(struct nt_marker *marker)
{
	for (unsigned i = 0; i < marker->tracks; i++)
		free(marker->track[i]);
	*marker = (struct nt_marker){ .tracks = 0 };
}
