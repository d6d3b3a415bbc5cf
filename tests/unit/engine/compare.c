/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* compare.c - statistics against values computed by hand, and examples of each gate */
#include <math.h>
#include "tests/lib/unit.h"
#include "tests/fake/rng.h"
#include "engine/compare-arms.h"
#include "engine/matched.h"

/* Twenty pairs; the arm takes `factor` of AUTO's time, and some of its samples `stall` times
 * that. */
static struct nt_comparison compare(const struct nt_gates *gates, double factor, unsigned stalls,
				    double stall)
{
	float baseline[20], arm[20];
	struct nt_comparison out;

	for (unsigned i = 0; i < 20; i++) {
		baseline[i] = (float)(100 + 5 * nt_rng_unit(i));
		arm[i] = (float)(factor * (100 + 5 * nt_rng_unit(i + 100)));
		if (i < stalls)
			arm[i] = (float)(arm[i] * stall);
	}
	nt_compare(gates, baseline, arm, 20, &out);
	return out;
}

static void the_gates_by_example(void **state)
{
	const struct nt_gates gates = { .min_gain = 0.05, .alpha = 0.01, .tests = 4, .last = true };
	const struct nt_gates early = { .min_gain = 0.05, .alpha = 0.01, .tests = 4 };
	const struct nt_gates strict = { .min_gain = 0.05, .alpha = 1e-6, .tests = 4 };
	const float one[] = { 0 };
	struct nt_comparison c;

	c = compare(&gates, 0.9, 0, 1);
	assert_int_equal(c.verdict, NT_VERDICT_FASTER);
	assert_int_equal(c.baseline.samples, 20);
	assert_true(c.gain > 0.08 && c.gain < 0.12);
	assert_true(fabs(c.p * 0x1p20 - 2 * 4) < 1e-6);
	assert_int_equal(compare(&early, 0.9, 0, 1).verdict, NT_VERDICT_FASTER);
	assert_int_equal(compare(&gates, 0.97, 0, 1).verdict, NT_VERDICT_SMALL);
	assert_int_equal(compare(&gates, 1.1, 0, 1).verdict, NT_VERDICT_SMALL);
	assert_true(compare(&gates, 1.1, 0, 1).p == 1);
	assert_int_equal(compare(&strict, 0.9, 0, 1).verdict, NT_VERDICT_CHANCE);
	/* Three stalls in twenty where AUTO has none are significant; a single one is not, however
	 * long. */
	assert_int_equal(compare(&gates, 0.9, 3, 1.7).verdict, NT_VERDICT_MEAN);
	assert_int_equal(compare(&gates, 0.9, 1, 50).verdict, NT_VERDICT_FASTER);
	assert_int_equal(compare(&early, 0.9, 1, 50).verdict, NT_VERDICT_MEAN);
	/* The mean must show half of the gain as long as there is another look. */
	assert_int_equal(compare(&early, 0.9, 5, 1.3).verdict, NT_VERDICT_MEAN);
	assert_int_equal(compare(&gates, 0.9, 5, 1.3).verdict, NT_VERDICT_FASTER);
	nt_compare(&gates, one, one, 1, &c);
	assert_int_equal(c.verdict, NT_VERDICT_SAMPLES);
	assert_true(c.p == 1);
}

/* For so many pairs, in which the arm is faster and has this many stalls: may it win at the last
 * look? */
static enum nt_verdict with_stalls(unsigned pairs, unsigned stalls)
{
	const struct nt_gates gates = { .min_gain = 0.05, .alpha = 0.01, .tests = 4, .last = true };
	float baseline[NT_SAMPLES_MAX], arm[NT_SAMPLES_MAX];
	struct nt_comparison out;

	for (unsigned i = 0; i < pairs; i++) {
		baseline[i] = (float)(100 + 5 * nt_rng_unit(i));
		arm[i] = (float)(90 + 5 * nt_rng_unit(i + 1000)) * (i < stalls ? 50 : 1);
	}
	nt_compare(&gates, baseline, arm, pairs, &out);
	return out.verdict;
}

/* Three stalls against none occur by chance in one of eight cases. Few pairs would not show more
 * stalls; many would. */
static void stalls_weigh_less_where_many_pairs_were_seen(void **state)
{
	assert_int_equal(with_stalls(24, 3), NT_VERDICT_MEAN);
	assert_int_equal(with_stalls(192, 3), NT_VERDICT_FASTER);
	assert_int_equal(with_stalls(192, 96), NT_VERDICT_MEAN);
}

static void promising_is_near(void **state)
{
	const struct nt_gates gates = { .min_gain = 0.05, .alpha = 0.01, .tests = 10 };
	struct nt_comparison c = {
		.baseline.p25_us = 100, .gain = 0.04, .p = 0.5, .verdict = NT_VERDICT_SMALL
	};

	assert_true(nt_compare_promising(&gates, &c));
	c.gain = 0.02;
	assert_false(nt_compare_promising(&gates, &c));
	c.gain = 0.1;
	c.p = 1;
	c.exact_p = 0.1;
	c.verdict = NT_VERDICT_CHANCE;
	assert_false(nt_compare_promising(&gates, &c));
	c.p = 0.001;
	c.exact_p = 0;
	c.verdict = NT_VERDICT_MEAN;
	assert_true(nt_compare_promising(&gates, &c));
	c.verdict = NT_VERDICT_FASTER;
	assert_false(nt_compare_promising(&gates, &c));
	c.verdict = NT_VERDICT_SAMPLES;
	assert_false(nt_compare_promising(&gates, &c));
}

static void a_first_look_hopes(void **state)
{
	const float baseline[] = { 100, 101, 102, 103, 104, 105, 106, 107 };
	const float near[] = { 99, 100, 101, 102, 103, 104, 105, 106 };
	const float wide[] = { 80, 90, 100, 110, 120, 130, 140, 150 };
	const float none[] = { 0, 0, 0, 0, 0, 0, 0, 0 };

	assert_false(nt_compare_could_win(0.05, baseline, near, 8));
	assert_true(nt_compare_could_win(0.03, baseline, near, 8));
	assert_true(nt_compare_could_win(0.05, baseline, wide, 8));
	assert_false(nt_compare_could_win(0.05, baseline, none, 8));
	/* With few samples: compared with AUTO's slowest one. */
	assert_true(nt_compare_could_win(0.03, baseline, near, 4));
	assert_false(nt_compare_could_win(0.04, baseline, near, 4));
	assert_false(nt_compare_could_win(0.03, baseline, baseline, 3));
}

UNIT_TESTS(the_gates_by_example, stalls_weigh_less_where_many_pairs_were_seen, promising_is_near,
	   a_first_look_hopes);
