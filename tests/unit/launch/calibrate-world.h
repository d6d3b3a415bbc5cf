/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* calibrate-world.h - calibrations of made-up laps */
#ifndef NT_CALIBRATE_WORLD_H
#define NT_CALIBRATE_WORLD_H

#include "launch/estimate.h"
#include "launch/measure/race.h"
#include "tests/unit/launch/select-world.h"

/* Sums of logarithms over the laps. */
struct pooled {
	double p25, median, p75, samples;
	struct nt_log_times laps;
};

static void add_times(struct pooled *sum, const struct nt_quantiles *us)
{
	if (us->samples == 0)
		return;
	sum->p25 += log(us->p25_us);
	sum->median += log(us->median_us);
	sum->p75 += log(us->p75_us);
	sum->samples += us->samples;
	nt_log_times_add(&sum->laps, log(us->median_us));
}

static struct nt_quantiles mean_times(const struct pooled *sum)
{
	double count = sum->laps.count;

	if (count == 0)
		return (struct nt_quantiles){ 0 };
	return (struct nt_quantiles){ exp(sum->p25 / count), exp(sum->median / count),
				      exp(sum->p75 / count),
				      (uint32_t)fmin(sum->samples, UINT32_MAX) };
}

static const struct nt_known_key *key_in(const struct nt_memory_entry *entry,
					 const struct nt_known_key *like,
					 const struct nt_memory_entry *like_in)
{
	for (unsigned i = 0; i < entry->keys; i++)
		if (nt_key_same(&entry->key[i], &entry->where, like, &like_in->where))
			return &entry->key[i];
	return NULL;
}

/* Combines a key's times; adds the variation of those in use to squares and degrees. */
static void pool_key(struct nt_known_key *out, const struct nt_memory_entry *in,
		     const struct nt_memory_entry *const *lap, unsigned laps, double *squares,
		     double *degrees)
{
	struct pooled best = { 0 }, untuned = { 0 };
	const struct nt_log_times *used = &best.laps;

	for (unsigned i = 0; i < laps; i++) {
		const struct nt_known_key *key = key_in(lap[i], out, in);

		if (key == NULL)
			continue;
		add_times(&best, &key->best);
		add_times(&untuned, &key->untuned);
		if (key->best.samples > 0)
			out->arm = key->arm;
	}
	out->best = mean_times(&best);
	out->untuned = mean_times(&untuned);
	if (used->count == 0)
		used = &untuned.laps;
	*squares += used->squares;
	*degrees += used->count > 1 ? used->count - 1 : 0;
}

/* Keys of any lap, each once. */
static int pool_keys(struct nt_memory_entry *out, const struct nt_memory_entry *const *lap,
		     unsigned laps, struct nt_error *err)
{
	double squares = 0, degrees = 0;

	for (unsigned i = laps; i > 0; i--) {
		const struct nt_memory_entry *from = lap[i - 1];

		for (unsigned k = 0; k < from->keys && out->keys < NT_ENTRY_KEYS; k++) {
			struct nt_known_key *key;

			if (key_in(out, &from->key[k], from) != NULL)
				continue;
			key = nt_entry_add_key(out);
			if (key == NULL)
				return nt_error_set(err, "out of memory");
			*key = from->key[k];
			pool_key(key, out, lap, laps, &squares, &degrees);
		}
	}
	out->deviation = degrees > 0 ? sqrt(squares / degrees) : 0;
	return 0;
}

/* One entry of the laps with one profile: each time is the mean over the laps, the arm that of
 * the last lap. added_us is the newest lap's, other members are the last one's. */
static int pool_entry(struct nt_memory_entry *out, const struct nt_memory_entry *const *lap,
		      unsigned laps, struct nt_error *err)
{
	*out = *lap[laps - 1];
	for (unsigned i = 0; i < laps; i++)
		if (lap[i]->added_us > out->added_us)
			out->added_us = lap[i]->added_us;
	out->keys = 0;
	out->key = NULL;
	out->laps = laps;
	if (pool_keys(out, lap, laps, err) == 0)
		return 0;
	nt_entry_fini(out);
	return -1;
}

struct world_laps {
	const char *const *profile; /* the default is the first */
	unsigned profiles;
	double time_s, lap_s; /* of all, and of each */
	struct nt_memory_entry (*draw)(const void *arg, unsigned profile, uint64_t *seed);
	const void *arg;
};

/* The entries of each profile become one, as in the file of a calibration. */
static int world_pool(const struct nt_memory *found, const struct world_laps *laps,
		      struct nt_memory *memory)
{
	const struct nt_memory_entry *lap[NT_RACE_LAPS];
	struct nt_memory_entry pooled;

	for (unsigned p = 0; p < laps->profiles; p++) {
		unsigned count = 0;

		for (size_t i = 0; i < found->entries && count < NT_RACE_LAPS; i++)
			if (strcmp(found->entry[i].profile, laps->profile[p]) == 0)
				lap[count++] = &found->entry[i];
		if (count > 0 && (pool_entry(&pooled, lap, count, NULL) < 0 ||
				  nt_memory_add_take(memory, &pooled, NULL) < 0))
			return -1;
	}
	return 0;
}

/* As a step's tasks do, with what a lap leaves drawn. calls NULL: they are unknown. Returns how
 * long it took; -1: no memory. */
static double world_calibrate(const struct world_laps *laps, const struct nt_memory_entry *calls,
			      struct nt_memory *memory, uint64_t *seed)
{
	struct nt_memory_entry entry = laps->draw(laps->arg, 0, seed);
	const unsigned keys = entry.keys < NT_CAL_CALLS ? (unsigned)entry.keys : NT_CAL_CALLS;
	struct nt_cal_call call[NT_CAL_CALLS] = { { 0 } };
	struct nt_memory found;
	struct nt_race race;
	enum nt_race_end end;
	double spent_s = 0, us[NT_CAL_CALLS];
	int which, rc = 0;

	for (unsigned k = 0; k < keys; k++)
		for (unsigned m = 0; calls && m < calls->keys; m++)
			if (nt_band(calls->key[m].bytes) == nt_band(entry.key[k].bytes))
				call[k].calls += calls->key[m].calls;
	nt_entry_fini(&entry);
	nt_memory_init(&found);
	nt_race_init(&race, laps->profiles - 1, call, keys, laps->time_s, laps->lap_s);
	while (rc == 0 && (which = nt_race_next(&race, spent_s, &end)) >= 0) {
		entry = laps->draw(laps->arg, (unsigned)which, seed);
		entry.origin = NT_ORIGIN_CALIBRATE;
		for (unsigned k = 0; k < keys; k++)
			us[k] = nt_key_times(&entry.key[k])->median_us;
		spent_s += laps->lap_s;
		nt_race_note(&race, (unsigned)which, us, laps->lap_s, spent_s);
		rc = nt_memory_add_take(&found, &entry, NULL);
	}
	rc |= world_pool(&found, laps, memory);
	nt_memory_fini(&found);
	nt_memory_sort(memory, NOW_S);
	return rc == 0 ? spent_s : -1;
}

#endif
