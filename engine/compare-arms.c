/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/compare-arms.h"

#include "engine/matched.h"

/* Tuned with nt-engine-sim, which shows their benefit and cost. */
#define PROMISING_P 0.2 /* uncorrected */
#define MEAN_P 0.05 /* p below which the mean counts as lower */
/* Share of the gain that the mean must show, except at the last look. */
#define EARLY_MEAN_SHARE 0.5
/* An arm counts as slow more often up to this p: before the last look, at the last, and at a last
 * look with many pairs, which show stalls. */
#define EARLY_SLOW_P 0.6
#define LAST_SLOW_P 0.15
#define MANY_SLOW_P 0.05
#define MANY 100
/* An arm could win if this quantile of its times is min_gain below the baseline's usual time; with
 * few samples, which scatter, below the baseline's slowest. */
#define HOPED_Q 0.125
#define USUAL_Q 0.5
#define FEW 6

static double capped(double p)
{
	return p < 1 ? p : 1;
}

/* The better of two tests that see different effects. Its p is doubled for the choice. */
static double pairs_p(const struct nt_matched *pairs)
{
	double lower = nt_matched_lower_p(pairs);
	double within = nt_matched_within_p(pairs);

	return capped(2 * (lower < within ? lower : within));
}

double nt_compare_p(const float *baseline, const float *arm, unsigned count)
{
	struct nt_matched pairs;

	nt_matched_take(&pairs, baseline, arm, count);
	return pairs_p(&pairs);
}

static double slow_p(const struct nt_gates *gates, unsigned pairs)
{
	if (!gates->last)
		return EARLY_SLOW_P;
	return pairs < MANY ? LAST_SLOW_P : MANY_SLOW_P;
}

/* A significantly lower mean suffices. If times scatter too much to tell, an arm with more stalls,
 * or whose mean does not show the gain, may not win at an early look. At the last one it may, if
 * its slow modes may be chance and with equal shares of them its mean would not exceed the
 * baseline's. */
static bool means_agree(const struct nt_gates *gates, const struct nt_comparison *comparison,
			const struct nt_matched *pairs)
{
	double wanted = gates->last ? 0 : EARLY_MEAN_SHARE * comparison->gain;
	double baseline_us, arm_us;

	if (nt_matched_mean_p(pairs) < MEAN_P)
		return true;
	if (nt_matched_slow_p(pairs) <= slow_p(gates, pairs->count))
		return false;
	if (comparison->arm.mean_us <= (1 - wanted) * comparison->baseline.mean_us)
		return true;
	nt_matched_even_means(pairs, &baseline_us, &arm_us);
	return gates->last && arm_us <= baseline_us;
}

static double wanted_us(const struct nt_gates *gates, const struct nt_comparison *comparison)
{
	return gates->min_gain * (gates->of_us > 0 ? gates->of_us : comparison->baseline.p25_us);
}

static double gain_us(const struct nt_comparison *comparison)
{
	return comparison->gain * comparison->baseline.p25_us;
}

static enum nt_verdict verdict_of(const struct nt_gates *gates,
				  const struct nt_comparison *comparison,
				  const struct nt_matched *pairs)
{
	if (gain_us(comparison) < wanted_us(gates, comparison))
		return NT_VERDICT_SMALL;
	if (!(comparison->p < gates->alpha) || gain_us(comparison) < gates->early_us)
		return NT_VERDICT_CHANCE;
	return means_agree(gates, comparison, pairs) ? NT_VERDICT_FASTER : NT_VERDICT_MEAN;
}

void nt_compare(const struct nt_gates *gates, const float *baseline, const float *arm,
		unsigned count, struct nt_comparison *out)
{
	struct nt_matched pairs;

	nt_matched_take(&pairs, baseline, arm, count);
	*out = (struct nt_comparison){ .p = 1, .verdict = NT_VERDICT_SAMPLES };
	if (pairs.count == 0)
		return;
	out->baseline = nt_sample_quantiles_of(pairs.baseline, pairs.count);
	out->arm = nt_sample_quantiles_of(pairs.arm, pairs.count);
	out->gain = nt_matched_gain_us(&pairs) / out->baseline.p25_us;
	out->exact_p = pairs_p(&pairs);
	out->p = capped(out->exact_p * gates->tests);
	out->verdict = verdict_of(gates, out, &pairs);
}

bool nt_compare_promising(const struct nt_gates *gates, const struct nt_comparison *comparison)
{
	if (comparison->verdict == NT_VERDICT_SAMPLES || comparison->verdict == NT_VERDICT_FASTER)
		return false;
	return gain_us(comparison) >= wanted_us(gates, comparison) / 2 &&
	       comparison->exact_p < PROMISING_P && comparison->exact_p * gates->tests < 1;
}

static double usual_us(const float *baseline, unsigned count)
{
	return nt_sample_quantile(baseline, count, count < FEW ? 1 : USUAL_Q);
}

/* What min_gain is a share of: the usual time, or a lower quartile in a much faster mode. */
static double floor_us(const float *baseline, unsigned count)
{
	const double p25_us = nt_sample_quantile(baseline, count, 0.25);
	const double us = usual_us(baseline, count);

	return p25_us * NT_MATCHED_GAP < us ? p25_us : us;
}

bool nt_compare_could_win(double min_gain, const float *baseline, const float *arm, unsigned count)
{
	double hoped = nt_sample_quantile(arm, count, HOPED_Q);

	return hoped > 0 &&
	       hoped <= usual_us(baseline, count) - min_gain * floor_us(baseline, count);
}

double nt_compare_hoped_us(const float *baseline, const float *arm, unsigned count)
{
	return usual_us(baseline, count) - nt_sample_quantile(arm, count, HOPED_Q);
}

bool nt_compare_behind(const float *baseline, const float *arm, unsigned count, double p)
{
	struct nt_sample_quantiles of_baseline, of_arm;
	struct nt_matched pairs, other;

	nt_matched_take(&pairs, baseline, arm, count);
	nt_matched_take(&other, arm, baseline, count);
	of_baseline = nt_sample_quantiles_of(pairs.baseline, pairs.count);
	of_arm = nt_sample_quantiles_of(pairs.arm, pairs.count);
	/* An arm may be slower within modes and faster overall. */
	return (nt_matched_gain_us(&pairs) < 0 && nt_compare_p(arm, baseline, count) < p) ||
	       (of_arm.mean_us > of_baseline.mean_us &&
		(nt_matched_slow_p(&pairs) < p || nt_matched_mean_p(&other) < p));
}
