/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* matched.c - ranks, modes, and the exact distribution of a sum of rank differences */
#include "engine/matched.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define MEAN_STEPS 5000 /* to which the sum of all differences of times is rounded */
#define GAP 1.4 /* between modes, as a ratio */

static void pool(const float *base, const float *arm, unsigned count, float *pooled)
{
	for (unsigned i = 0; i < count; i++) {
		pooled[2 * i] = base[i];
		pooled[2 * i + 1] = arm[i];
	}
	nt_figures_sort(pooled, 2 * count);
}

static void find_modes(struct nt_matched *pairs)
{
	for (unsigned i = 0; i < 2 * pairs->count; i++) {
		bool last = i + 1 == 2 * pairs->count;

		if (!last && (pairs->pooled[i + 1] <= GAP * (double)pairs->pooled[i] ||
			      pairs->modes + 1 == NT_MATCHED_MODES))
			continue;
		pairs->top_us[pairs->modes++] = pairs->pooled[i];
	}
}

void nt_matched_take(struct nt_matched *pairs, const float *base, const float *arm, unsigned count)
{
	pairs->count = 0;
	pairs->modes = 0;
	for (unsigned i = 0; i < count && pairs->count < NT_SAMPLES_MAX; i++) {
		if (base[i] > 0 && arm[i] > 0) {
			pairs->base[pairs->count] = base[i];
			pairs->arm[pairs->count++] = arm[i];
		}
	}
	pool(pairs->base, pairs->arm, pairs->count, pairs->pooled);
	find_modes(pairs);
}

static void insert(float *sorted, unsigned count, float us)
{
	unsigned at = count;

	for (; at > 0 && sorted[at - 1] > us; at--)
		sorted[at] = sorted[at - 1];
	sorted[at] = us;
}

void nt_matched_add(struct nt_matched *pairs, float base, float arm)
{
	insert(pairs->pooled, 2 * pairs->count, base);
	insert(pairs->pooled, 2 * pairs->count + 1, arm);
	pairs->base[pairs->count] = base;
	pairs->arm[pairs->count++] = arm;
	pairs->modes = 0;
	find_modes(pairs);
}

static unsigned mode_of(const struct nt_matched *pairs, float us)
{
	unsigned mode = 0;

	while (mode + 1 < pairs->modes && us > pairs->top_us[mode])
		mode++;
	return mode;
}

/* Twice the rank of a time that is in `sorted`; twice, so that equal times, which share the mean of
 * their ranks, have whole ones too. */
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

/* Share of the 2^count choices of signs that give a sum of at least the one seen. */
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
	share[0] = 1; /* of the choices made so far, by the sum of what is positive */
	for (unsigned i = 0; i < count; i++) {
		size_t step = (size_t)abs(difference[i]);

		top += step;
		for (size_t sum = step > 0 ? top + 1 : 0; sum-- > 0;)
			share[sum] = (share[sum] + (sum >= step ? share[sum - step] : 0)) / 2;
	}
	for (size_t sum = total + 1; sum-- > seen;) /* the smallest shares first */
		p += share[sum];
	free(share);
	return p < 1 ? p : 1;
}

double nt_matched_lower_p(const struct nt_matched *pairs)
{
	const int32_t middle = (int32_t)(2 * pairs->count) + 1; /* twice the middle rank */
	int32_t difference[NT_SAMPLES_MAX];

	for (unsigned i = 0; i < pairs->count; i++) {
		int32_t base = rank_twice(pairs->pooled, 2 * pairs->count, pairs->base[i]);
		int32_t arm = rank_twice(pairs->pooled, 2 * pairs->count, pairs->arm[i]);

		difference[i] = (base < middle ? base : middle) - (arm < middle ? arm : middle);
	}
	return flip_p(difference, pairs->count);
}

/* The median of the pooled times of each mode. */
static void mode_medians(const struct nt_matched *pairs, float *median)
{
	unsigned from = 0;

	for (unsigned mode = 0; mode < pairs->modes; mode++) {
		unsigned to = from;

		while (to < 2 * pairs->count && pairs->pooled[to] <= pairs->top_us[mode])
			to++;
		median[mode] = pairs->pooled[(from + to) / 2];
		from = to;
	}
}

double nt_matched_mode_median(const struct nt_matched *pairs, double us)
{
	float median[NT_MATCHED_MODES];

	mode_medians(pairs, median);
	return median[mode_of(pairs, (float)us)];
}

double nt_matched_within_p(const struct nt_matched *pairs)
{
	float base[NT_SAMPLES_MAX], arm[NT_SAMPLES_MAX], pooled[2 * NT_SAMPLES_MAX];
	float median[NT_MATCHED_MODES];
	int32_t difference[NT_SAMPLES_MAX];

	mode_medians(pairs, median);
	for (unsigned i = 0; i < pairs->count; i++) {
		base[i] = pairs->base[i] / median[mode_of(pairs, pairs->base[i])];
		arm[i] = pairs->arm[i] / median[mode_of(pairs, pairs->arm[i])];
	}
	pool(base, arm, pairs->count, pooled);
	for (unsigned i = 0; i < pairs->count; i++)
		difference[i] = rank_twice(pooled, 2 * pairs->count, base[i]) -
				rank_twice(pooled, 2 * pairs->count, arm[i]);
	return flip_p(difference, pairs->count);
}

double nt_matched_slow_p(const struct nt_matched *pairs)
{
	int32_t difference[NT_SAMPLES_MAX];
	double least = 1;

	for (unsigned mode = 1; mode < pairs->modes; mode++) {
		double p;

		for (unsigned i = 0; i < pairs->count; i++)
			difference[i] = (mode_of(pairs, pairs->arm[i]) >= mode) -
					(mode_of(pairs, pairs->base[i]) >= mode);
		p = flip_p(difference, pairs->count);
		if (p < least)
			least = p;
	}
	return least;
}

double nt_matched_mean_p(const struct nt_matched *pairs)
{
	int32_t difference[NT_SAMPLES_MAX];
	double total_us = 0;

	for (unsigned i = 0; i < pairs->count; i++)
		total_us += fabs((double)pairs->base[i] - pairs->arm[i]);
	if (total_us == 0)
		return 1;
	for (unsigned i = 0; i < pairs->count; i++) {
		double us = (double)pairs->base[i] - pairs->arm[i];

		difference[i] = (int32_t)(us / total_us * MEAN_STEPS);
	}
	return flip_p(difference, pairs->count);
}

void nt_matched_even_means(const struct nt_matched *pairs, double *base_us, double *arm_us)
{
	double base_sum[NT_MATCHED_MODES] = { 0 }, arm_sum[NT_MATCHED_MODES] = { 0 };
	unsigned base_count[NT_MATCHED_MODES] = { 0 }, arm_count[NT_MATCHED_MODES] = { 0 };

	for (unsigned i = 0; i < pairs->count; i++) {
		unsigned of_base = mode_of(pairs, pairs->base[i]);
		unsigned of_arm = mode_of(pairs, pairs->arm[i]);

		base_sum[of_base] += pairs->base[i];
		base_count[of_base]++;
		arm_sum[of_arm] += pairs->arm[i];
		arm_count[of_arm]++;
	}
	*base_us = 0;
	*arm_us = 0;
	for (unsigned mode = 0; mode < pairs->modes; mode++) {
		unsigned count = base_count[mode] + arm_count[mode];
		double both = (base_sum[mode] + arm_sum[mode]) / count;
		double share = count / (2.0 * pairs->count);

		*base_us += share * (base_count[mode] ? base_sum[mode] / base_count[mode] : both);
		*arm_us += share * (arm_count[mode] ? arm_sum[mode] / arm_count[mode] : both);
	}
}
