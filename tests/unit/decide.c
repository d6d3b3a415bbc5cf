/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* decide.c - figures against values by hand, the test against counting all cases, the rule by example */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <cmocka.h>
#include "tests/fake/rng.h"
#include "tuner/decide.h"

#define SMALL_N 10u

static void quantiles_interpolate(void **state)
{
	const float us[] = { 0, 40, 10, 0, 20, 30, 50 };
	const float lone[] = { 7, 0 };

	(void)state;
	assert_float_equal(nt_decide_quantile(us, 7, 0), 10, 1e-9);
	assert_float_equal(nt_decide_quantile(us, 7, 0.25), 20, 1e-9);
	assert_float_equal(nt_decide_quantile(us, 7, 0.3), 22, 1e-5);
	assert_float_equal(nt_decide_quantile(us, 7, 0.5), 30, 1e-9);
	assert_float_equal(nt_decide_quantile(us, 7, 1), 50, 1e-9);
	assert_float_equal(nt_decide_quantile(us, 2, 0.5), 40, 1e-9);
	assert_float_equal(nt_decide_quantile(lone, 2, 0.25), 7, 1e-9);
	assert_float_equal(nt_decide_quantile(us, 1, 0.5), 0, 1e-9);
	assert_float_equal(nt_decide_quantile(us, 0, 0.5), 0, 1e-9);
}

static void figures_leave_out_what_is_missing(void **state)
{
	const float us[] = { 0, 4, 1, 0, 2, 3, 90 };
	struct nt_figures f = nt_decide_figures(us, 7);

	(void)state;
	assert_int_equal(f.samples, 5);
	assert_float_equal(f.p25_us, 2, 1e-9);
	assert_float_equal(f.median_us, 3, 1e-9);
	assert_float_equal(f.mean_us, 20, 1e-9);
	assert_float_equal(f.slowest_us, 90, 1e-9);
	assert_float_equal(f.second_us, 4, 1e-9);
	f = nt_decide_figures(us, 1);
	assert_int_equal(f.samples, 0);
	assert_float_equal(f.mean_us, 0, 1e-9);
}

/* Rank of x among all values, ties sharing the mean of theirs. */
static double rank_of(const float *all, unsigned count, float x)
{
	double rank = 0.5;

	for (unsigned i = 0; i < count; i++)
		rank += all[i] < x ? 1 : all[i] == x ? 0.5 : 0;
	return rank;
}

static double below_middle(const float *all, unsigned pairs, float x)
{
	return fmax(0, pairs + 0.5 - rank_of(all, 2 * pairs, x));
}

/* The statistic with the pairs exchanged that have a bit in `flips`. */
static double statistic(const float *base, const float *arm, unsigned pairs, unsigned flips)
{
	float all[2 * SMALL_N];
	double sum = 0;

	for (unsigned i = 0; i < pairs; i++) {
		all[2 * i] = base[i];
		all[2 * i + 1] = arm[i];
	}
	for (unsigned i = 0; i < pairs; i++) {
		double gain = below_middle(all, pairs, arm[i]) - below_middle(all, pairs, base[i]);

		sum += flips & (1u << i) ? -gain : gain;
	}
	return sum;
}

static double counted_p(const float *base, const float *arm, unsigned pairs)
{
	double seen = statistic(base, arm, pairs, 0);
	unsigned as_extreme = 0;

	for (unsigned flips = 0; flips < 1u << pairs; flips++)
		as_extreme += statistic(base, arm, pairs, flips) >= seen - 1e-9;
	return (double)as_extreme / (1u << pairs);
}

static void make_up(float *base, float *arm, unsigned pairs, uint64_t seed, double gain)
{
	for (unsigned i = 0; i < pairs; i++) {
		uint64_t key = nt_rng_mix(seed, i);
		double spread = seed % 3 == 0 ? 4 : 40; /* few values: many ties */

		base[i] = (float)(100 + floor(spread * nt_rng_unit(key)));
		arm[i] = (float)((100 + floor(spread * nt_rng_unit(key ^ 77))) * (1 - gain));
	}
}

static void p_is_what_counting_says(void **state)
{
	float base[SMALL_N], arm[SMALL_N];

	(void)state;
	for (uint64_t seed = 0; seed < 120; seed++) {
		unsigned pairs = 1 + (unsigned)(seed % SMALL_N);

		make_up(base, arm, pairs, seed, seed % 2 ? 0.1 : 0);
		assert_float_equal(nt_decide_p(base, arm, pairs), counted_p(base, arm, pairs),
				   1e-9);
	}
}

/* Whatever the times are: if chance alone has ordered each pair, p is at most x in at most x of the
 * cases. */
static void p_holds_its_promise(void **state)
{
	float base[SMALL_N], arm[SMALL_N], a[SMALL_N], b[SMALL_N];
	static const double levels[] = { 0.001, 0.005, 0.01, 0.05, 0.2, 0.5 };

	(void)state;
	for (uint64_t seed = 0; seed < 20; seed++) {
		unsigned hits[6] = { 0 };

		make_up(base, arm, SMALL_N, seed, 0.05);
		for (unsigned flips = 0; flips < 1u << SMALL_N; flips++) {
			double p;

			for (unsigned i = 0; i < SMALL_N; i++) {
				a[i] = flips & (1u << i) ? arm[i] : base[i];
				b[i] = flips & (1u << i) ? base[i] : arm[i];
			}
			p = nt_decide_p(a, b, SMALL_N);
			for (unsigned l = 0; l < 6; l++)
				hits[l] += p <= levels[l];
		}
		for (unsigned l = 0; l < 6; l++)
			assert_true(hits[l] <= levels[l] * (1u << SMALL_N) + 1e-9);
	}
}

static void p_at_the_ends(void **state)
{
	float base[NT_DECIDE_SAMPLES], arm[NT_DECIDE_SAMPLES];

	(void)state;
	for (unsigned i = 0; i < NT_DECIDE_SAMPLES; i++) {
		base[i] = 200 + (float)i;
		arm[i] = 100 + (float)i / 1000;
	}
	assert_float_equal(nt_decide_p(base, arm, 20), ldexp(1, -20), 1e-12);
	assert_float_equal(nt_decide_p(arm, base, 20), 1, 1e-9);
	assert_float_equal(nt_decide_p(base, base, 20), 1, 1e-9);
	assert_float_equal(nt_decide_p(base, arm, 0), 1, 1e-9);
	assert_true(nt_decide_p(base, arm, NT_DECIDE_SAMPLES) < 1e-100);
	arm[3] = 0; /* a pair less */
	base[5] = 0;
	assert_float_equal(nt_decide_p(base, arm, 20), ldexp(1, -18), 1e-12);
}

/* Twenty pairs; the arm takes `factor` of AUTO's time, and some of its samples `stall` times that. */
static struct nt_contest contest(const struct nt_rule *rule, double factor, unsigned stalls,
				 double stall)
{
	float base[20], arm[20];
	struct nt_contest out;

	for (unsigned i = 0; i < 20; i++) {
		base[i] = (float)(100 + 5 * nt_rng_unit(i));
		arm[i] = (float)(factor * (100 + 5 * nt_rng_unit(i + 100)));
		if (i < stalls)
			arm[i] = (float)(arm[i] * stall);
	}
	nt_decide_contest(rule, base, arm, 20, &out);
	return out;
}

static void the_rule_by_example(void **state)
{
	const struct nt_rule rule = { .min_gain = 0.05, .alpha = 0.01, .tests = 4 };
	const struct nt_rule early = {
		.min_gain = 0.05, .alpha = 0.01, .tests = 4, .mean_share = 0.5
	};
	const struct nt_rule strict = { .min_gain = 0.05, .alpha = 1e-6, .tests = 4 };
	const float one[] = { 0 };
	struct nt_contest c;

	(void)state;
	c = contest(&rule, 0.9, 0, 1);
	assert_int_equal(c.verdict, NT_VERDICT_FASTER);
	assert_int_equal(c.base.samples, 20);
	assert_true(c.gain > 0.08 && c.gain < 0.12);
	assert_float_equal(c.p, 4 * ldexp(1, -20), 1e-9);
	assert_int_equal(contest(&rule, 0.97, 0, 1).verdict, NT_VERDICT_SMALL);
	assert_int_equal(contest(&rule, 1.1, 0, 1).verdict, NT_VERDICT_SMALL);
	assert_float_equal(contest(&rule, 1.1, 0, 1).p, 1, 1e-9);
	assert_int_equal(contest(&strict, 0.9, 0, 1).verdict, NT_VERDICT_CHANCE);
	/* Four stalls in twenty weigh more than 10 %; one that is far off does not count. */
	assert_int_equal(contest(&rule, 0.9, 4, 2.3).verdict, NT_VERDICT_MEAN);
	assert_int_equal(contest(&rule, 0.9, 2, 20).verdict, NT_VERDICT_MEAN);
	assert_int_equal(contest(&rule, 0.9, 1, 20).verdict, NT_VERDICT_FASTER);
	/* The means differ by 5 %: enough at the last look, not at an earlier one. */
	assert_int_equal(contest(&rule, 0.9, 2, 1.8).verdict, NT_VERDICT_FASTER);
	assert_int_equal(contest(&early, 0.9, 2, 1.8).verdict, NT_VERDICT_MEAN);
	assert_int_equal(contest(&early, 0.9, 0, 1).verdict, NT_VERDICT_FASTER);
	nt_decide_contest(&rule, one, one, 1, &c);
	assert_int_equal(c.verdict, NT_VERDICT_SAMPLES);
	assert_float_equal(c.p, 1, 1e-9);
}

static void promising_is_near(void **state)
{
	const struct nt_rule rule = { .min_gain = 0.05, .alpha = 0.01, .tests = 10 };
	struct nt_contest c = { .gain = 0.04, .p = 0.5, .verdict = NT_VERDICT_SMALL };

	(void)state;
	assert_true(nt_decide_promising(&rule, &c));
	c.gain = 0.02;
	assert_false(nt_decide_promising(&rule, &c));
	c = (struct nt_contest){ .gain = 0.1, .p = 1, .verdict = NT_VERDICT_CHANCE };
	assert_false(nt_decide_promising(&rule, &c));
	c = (struct nt_contest){ .gain = 0.1, .p = 0.001, .verdict = NT_VERDICT_MEAN };
	assert_true(nt_decide_promising(&rule, &c));
	c.verdict = NT_VERDICT_FASTER;
	assert_false(nt_decide_promising(&rule, &c));
	c.verdict = NT_VERDICT_SAMPLES;
	assert_false(nt_decide_promising(&rule, &c));
}

static void a_first_look_hopes(void **state)
{
	const float base[] = { 100, 101, 102, 103, 104, 105, 106, 107 };
	const float near[] = { 99, 100, 101, 102, 103, 104, 105, 106 };
	const float wide[] = { 80, 90, 100, 110, 120, 130, 140, 150 };
	const float none[] = { 0, 0, 0, 0, 0, 0, 0, 0 };

	(void)state;
	assert_false(nt_decide_could_win(0.05, base, near, 8));
	assert_true(nt_decide_could_win(0.03, base, near, 8));
	assert_true(nt_decide_could_win(0.05, base, wide, 8));
	assert_false(nt_decide_could_win(0.05, base, none, 8));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quantiles_interpolate),
		cmocka_unit_test(figures_leave_out_what_is_missing),
		cmocka_unit_test(p_is_what_counting_says),
		cmocka_unit_test(p_holds_its_promise),
		cmocka_unit_test(p_at_the_ends),
		cmocka_unit_test(the_rule_by_example),
		cmocka_unit_test(promising_is_near),
		cmocka_unit_test(a_first_look_hopes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
