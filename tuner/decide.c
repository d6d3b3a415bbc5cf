/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* decide.c - quantiles, an exact paired rank test of the lower half, and the rule */
#include "tuner/decide.h"

#include <stdint.h>
#include <stdlib.h>

#define PROMISING_P 0.2		/* before correction */
#define OPTIMISTIC_Q 0.125	/* quantiles between which a first look hopes; found with nt-decide-sim */
#define PESSIMISTIC_Q 0.5

static int by_value(const void *a, const void *b)
{
	float x = *(const float *)a;
	float y = *(const float *)b;

	return (x > y) - (x < y);
}

/* The samples that are there, in order. */
static unsigned sort_present(const float *us, unsigned count, float *sorted)
{
	unsigned present = 0;

	for (unsigned i = 0; i < count && i < NT_DECIDE_SAMPLES; i++) {
		if (us[i] > 0)
			sorted[present++] = us[i];
	}
	qsort(sorted, present, sizeof(sorted[0]), by_value);
	return present;
}

static double quantile_of(const float *sorted, unsigned count, double quantile)
{
	double at = quantile * (count - 1);
	unsigned below = (unsigned)at;

	if (below + 1 >= count)
		return sorted[count - 1];
	return sorted[below] + (at - below) * (sorted[below + 1] - sorted[below]);
}

double nt_decide_quantile(const float *us, unsigned count, double quantile)
{
	float sorted[NT_DECIDE_SAMPLES];
	unsigned present = sort_present(us, count, sorted);

	return present == 0 ? 0 : quantile_of(sorted, present, quantile);
}

struct nt_figures nt_decide_figures(const float *us, unsigned count)
{
	struct nt_figures figures = { .samples = 0 };
	float sorted[NT_DECIDE_SAMPLES];
	double sum = 0;

	figures.samples = sort_present(us, count, sorted);
	if (figures.samples == 0)
		return figures;
	for (unsigned i = 0; i < figures.samples; i++)
		sum += sorted[i];
	figures.mean_us = sum / figures.samples;
	figures.median_us = quantile_of(sorted, figures.samples, 0.5);
	figures.p25_us = quantile_of(sorted, figures.samples, 0.25);
	figures.slowest_us = sorted[figures.samples - 1];
	return figures;
}

/* The complete pairs of two arrays. */
static unsigned take_pairs(const float *base, const float *arm, unsigned count, float *base_out, float *arm_out)
{
	unsigned pairs = 0;

	for (unsigned i = 0; i < count && pairs < NT_DECIDE_SAMPLES; i++) {
		if (base[i] > 0 && arm[i] > 0) {
			base_out[pairs] = base[i];
			arm_out[pairs++] = arm[i];
		}
	}
	return pairs;
}

/* Twice the score of a time: how far its rank among all 2 * pairs times is below the middle; 0 above the middle. Twice,
 * so that ties, which share the mean of their ranks, still have whole scores. */
static int32_t score(const float *sorted, unsigned pairs, float us)
{
	unsigned low = 0;
	unsigned high = 2 * pairs;
	unsigned first, twice;

	while (low < high) {
		unsigned middle = (low + high) / 2;

		if (sorted[middle] < us)
			low = middle + 1;
		else
			high = middle;
	}
	first = low;
	while (low < 2 * pairs && sorted[low] <= us)
		low++;
	twice = first + low + 1;	/* first + 1 and low are the ranks of the first and the last of equals */
	return 2 * pairs + 1 > twice ? (int32_t)(2 * pairs + 1 - twice) : 0;
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
	share[0] = 1;		/* of the choices made so far, by the sum of what is positive */
	for (unsigned i = 0; i < count; i++) {
		size_t step = (size_t)abs(difference[i]);

		top += step;
		for (size_t sum = step > 0 ? top + 1 : 0; sum-- > 0;)
			share[sum] = (share[sum] + (sum >= step ? share[sum - step] : 0)) / 2;
	}
	for (size_t sum = total + 1; sum-- > seen;)	/* the smallest shares first */
		p += share[sum];
	free(share);
	return p < 1 ? p : 1;
}

static double pairs_p(const float *base, const float *arm, unsigned pairs)
{
	float sorted[2 * NT_DECIDE_SAMPLES];
	int32_t difference[NT_DECIDE_SAMPLES];

	for (unsigned i = 0; i < pairs; i++) {
		sorted[2 * i] = base[i];
		sorted[2 * i + 1] = arm[i];
	}
	qsort(sorted, 2 * (size_t)pairs, sizeof(sorted[0]), by_value);
	for (unsigned i = 0; i < pairs; i++)
		difference[i] = score(sorted, pairs, arm[i]) - score(sorted, pairs, base[i]);
	return flip_p(difference, pairs);
}

double nt_decide_p(const float *base, const float *arm, unsigned count)
{
	float base_us[NT_DECIDE_SAMPLES], arm_us[NT_DECIDE_SAMPLES];

	return pairs_p(base_us, arm_us, take_pairs(base, arm, count, base_us, arm_us));
}

/* The mean of all samples but the slowest. */
static double rest_us(const struct nt_figures *figures)
{
	return (figures->mean_us * figures->samples - figures->slowest_us) / (figures->samples - 1);
}

static enum nt_verdict judge(const struct nt_rule *rule, const struct nt_contest *contest)
{
	const struct nt_figures *base = &contest->base;
	const struct nt_figures *arm = &contest->arm;

	if (contest->gain < rule->min_gain)
		return NT_VERDICT_SMALL;
	if (!(contest->p < rule->alpha))
		return NT_VERDICT_CHANCE;
	/* p below any alpha means several samples. */
	if (arm->mean_us > base->mean_us && rest_us(arm) > rest_us(base))
		return NT_VERDICT_MEAN;
	return NT_VERDICT_FASTER;
}

void nt_decide_contest(const struct nt_rule *rule, const float *base, const float *arm, unsigned count,
		       struct nt_contest *out)
{
	float base_us[NT_DECIDE_SAMPLES], arm_us[NT_DECIDE_SAMPLES];
	unsigned pairs = take_pairs(base, arm, count, base_us, arm_us);

	*out = (struct nt_contest){ .p = 1, .verdict = NT_VERDICT_SAMPLES };
	if (pairs == 0)
		return;
	out->base = nt_decide_figures(base_us, pairs);
	out->arm = nt_decide_figures(arm_us, pairs);
	out->gain = 1 - out->arm.p25_us / out->base.p25_us;
	out->p = pairs_p(base_us, arm_us, pairs) * rule->tests;
	if (out->p > 1)
		out->p = 1;
	out->verdict = judge(rule, out);
}

bool nt_decide_promising(const struct nt_rule *rule, const struct nt_contest *contest)
{
	if (contest->verdict == NT_VERDICT_SAMPLES || contest->verdict == NT_VERDICT_FASTER)
		return false;
	return contest->gain >= rule->min_gain / 2 && contest->p < 1 && contest->p < PROMISING_P * rule->tests;
}

bool nt_decide_could_win(double min_gain, const float *base, const float *arm, unsigned count)
{
	double hoped = nt_decide_quantile(arm, count, OPTIMISTIC_Q);

	return hoped > 0 && hoped <= (1 - min_gain) * nt_decide_quantile(base, count, PESSIMISTIC_Q);
}
