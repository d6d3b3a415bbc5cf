/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* matched.c - each p against a count of all exchanges, with ranks and modes computed in the
 * simplest way */
#include <math.h>
#include <stdbool.h>
#include "tests/lib/unit.h"
#include "tests/fake/rng.h"
#include "engine/matched.h"

#define SMALL_N 9u

typedef double statistic_fn(const float *baseline, const float *arm, unsigned pairs);

static void assert_near(double a, double b)
{
	assert_true(fabs(a - b) < 1e-9);
}

static double mean_statistic(const float *baseline, const float *arm, unsigned pairs)
{
	double sum = 0;

	for (unsigned i = 0; i < pairs; i++)
		sum += baseline[i] - arm[i];
	return sum;
}

static double counted_p(statistic_fn *of, const float *baseline, const float *arm, unsigned pairs)
{
	double seen = of(baseline, arm, pairs);
	unsigned as_extreme = 0;

	for (unsigned flips = 0; flips < 1u << pairs; flips++) {
		float a[SMALL_N], b[SMALL_N];

		for (unsigned i = 0; i < pairs; i++) {
			a[i] = flips & (1u << i) ? arm[i] : baseline[i];
			b[i] = flips & (1u << i) ? baseline[i] : arm[i];
		}
		as_extreme += of(a, b, pairs) >= seen - 1e-9;
	}
	return (double)as_extreme / (1u << pairs);
}

/* Few values, so that there are ties, or many; one in three in a second mode, or none. */
static void make_up(float *baseline, float *arm, unsigned pairs, uint64_t seed)
{
	double spread = seed % 3 == 0 ? 4 : 30;
	double gain = seed % 2 ? 0.1 : 0;

	for (unsigned i = 0; i < pairs; i++) {
		uint64_t key = nt_rng_mix(seed, i);

		baseline[i] = (float)(100 + floor(spread * nt_rng_unit(key)));
		arm[i] = (float)((100 + floor(spread * nt_rng_unit(key ^ 77))) * (1 - gain));
		if (seed % 5 > 1 && nt_rng_unit(key ^ 78) < 0.35)
			baseline[i] *= 2.3f;
		if (seed % 5 > 1 && nt_rng_unit(key ^ 79) < 0.35)
			arm[i] *= 2.3f;
	}
}

/* Whatever the times are: if chance alone has ordered each pair, p is at most x in at most x of the
 * cases. */
static void p_holds_its_promise(void **state)
{
	static const double levels[] = { 0.004, 0.01, 0.05, 0.2, 0.5 };
	float baseline[SMALL_N], arm[SMALL_N], a[SMALL_N], b[SMALL_N];
	struct nt_matched pairs;

	for (uint64_t seed = 0; seed < 30; seed++) {
		unsigned hits[3][5] = { { 0 } };

		make_up(baseline, arm, SMALL_N, seed);
		for (unsigned flips = 0; flips < 1u << SMALL_N; flips++) {
			double p[3];

			for (unsigned i = 0; i < SMALL_N; i++) {
				a[i] = flips & (1u << i) ? arm[i] : baseline[i];
				b[i] = flips & (1u << i) ? baseline[i] : arm[i];
			}
			nt_matched_take(&pairs, a, b, SMALL_N);
			p[0] = nt_matched_lower_p(&pairs);
			p[1] = nt_matched_within_p(&pairs);
			p[2] = pairs.modes == 2 ? nt_matched_slow_p(&pairs) : 1;
			for (unsigned l = 0; l < 5; l++) {
				for (unsigned test = 0; test < 3; test++)
					hits[test][l] += p[test] <= levels[l];
			}
		}
		for (unsigned l = 0; l < 5; l++) {
			for (unsigned test = 0; test < 3; test++)
				assert_true(hits[test][l] <= levels[l] * (1u << SMALL_N) + 1e-9);
		}
	}
}

/* Differences that rounding does not make equal. */
static void the_means_p_too(void **state)
{
	const float baseline[] = { 100, 130, 90, 100, 75, 110, 100, 102 };
	const float arm[] = { 90, 108.3f, 94.6f, 56.9f, 90.9f, 101.7f, 98.6f, 200 };
	struct nt_matched pairs;

	nt_matched_take(&pairs, baseline, arm, 7);
	assert_near(nt_matched_mean_p(&pairs), counted_p(mean_statistic, baseline, arm, 7));
	assert_true(nt_matched_mean_p(&pairs) < 0.15);
	nt_matched_take(&pairs, baseline, arm, 8);
	assert_near(nt_matched_mean_p(&pairs), counted_p(mean_statistic, baseline, arm, 8));
	assert_true(nt_matched_mean_p(&pairs) > 0.5);
	nt_matched_take(&pairs, baseline, baseline, 8);
	assert_near(nt_matched_mean_p(&pairs), 1);
}

static void modes_are_told_apart(void **state)
{
	const float baseline[] = { 100, 110, 230, 105, 240, 108 };
	const float arm[] = { 230, 90, 900, 235, 245, 240 };
	struct nt_matched pairs;
	double baseline_us, arm_us;

	nt_matched_take(&pairs, baseline, arm, 6);
	assert_int_equal(pairs.modes, 3);
	assert_near(pairs.top_us[0], 110);
	assert_near(pairs.top_us[1], 245);
	assert_near(pairs.top_us[2], 900);
	/* Slow in 3 blocks where AUTO was not, never the other way: 1 in 8. Beyond 245 only
	 * once. */
	assert_near(nt_matched_slow_p(&pairs), 0.125);
	nt_matched_even_means(&pairs, &baseline_us, &arm_us);
	assert_near(baseline_us, (105.75 * 5 + 235 * 6 + 900) / 12);
	assert_near(arm_us, (90.0 * 5 + 237.5 * 6 + 900) / 12);
}

static void modes_are_bounded(void **state)
{
	float baseline[40], arm[40];
	struct nt_matched pairs;

	for (unsigned i = 0; i < 40; i++) {
		baseline[i] = (float)pow(1.5, 2 * i);
		arm[i] = (float)pow(1.5, 2 * i + 1);
	}
	nt_matched_take(&pairs, baseline, arm, 40);
	assert_int_equal(pairs.modes, NT_MATCHED_MODES);
	assert_near(pairs.top_us[NT_MATCHED_MODES - 1] / arm[39], 1);
	assert_true(nt_matched_within_p(&pairs) > 0);
}

UNIT_TESTS(p_holds_its_promise, the_means_p_too, modes_are_told_apart, modes_are_bounded);
