/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Hope for what was not measured. */
#include "launch/promise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What NCCL has where nothing is said, by the list's order; for distances only. */
static const int64_t usual[NT_VARIABLE_COUNT] = {
	[NT_VARIABLE_SOCKET_NTHREADS] = 1, [NT_VARIABLE_NSOCKS_PERTHREAD] = 1,
	[NT_VARIABLE_MIN_NCHANNELS] = 2,   [NT_VARIABLE_MAX_NCHANNELS] = 32,
	[NT_VARIABLE_BUFFSIZE] = 4 << 20,  [NT_VARIABLE_IB_QPS] = 1,
	[NT_VARIABLE_IB_SPLIT] = 0,	   [NT_VARIABLE_IB_AR_THRESHOLD] = 8192,
	[NT_VARIABLE_CROSS_NIC] = 2,	   [NT_VARIABLE_PER_NET_PEER] = 2,
};

static int64_t value_or(const struct nt_settings *settings, unsigned id)
{
	return settings->set[id] ? settings->value[id] : usual[id];
}

double nt_settings_distance(const struct nt_settings *a, const struct nt_settings *b)
{
	double distance = 0;

	for (unsigned i = 0; i < NT_VARIABLE_COUNT; i++) {
		int64_t of_a = value_or(a, i), of_b = value_or(b, i);

		distance += fabs(log2((double)of_a + 1e-9 + (nt_variable_get(i)->least == 0)) -
				 log2((double)of_b + 1e-9 + (nt_variable_get(i)->least == 0)));
	}
	return distance;
}

static bool measured(const struct nt_weighed *weighed, const struct nt_launch_limits *limits)
{
	return nt_weight_suffices(&weighed->weight, limits->measured);
}

/* The mean of what the measured ones gave, weighed by one over the square of their distance; the
 * default is one of them, with a ratio of 1. */
static double by_distance(const struct nt_launch_choice *out, const struct nt_profile *profile,
			  const struct nt_launch_limits *limits, double *nearest)
{
	static const struct nt_settings nothing;
	double distance = nt_settings_distance(&nothing, &profile->settings);
	double weight = 1 / (distance * distance + 0.01), sum = 0, weights = weight;

	*nearest = distance;
	for (unsigned i = 0; i < out->count; i++) {
		const struct nt_weighed *other = &out->weighed[i];

		if (!measured(other, limits))
			continue;
		distance = nt_settings_distance(&other->profile->settings, &profile->settings);
		weight = 1 / (distance * distance + 0.01);
		sum += weight * log(other->weight.ratio);
		weights += weight;
		if (distance < *nearest)
			*nearest = distance;
	}
	return sum / weights;
}

/* Evidence from the same hardware that is not to be used as it is. false if there is none. */
static int elsewhere(const struct nt_launch_case *launch, const struct nt_mix *mix,
		     struct nt_weighed *weighed)
{
	static const enum nt_nearness nearness[] = { NT_NEAR_SOFTWARE, NT_NEAR_SHAPE };

	for (unsigned i = 0; i < 2 * NT_LEVELS; i++) {
		const struct nt_memory *memory = launch->memory[i % NT_LEVELS];
		struct nt_weight weight;

		if (memory == NULL)
			continue;
		if (nt_weigh(memory, &launch->where, nearness[i / NT_LEVELS], false,
			     weighed->profile->name, mix, launch->now_s, &weight) < 0)
			return -1;
		if (!weight.known)
			continue;
		weighed->promise = log(weight.ratio);
		if (weighed->why == NT_WHY_NOTHING_KNOWN && i < NT_LEVELS)
			weighed->why = NT_WHY_OTHER_SOFTWARE;
		return 1;
	}
	return 0;
}

/* What there is to beat: the best that may be used, or the default. */
static double to_beat(const struct nt_launch_choice *out)
{
	double best = 0;

	for (unsigned i = 0; i < out->count; i++)
		if (out->weighed[i].used && log(out->weighed[i].weight.ratio) < best)
			best = log(out->weighed[i].weight.ratio);
	return best;
}

static int promise_of(const struct nt_launch_case *launch, const struct nt_mix *mix,
		      const struct nt_launch_limits *limits, struct nt_launch_choice *out,
		      struct nt_weighed *weighed, double target)
{
	double nearest;
	int found;

	if (measured(weighed, limits)) {
		weighed->promise = log(weighed->weight.ratio);
		return 0;
	}
	weighed->promise = by_distance(out, weighed->profile, limits, &nearest);
	found = elsewhere(launch, mix, weighed);
	if (found < 0)
		return -1;
	if (weighed->here || weighed->standing.trust >= NT_TRUST_MARKED)
		return 0;
	/* What was seen elsewhere may be off by a fifth here; what neighbours say, by what they
	 * differ. */
	weighed->open = weighed->promise - (found ? 0.2 : limits->per_doubling * nearest) <=
			target + log(1 - limits->floor);
	if (!weighed->open && weighed->why == NT_WHY_NOTHING_KNOWN)
		weighed->why = NT_WHY_CANNOT_WIN;
	return 0;
}

/* The lowest promise first; where promises are equal, the files' order. */
static void sort_candidates(struct nt_launch_choice *out)
{
	for (unsigned i = 0; i < out->count; i++) {
		unsigned at = out->next_count;

		if (!out->weighed[i].open)
			continue;
		while (at > 0 &&
		       out->weighed[out->next[at - 1]].promise > out->weighed[i].promise + 1e-9) {
			out->next[at] = out->next[at - 1];
			at--;
		}
		out->next[at] = (unsigned char)i;
		out->next_count++;
	}
}

int nt_promise(const struct nt_launch_case *launch, const struct nt_mix *mix,
	       const struct nt_launch_limits *limits, struct nt_launch_choice *out)
{
	double target = to_beat(out);

	for (unsigned i = 0; i < out->count; i++)
		if (promise_of(launch, mix, limits, out, &out->weighed[i], target) < 0)
			return -1;
	sort_candidates(out);
	return 0;
}
