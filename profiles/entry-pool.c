/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Combine the turns of a calibration into one entry. */
#include <math.h>
#include "profiles/entry.h"
#include "profiles/estimate.h"

/* Sums of logarithms over the turns. */
struct pooled {
	double p25, median, p75, samples;
	struct nt_turns turns;
};

static void add_times(struct pooled *sum, const struct nt_quantiles *us)
{
	if (us->samples == 0)
		return;
	sum->p25 += log(us->p25_us);
	sum->median += log(us->median_us);
	sum->p75 += log(us->p75_us);
	sum->samples += us->samples;
	nt_turns_add(&sum->turns, log(us->median_us));
}

static struct nt_quantiles mean_times(const struct pooled *sum)
{
	double count = sum->turns.count;

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
		     const struct nt_memory_entry *const *turn, unsigned turns, double *squares,
		     double *degrees)
{
	struct pooled best = { 0 }, untuned = { 0 };
	const struct nt_turns *used = &best.turns;

	for (unsigned i = 0; i < turns; i++) {
		const struct nt_known_key *key = key_in(turn[i], out, in);

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
		used = &untuned.turns;
	*squares += used->squares;
	*degrees += used->count > 1 ? used->count - 1 : 0;
}

/* Keys of any turn, each once. */
static int pool_keys(struct nt_memory_entry *out, const struct nt_memory_entry *const *turn,
		     unsigned turns, struct nt_error *err)
{
	double squares = 0, degrees = 0;

	for (unsigned i = turns; i > 0; i--) {
		const struct nt_memory_entry *from = turn[i - 1];

		for (unsigned k = 0; k < from->keys && out->keys < NT_ENTRY_KEYS; k++) {
			struct nt_known_key *key;

			if (key_in(out, &from->key[k], from) != NULL)
				continue;
			key = nt_entry_add_key(out);
			if (key == NULL)
				return nt_error_set(err, "out of memory");
			*key = from->key[k];
			pool_key(key, out, turn, turns, &squares, &degrees);
		}
	}
	out->deviation = degrees > 0 ? sqrt(squares / degrees) : 0;
	return 0;
}

int nt_entry_pool(struct nt_memory_entry *out, const struct nt_memory_entry *const *turn,
		  unsigned turns, struct nt_error *err)
{
	*out = *turn[turns - 1];
	for (unsigned i = 0; i < turns; i++)
		if (turn[i]->added_us > out->added_us)
			out->added_us = turn[i]->added_us;
	out->keys = 0;
	out->key = NULL;
	out->turns = turns;
	if (pool_keys(out, turn, turns, err) == 0)
		return 0;
	nt_entry_fini(out);
	return -1;
}
