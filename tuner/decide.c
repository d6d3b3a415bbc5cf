/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* decide.c - quantiles, an exact paired rank test of the lower half, and the rule */
#include "tuner/decide.h"

#include <stdlib.h>
#include "tuner/matched.h"

/* Found with nt-decide-sim: see there what they bring and cost. */
#define PROMISING_P 0.2 /* before correction */
#define MEAN_P 0.05 /* below which the mean counts as lower */
#define EARLY_MEAN_SHARE \
	0.5 /* of the gain that the mean must show at a look that is not the last */
#define EARLY_SLOW_P 0.6 /* p values up to which the arm counts as more often slow */
#define LAST_SLOW_P 0.15
#define OPTIMISTIC_Q 0.125 /* quantiles between which a first look hopes */
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
	return figures;
}

static double capped(double p)
{
	return p < 1 ? p : 1;
}

/* Two tests that see different things: one of the two is what the p has to be paid for. */
static double pairs_p(const struct nt_matched *pairs)
{
	double lower = nt_matched_lower_p(pairs);
	double within = nt_matched_within_p(pairs);

	return capped(2 * (lower < within ? lower : within));
}

double nt_decide_p(const float *base, const float *arm, unsigned count)
{
	struct nt_matched pairs;

	nt_matched_take(&pairs, base, arm, count);
	return pairs_p(&pairs);
}

/* A mean that is lower beyond chance is good enough. Where the times are too uneven to tell, an
 * arm with more stalls, or with a gain that its mean does not show, may not win at an early
 * look. At the last one it may, if the slow modes may well have been hit so by chance and, were
 * they hit equally often, the mean would not be above AUTO's. */
static bool means_agree(const struct nt_rule *rule, const struct nt_contest *contest,
			const struct nt_matched *pairs)
{
	double wanted = rule->last ? 0 : EARLY_MEAN_SHARE * contest->gain;
	double base_us, arm_us;

	if (nt_matched_mean_p(pairs) < MEAN_P)
		return true;
	if (nt_matched_slow_p(pairs) <= (rule->last ? LAST_SLOW_P : EARLY_SLOW_P))
		return false;
	if (contest->arm.mean_us <= (1 - wanted) * contest->base.mean_us)
		return true;
	nt_matched_even_means(pairs, &base_us, &arm_us);
	return rule->last && arm_us <= base_us;
}

static enum nt_verdict judge(const struct nt_rule *rule, const struct nt_contest *contest,
			     const struct nt_matched *pairs)
{
	if (contest->gain < rule->min_gain)
		return NT_VERDICT_SMALL;
	if (!(contest->p < rule->alpha))
		return NT_VERDICT_CHANCE;
	return means_agree(rule, contest, pairs) ? NT_VERDICT_FASTER : NT_VERDICT_MEAN;
}

void nt_decide_contest(const struct nt_rule *rule, const float *base, const float *arm,
		       unsigned count, struct nt_contest *out)
{
	struct nt_matched pairs;

	nt_matched_take(&pairs, base, arm, count);
	*out = (struct nt_contest){ .p = 1, .verdict = NT_VERDICT_SAMPLES };
	if (pairs.count == 0)
		return;
	out->base = nt_decide_figures(pairs.base, pairs.count);
	out->arm = nt_decide_figures(pairs.arm, pairs.count);
	out->gain = 1 - out->arm.p25_us / out->base.p25_us;
	out->p = capped(pairs_p(&pairs) * rule->tests);
	out->verdict = judge(rule, out, &pairs);
}

bool nt_decide_promising(const struct nt_rule *rule, const struct nt_contest *contest)
{
	if (contest->verdict == NT_VERDICT_SAMPLES || contest->verdict == NT_VERDICT_FASTER)
		return false;
	return contest->gain >= rule->min_gain / 2 && contest->p < 1 &&
	       contest->p < PROMISING_P * rule->tests;
}

bool nt_decide_could_win(double min_gain, const float *base, const float *arm, unsigned count)
{
	double hoped = nt_decide_quantile(arm, count, OPTIMISTIC_Q);

	return hoped > 0 &&
	       hoped <= (1 - min_gain) * nt_decide_quantile(base, count, PESSIMISTIC_Q);
}
