/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* rule.c - the rules of a paper */
#include "tuner/rule.h"

#include <float.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define ONLINE_BLOCKS 10
#define OFFLINE_BLOCKS 40
#define SMALL_GAIN 0.05
#define LARGE_GAIN 0.1 /* from LARGE_BYTES on */
#define LARGE_BYTES (UINT64_C(64) << 20)
#define MANN_WHITNEY_P 0.01
#define MEDIUM_EFFECT 0.33
#define FENCE 1.5 /* interquartile ranges */

/* The samples that are there and no outliers, in their order. Returns how many. */
static unsigned trim(const float *us, unsigned count, float *out)
{
	double low = nt_decide_quantile(us, count, 0.25);
	double high = nt_decide_quantile(us, count, 0.75);
	double reach = FENCE * (high - low);
	unsigned kept = 0;

	for (unsigned i = 0; i < count && i < NT_DECIDE_SAMPLES; i++) {
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

double nt_rule_trimmed_mean(const float *us, unsigned count)
{
	float kept[NT_DECIDE_SAMPLES];

	return mean(kept, trim(us, count, kept));
}

static int by_value(const void *a, const void *b)
{
	float x = *(const float *)a;
	float y = *(const float *)b;

	return (x > y) - (x < y);
}

/* Sum over the groups of equal values of t^3 - t. */
static double ties(const float *base, unsigned base_count, const float *arm, unsigned arm_count)
{
	float pooled[2 * NT_DECIDE_SAMPLES];
	unsigned count = base_count + arm_count;
	double sum = 0;

	memcpy(pooled, base, base_count * sizeof(pooled[0]));
	memcpy(pooled + base_count, arm, arm_count * sizeof(pooled[0]));
	qsort(pooled, count, sizeof(pooled[0]), by_value);
	for (unsigned i = 0, same; i < count; i += same) {
		for (same = 1; i + same < count && pooled[i + same] == pooled[i]; same++)
			;
		sum += (double)same * same * same - same;
	}
	return sum;
}

/* The library of mathematics is not there for us inside of NCCL's process. */
static double root(double x)
{
	double y = x > 1 ? x : 1;

	for (int i = 0; i < 60 && x > 0; i++)
		y = (y + x / y) / 2;
	return x > 0 ? y : 0;
}

/* e^-x for x >= 0: the series of x / 2^k, squared k times. */
static double decay(double x)
{
	double term = 1, sum = 1;
	int halved = 0;

	for (; x > 0.5; halved++)
		x /= 2;
	for (int i = 1; i < 16; i++) {
		term *= x / i;
		sum += term;
	}
	while (halved-- > 0)
		sum *= sum;
	return 1 / sum;
}

#define TAU 6.283185307179586

/* How likely a standard normal number is above z: by the series around 0, or the fraction of
 * Laplace far out. */
static double normal_tail(double z)
{
	double far = z < 0 ? -z : z;
	double density = decay(far * far / 2) / root(TAU);
	double sum = 0, tail;

	if (far < 4) {
		double term = far;

		for (int i = 3; i < 120; i += 2) {
			sum += term;
			term *= far * far / i;
		}
		tail = 0.5 - density * sum;
	} else {
		for (int i = 60; i > 0; i--)
			sum = i / (far + sum);
		tail = density / (far + sum);
	}
	return z < 0 ? 1 - tail : tail;
}

double nt_rule_mann_whitney(const float *base, unsigned base_count, const float *arm,
			    unsigned arm_count, double *delta)
{
	double pairs = (double)base_count * arm_count;
	double all = (double)base_count + arm_count;
	double u = 0; /* pairs in which the arm is faster */
	double deviation;

	*delta = 0;
	if (pairs == 0)
		return 1;
	for (unsigned i = 0; i < base_count; i++) {
		for (unsigned j = 0; j < arm_count; j++)
			u += arm[j] < base[i] ? 1 : (arm[j] == base[i] ? 0.5 : 0);
	}
	*delta = 2 * u / pairs - 1;
	deviation = root(pairs / 12 *
			 (all + 1 - ties(base, base_count, arm, arm_count) / (all * (all - 1))));
	if (!(deviation > 0))
		return 1;
	return normal_tail((u - pairs / 2 - 0.5) / deviation);
}

/* The arm with the lowest mean without outliers; AUTO where AUTO's is, or where AUTO was not
 * measured. */
static unsigned lowest(const struct nt_measured *m, double *gain)
{
	double base = nt_rule_trimmed_mean(m->us[0], m->samples);
	double low = base;
	unsigned best = 0;

	for (unsigned i = 1; i < m->arms; i++) {
		double us = nt_rule_trimmed_mean(m->us[i], m->samples);

		if (us > 0 && us < low) {
			low = us;
			best = i;
		}
	}
	*gain = base > 0 ? 1 - low / base : 0;
	return best;
}

static void judge_online(const struct nt_measured *m, struct nt_choice *choice)
{
	double gain;

	*choice = (struct nt_choice){ .p = 1, .best = lowest(m, &gain) };
	if (choice->best == 0)
		choice->verdict = NT_VERDICT_SCREENED;
	else
		choice->verdict = gain < SMALL_GAIN ? NT_VERDICT_SMALL : NT_VERDICT_FASTER;
}

/* Is the arm's mean lower among the samples of even, and of odd, number? */
static bool halves_agree(const float *base, unsigned base_count, const float *arm,
			 unsigned arm_count)
{
	for (unsigned half = 0; half < 2; half++) {
		float a[NT_DECIDE_SAMPLES], b[NT_DECIDE_SAMPLES];
		unsigned of_a = 0, of_b = 0;

		for (unsigned i = half; i < base_count; i += 2)
			b[of_b++] = base[i];
		for (unsigned i = half; i < arm_count; i += 2)
			a[of_a++] = arm[i];
		if (of_a == 0 || of_b == 0 || mean(a, of_a) >= mean(b, of_b))
			return false;
	}
	return true;
}

static enum nt_verdict gates(const struct nt_measured *m, unsigned arm, double *mean_us, double *p)
{
	float base_us[NT_DECIDE_SAMPLES], arm_us[NT_DECIDE_SAMPLES];
	unsigned base = trim(m->us[0], m->samples, base_us);
	unsigned count = trim(m->us[arm], m->samples, arm_us);
	double wanted = m->size_bytes >= LARGE_BYTES ? LARGE_GAIN : SMALL_GAIN;
	double delta;

	*p = 1;
	*mean_us = mean(arm_us, count);
	if (base == 0 || count == 0)
		return NT_VERDICT_SAMPLES;
	*p = nt_rule_mann_whitney(base_us, base, arm_us, count, &delta);
	if (*mean_us >= mean(base_us, base))
		return NT_VERDICT_SCREENED;
	if (*mean_us > (1 - wanted) * mean(base_us, base))
		return NT_VERDICT_SMALL;
	if (*p >= MANN_WHITNEY_P || delta <= MEDIUM_EFFECT ||
	    !halves_agree(base_us, base, arm_us, count))
		return NT_VERDICT_CHANCE;
	return NT_VERDICT_FASTER;
}

/* Of the arms that pass all gates the one with the lowest mean; if none does, that of all. */
static void judge_offline(const struct nt_measured *m, struct nt_choice *choice)
{
	double low = DBL_MAX;

	*choice = (struct nt_choice){ .p = 1, .verdict = NT_VERDICT_SAMPLES };
	for (unsigned i = 1; i < m->arms; i++) {
		double us, p;
		enum nt_verdict verdict = gates(m, i, &us, &p);
		bool first = verdict == NT_VERDICT_FASTER && choice->verdict != NT_VERDICT_FASTER;
		bool passes = verdict == NT_VERDICT_FASTER || choice->verdict != NT_VERDICT_FASTER;

		if (verdict == NT_VERDICT_SAMPLES || !(first || (passes && us < low)))
			continue;
		*choice = (struct nt_choice){ .best = i, .p = p, .verdict = verdict };
		low = us;
	}
}

unsigned nt_rule_contest(const struct nt_named *named, const struct nt_measured *measured,
			 struct nt_contest *contest)
{
	const struct nt_rule rule = { .tests = 1 };
	struct nt_choice choice;

	named->judge(measured, &choice);
	nt_decide_contest(&rule, measured->us[0], measured->us[choice.best], measured->samples,
			  contest);
	contest->p = choice.p;
	contest->verdict = choice.verdict;
	return choice.best;
}

const struct nt_named *nt_rule_named(int64_t rule)
{
	static const struct nt_named online = { .blocks = ONLINE_BLOCKS, .judge = judge_online };
	static const struct nt_named offline = { .blocks = OFFLINE_BLOCKS, .judge = judge_offline };

	switch (rule) {
	case NT_RULE_PAPER_ONLINE: return &online;
	case NT_RULE_PAPER_OFFLINE: return &offline;
	default: return NULL;
	}
}
