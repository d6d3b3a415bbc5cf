/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/rules/paper.h"

#include <float.h>
#include <math.h>
#include <string.h>
#include "lib/quantile.h"

/* Of the only round; none is dropped. */
#define ONLINE_BLOCKS 10
#define OFFLINE_BLOCKS 40
#define SMALL_GAIN 0.05
#define LARGE_GAIN 0.1 /* for sizes from LARGE_BYTES on */
#define LARGE_BYTES (UINT64_C(64) << 20)
#define MANN_WHITNEY_P 0.01
#define MEDIUM_EFFECT 0.33
#define FENCE 1.5 /* interquartile ranges */

/* Present samples without outliers, sorted. Returns their number. */
static unsigned trim(const float *us, unsigned count, float *out)
{
	double low = nt_sample_quantile(us, count, 0.25);
	double high = nt_sample_quantile(us, count, 0.75);
	double reach = FENCE * (high - low);
	unsigned kept = 0;

	for (unsigned i = 0; i < count && i < NT_SAMPLES_MAX; i++) {
		if (us[i] > 0 && us[i] >= low - reach && us[i] <= high + reach)
			out[kept++] = us[i];
	}
	return kept;
}

static double mean(const float *us, unsigned count)
{
	double sum = 0;

	for (unsigned i = 0; i < count; i++)
		sum += us[i];
	return count > 0 ? sum / count : 0;
}

double nt_paper_trimmed_mean(const float *us, unsigned count)
{
	float kept[NT_SAMPLES_MAX];

	return mean(kept, trim(us, count, kept));
}

/* Sum over the groups of equal values of t^3 - t. */
static double ties(const float *baseline, unsigned baseline_count, const float *arm,
		   unsigned arm_count)
{
	float pooled[2 * NT_SAMPLES_MAX];
	unsigned count = baseline_count + arm_count;
	double sum = 0;

	memcpy(pooled, baseline, baseline_count * sizeof(pooled[0]));
	memcpy(pooled + baseline_count, arm, arm_count * sizeof(pooled[0]));
	nt_sort_floats(pooled, count);
	for (unsigned i = 0, same; i < count; i += same) {
		for (same = 1; i + same < count && pooled[i + same] == pooled[i]; same++)
			;
		sum += (double)same * same * same - same;
	}
	return sum;
}

/* Upper tail of the standard normal distribution. */
static double normal_tail(double z)
{
	return erfc(z / sqrt(2)) / 2;
}

double nt_paper_mann_whitney(const float *baseline, unsigned baseline_count, const float *arm,
			     unsigned arm_count, double *delta)
{
	double pairs = (double)baseline_count * arm_count;
	double all = (double)baseline_count + arm_count;
	double u = 0; /* pairs in which the arm is faster */
	double deviation;

	*delta = 0;
	if (pairs == 0)
		return 1;
	for (unsigned i = 0; i < baseline_count; i++) {
		for (unsigned j = 0; j < arm_count; j++)
			u += arm[j] < baseline[i] ? 1 : (arm[j] == baseline[i] ? 0.5 : 0);
	}
	*delta = 2 * u / pairs - 1;
	deviation = sqrt(
		pairs / 12 *
		(all + 1 - ties(baseline, baseline_count, arm, arm_count) / (all * (all - 1))));
	if (!(deviation > 0))
		return 1;
	return normal_tail((u - pairs / 2 - 0.5) / deviation);
}

/* The arm with the lowest trimmed mean; the baseline if that is the baseline's, or if it was not
 * measured. */
static unsigned lowest(const struct nt_evidence *e, double *gain)
{
	double baseline = nt_paper_trimmed_mean(e->us[0], e->blocks);
	double low = baseline;
	unsigned best = 0;

	for (unsigned i = 1; i < e->count; i++) {
		double us = nt_paper_trimmed_mean(e->us[i], e->blocks);

		if (us > 0 && us < low) {
			low = us;
			best = i;
		}
	}
	*gain = baseline > 0 ? 1 - low / baseline : 0;
	return best;
}

/* The rule's verdict, with quantiles of the arm and the baseline. */
static void conclude(const struct nt_evidence *e, unsigned best, double p, enum nt_verdict verdict,
		     struct nt_next *next)
{
	const struct nt_gates gates = { .tests = 1 };
	struct nt_comparison comparison;

	nt_compare(&gates, e->us[0], e->us[best], e->blocks, &comparison);
	comparison.p = p;
	comparison.verdict = verdict;
	nt_next_conclude(next, e, e->arm[best], &comparison);
}

static void online(const struct nt_evaluation *seen, struct nt_next *next)
{
	double gain;
	const unsigned best = lowest(&seen->screen, &gain);

	conclude(&seen->screen, best, 1,
		 best == 0	     ? NT_VERDICT_SCREENED
		 : gain < SMALL_GAIN ? NT_VERDICT_SMALL
				     : NT_VERDICT_FASTER,
		 next);
}

/* Is the arm's mean lower among both the even and the odd samples? */
static bool halves_agree(const float *baseline, unsigned baseline_count, const float *arm,
			 unsigned arm_count)
{
	for (unsigned half = 0; half < 2; half++) {
		float a[NT_SAMPLES_MAX], b[NT_SAMPLES_MAX];
		unsigned of_a = 0, of_b = 0;

		for (unsigned i = half; i < baseline_count; i += 2)
			b[of_b++] = baseline[i];
		for (unsigned i = half; i < arm_count; i += 2)
			a[of_a++] = arm[i];
		if (of_a == 0 || of_b == 0 || mean(a, of_a) >= mean(b, of_b))
			return false;
	}
	return true;
}

static enum nt_verdict gates(const struct nt_evaluation *seen, unsigned arm, double *mean_us,
			     double *p)
{
	const struct nt_evidence *e = &seen->screen;
	float baseline_us[NT_SAMPLES_MAX], arm_us[NT_SAMPLES_MAX];
	unsigned baseline = trim(e->us[0], e->blocks, baseline_us);
	unsigned count = trim(e->us[arm], e->blocks, arm_us);
	double wanted = nt_evaluation_bytes(seen) >= LARGE_BYTES ? LARGE_GAIN : SMALL_GAIN;
	double delta;

	*p = 1;
	*mean_us = mean(arm_us, count);
	if (baseline == 0 || count == 0)
		return NT_VERDICT_SAMPLES;
	*p = nt_paper_mann_whitney(baseline_us, baseline, arm_us, count, &delta);
	if (*mean_us >= mean(baseline_us, baseline))
		return NT_VERDICT_SCREENED;
	if (*mean_us > (1 - wanted) * mean(baseline_us, baseline))
		return NT_VERDICT_SMALL;
	if (*p >= MANN_WHITNEY_P || delta <= MEDIUM_EFFECT ||
	    !halves_agree(baseline_us, baseline, arm_us, count))
		return NT_VERDICT_CHANCE;
	return NT_VERDICT_FASTER;
}

/* The arm with the lowest mean among those that pass all gates, otherwise among all. */
static void offline(const struct nt_evaluation *seen, struct nt_next *next)
{
	enum nt_verdict of_best = NT_VERDICT_SAMPLES;
	double low = DBL_MAX, p_of_best = 1;
	unsigned best = 0;

	for (unsigned i = 1; i < seen->screen.count; i++) {
		double us, p;
		enum nt_verdict verdict = gates(seen, i, &us, &p);
		bool first = verdict == NT_VERDICT_FASTER && of_best != NT_VERDICT_FASTER;
		bool passes = verdict == NT_VERDICT_FASTER || of_best != NT_VERDICT_FASTER;

		if (verdict == NT_VERDICT_SAMPLES || !(first || (passes && us < low)))
			continue;
		best = i;
		p_of_best = p;
		of_best = verdict;
		low = us;
	}
	conclude(&seen->screen, best, p_of_best, of_best, next);
}

const struct nt_rule nt_paper_online = { .blocks = ONLINE_BLOCKS, .after_first = { online } };
const struct nt_rule nt_paper_offline = { .blocks = OFFLINE_BLOCKS, .after_first = { offline } };
