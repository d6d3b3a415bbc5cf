/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* matched.c - ranks, modes, and the exact distribution of a sum of rank differences */
#include "engine/matched.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include "lib/quantile.h"

#define MEAN_STEPS 5000 /* sum of the scaled differences of times */
#define LEAST_OF_MODE 3 /* least times of each arm for a mode's median */
#define LEAST_OF_WIDTH 6 /* least times for a mode's width */
#define FASTER_MODE_P 0.01 /* below it, the arm is not in a faster mode by chance */

static void pool_times(const float *baseline, const float *arm, unsigned count, float *pooled)
{
	for (unsigned i = 0; i < count; i++) {
		pooled[2 * i] = baseline[i];
		pooled[2 * i + 1] = arm[i];
	}
	nt_sort_floats(pooled, 2 * count);
}

void nt_matched_take(struct nt_matched *pairs, const float *baseline, const float *arm,
		     unsigned count)
{
	pairs->count = 0;
	pairs->modes = 0;
	for (unsigned i = 0; i < count && pairs->count < NT_SAMPLES_MAX; i++) {
		if (baseline[i] > 0 && arm[i] > 0) {
			pairs->baseline[pairs->count] = baseline[i];
			pairs->arm[pairs->count++] = arm[i];
		}
	}
	pool_times(pairs->baseline, pairs->arm, pairs->count, pairs->pooled);
	for (unsigned i = 0; i < 2 * pairs->count; i++) {
		bool last = i + 1 == 2 * pairs->count;

		if (!last && (pairs->pooled[i + 1] <= NT_MATCHED_GAP * (double)pairs->pooled[i] ||
			      pairs->modes + 1 == NT_MATCHED_MODES))
			continue;
		pairs->top_us[pairs->modes++] = pairs->pooled[i];
	}
}

static unsigned mode_of(const struct nt_matched *pairs, float us)
{
	unsigned mode = 0;

	while (mode + 1 < pairs->modes && us > pairs->top_us[mode])
		mode++;
	return mode;
}

/* Twice the rank: an integer, although ties share the mean of their ranks. */
static int32_t rank_twice(const float *sorted, unsigned count, float us)
{
	unsigned low = 0;
	unsigned high = count;
	unsigned below;

	while (low < high) {
		unsigned middle = (low + high) / 2;

		if (sorted[middle] < us)
			low = middle + 1;
		else
			high = middle;
	}
	below = low;
	while (low < count && sorted[low] <= us)
		low++;
	return (int32_t)(below + 1 + low);
}

/* Share of the 2^count choices of signs with a sum of at least the observed one. */
static double flip_p(const int32_t *difference, unsigned count)
{
	size_t total = 0;
	size_t seen = 0;
	size_t top = 0;
	double *share;
	double p = 0;

	for (unsigned i = 0; i < count; i++) {
		total += (size_t)abs(difference[i]);
		seen += difference[i] > 0 ? (size_t)difference[i] : 0;
	}
	share = calloc(total + 1, sizeof(*share));
	if (!share)
		return 1;
	share[0] = 1; /* probability by the sum of positive differences */
	for (unsigned i = 0; i < count; i++) {
		size_t step = (size_t)abs(difference[i]);

		top += step;
		for (size_t sum = step > 0 ? top + 1 : 0; sum-- > 0;)
			share[sum] = (share[sum] + (sum >= step ? share[sum - step] : 0)) / 2;
	}
	for (size_t sum = total + 1; sum-- > seen;) /* smallest first */
		p += share[sum];
	free(share);
	return p < 1 ? p : 1;
}

double nt_matched_lower_p(const struct nt_matched *pairs)
{
	const int32_t middle = (int32_t)(2 * pairs->count) + 1; /* twice the middle rank */
	int32_t difference[NT_SAMPLES_MAX];

	for (unsigned i = 0; i < pairs->count; i++) {
		int32_t baseline = rank_twice(pairs->pooled, 2 * pairs->count, pairs->baseline[i]);
		int32_t arm = rank_twice(pairs->pooled, 2 * pairs->count, pairs->arm[i]);

		difference[i] = (baseline < middle ? baseline : middle) -
				(arm < middle ? arm : middle);
	}
	return flip_p(difference, pairs->count);
}

/* The pooled times of a mode. */
static const float *times_of(const struct nt_matched *pairs, unsigned mode, unsigned *count)
{
	unsigned from = 0, to;

	while (mode > 0 && pairs->pooled[from] <= pairs->top_us[mode - 1])
		from++;
	to = from;
	while (to < 2 * pairs->count && pairs->pooled[to] <= pairs->top_us[mode])
		to++;
	*count = to - from;
	return &pairs->pooled[from];
}

/* How much the times of each mode count, 1 at most. If a mode is a pause of the program, a gain is
 * as long as in the others, but its noise is not; if it is a slower network, both are longer.
 * Between the two lies the root of the widths. */
static void mode_weights(const struct nt_matched *pairs, double *weight)
{
	double width_us[NT_MATCHED_MODES], least_us = INFINITY;

	for (unsigned mode = 0; mode < pairs->modes; mode++) {
		unsigned count;
		const float *us = times_of(pairs, mode, &count);

		width_us[mode] = nt_quantile_floats(us, count, 0.75) -
				 nt_quantile_floats(us, count, 0.25);
		if (count >= LEAST_OF_WIDTH && width_us[mode] < least_us)
			least_us = width_us[mode];
	}
	for (unsigned mode = 0; mode < pairs->modes; mode++)
		weight[mode] = width_us[mode] > least_us ? sqrt(least_us / width_us[mode]) : 1;
}

/* Twice the rank of a time in its mode, from the middle, on the scale of ranks among all times. The
 * fewer times the mode has, the closer to the middle are they. */
static int32_t score_twice(const struct nt_matched *pairs, const double *weight, float us)
{
	const unsigned mode = mode_of(pairs, us);
	const double all = 2 * pairs->count + 1;
	unsigned count;
	const float *times = times_of(pairs, mode, &count);

	return (int32_t)lround((rank_twice(times, count, us) / (count + 1.0) - 1) * all *
			       weight[mode]);
}

double nt_matched_within_p(const struct nt_matched *pairs)
{
	int32_t difference[NT_SAMPLES_MAX];
	double weight[NT_MATCHED_MODES];

	mode_weights(pairs, weight);
	for (unsigned i = 0; i < pairs->count; i++)
		difference[i] = score_twice(pairs, weight, pairs->baseline[i]) -
				score_twice(pairs, weight, pairs->arm[i]);
	return flip_p(difference, pairs->count);
}

/* Is `slow` more often than `fast` outside of the fastest modes? The least p. */
static double slower_mode_p(const struct nt_matched *pairs, const float *slow, const float *fast)
{
	int32_t difference[NT_SAMPLES_MAX];
	double least = 1;

	for (unsigned mode = 1; mode < pairs->modes; mode++) {
		double p;

		for (unsigned i = 0; i < pairs->count; i++)
			difference[i] = (mode_of(pairs, slow[i]) >= mode) -
					(mode_of(pairs, fast[i]) >= mode);
		p = flip_p(difference, pairs->count);
		if (p < least)
			least = p;
	}
	return least;
}

double nt_matched_slow_p(const struct nt_matched *pairs)
{
	return slower_mode_p(pairs, pairs->arm, pairs->baseline);
}

double nt_matched_mean_p(const struct nt_matched *pairs)
{
	int32_t difference[NT_SAMPLES_MAX];
	double total_us = 0;

	for (unsigned i = 0; i < pairs->count; i++)
		total_us += fabs((double)pairs->baseline[i] - pairs->arm[i]);
	if (total_us == 0)
		return 1;
	for (unsigned i = 0; i < pairs->count; i++) {
		double us = (double)pairs->baseline[i] - pairs->arm[i];

		difference[i] = (int32_t)(us / total_us * MEAN_STEPS);
	}
	return flip_p(difference, pairs->count);
}

static struct nt_sample_quantiles of_mode(const struct nt_matched *pairs, const float *times,
					  unsigned mode)
{
	float us[NT_SAMPLES_MAX];

	for (unsigned i = 0; i < pairs->count; i++)
		us[i] = mode_of(pairs, times[i]) == mode ? times[i] : 0;
	return nt_sample_quantiles_of(us, pairs->count);
}

double nt_matched_gain_us(const struct nt_matched *pairs)
{
	double least = INFINITY;
	double gain_us = nt_sample_quantile(pairs->baseline, pairs->count, 0.25) -
			 nt_sample_quantile(pairs->arm, pairs->count, 0.25);

	if (slower_mode_p(pairs, pairs->baseline, pairs->arm) < FASTER_MODE_P)
		return gain_us;
	for (unsigned mode = 0; pairs->modes > 1 && mode < pairs->modes; mode++) {
		const struct nt_sample_quantiles baseline = of_mode(pairs, pairs->baseline, mode);
		const struct nt_sample_quantiles arm = of_mode(pairs, pairs->arm, mode);
		const double error_us = (baseline.p75_us - baseline.p25_us) /
					sqrt((double)baseline.samples);

		if (baseline.samples < LEAST_OF_MODE || arm.samples < LEAST_OF_MODE ||
		    error_us >= least)
			continue;
		least = error_us;
		gain_us = baseline.median_us - arm.median_us;
	}
	return gain_us;
}

void nt_matched_even_means(const struct nt_matched *pairs, double *baseline_us, double *arm_us)
{
	double baseline_sum[NT_MATCHED_MODES] = { 0 }, arm_sum[NT_MATCHED_MODES] = { 0 };
	unsigned baseline_count[NT_MATCHED_MODES] = { 0 }, arm_count[NT_MATCHED_MODES] = { 0 };

	for (unsigned i = 0; i < pairs->count; i++) {
		unsigned of_baseline = mode_of(pairs, pairs->baseline[i]);
		unsigned of_arm = mode_of(pairs, pairs->arm[i]);

		baseline_sum[of_baseline] += pairs->baseline[i];
		baseline_count[of_baseline]++;
		arm_sum[of_arm] += pairs->arm[i];
		arm_count[of_arm]++;
	}
	*baseline_us = 0;
	*arm_us = 0;
	for (unsigned mode = 0; mode < pairs->modes; mode++) {
		unsigned count = baseline_count[mode] + arm_count[mode];
		double both = (baseline_sum[mode] + arm_sum[mode]) / count;
		double share = count / (2.0 * pairs->count);

		*baseline_us += share * (baseline_count[mode]
						 ? baseline_sum[mode] / baseline_count[mode]
						 : both);
		*arm_us += share * (arm_count[mode] ? arm_sum[mode] / arm_count[mode] : both);
	}
}
