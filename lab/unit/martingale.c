/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* martingale.c - evidence that is valid at any time, checked by counting all exchanges of the times
 * of each block */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <cmocka.h>
#include "engine/quantiles.h"
#include "lab/rules/martingale.h"
#include "tests/fake/rng.h"

#define FEW 11u

/* Pairs with arbitrarily different times; two modes. */
static void make_up(unsigned seed, float baseline[FEW], float arm[FEW])
{
	for (unsigned i = 0; i < FEW; i++) {
		uint64_t key = nt_rng_mix(seed, i);

		baseline[i] = (float)(100 + 20 * nt_rng_unit(key));
		arm[i] = (float)((60 + 60 * nt_rng_unit(key ^ 77)) *
				 (nt_rng_unit(key ^ 78) < 0.3 ? 2.3 : 1));
	}
}

/* Of all 2^FEW ways to exchange the times of blocks, at most a share of p gives p or less. */
static void chance_is_as_rare_as_p_says(void **state)
{
	(void)state;
	for (unsigned seed = 0; seed < 10; seed++) {
		float baseline[FEW], arm[FEW], one[FEW], other[FEW];
		unsigned tenth = 0, hundredth = 0;

		make_up(seed, baseline, arm);
		for (unsigned exchanged = 0; exchanged < 1u << FEW; exchanged++) {
			double p;

			for (unsigned i = 0; i < FEW; i++) {
				one[i] = exchanged & 1u << i ? arm[i] : baseline[i];
				other[i] = exchanged & 1u << i ? baseline[i] : arm[i];
			}
			p = nt_martingale_p(one, other, FEW);
			tenth += p <= 0.1;
			hundredth += p <= 0.01;
		}
		assert_true(tenth <= (1u << FEW) / 10 && hundredth <= (1u << FEW) / 100);
		assert_true(tenth > 0);
	}
}

static void a_clear_gain_takes_few_pairs(void **state)
{
	float baseline[20], arm[20];

	(void)state;
	for (unsigned i = 0; i < 20; i++) {
		baseline[i] = (float)(100 + 3 * nt_rng_unit(i));
		arm[i] = (float)(90 + 3 * nt_rng_unit(i + 100));
	}
	assert_true(nt_martingale_p(baseline, arm, 14) < 0.01 / 3);
	assert_true(nt_martingale_p(arm, baseline, 20) > 0.9);
	for (unsigned i = 0; i < 20; i++) { /* so far apart that each is a separate mode */
		if (i % 2)
			arm[i] *= 0.5F;
	}
	assert_true(nt_martingale_p(baseline, arm, 20) < 0.01 / 3);
}

static void what_was_won_counts(void **state)
{
	float baseline[60], arm[60];
	double p;

	(void)state;
	for (unsigned i = 0; i < 60; i++) {
		baseline[i] = (float)(100 + nt_rng_unit(i));
		arm[i] = (float)((i < 20 ? 90 : 110) + nt_rng_unit(i + 100));
	}
	p = nt_martingale_p(baseline, arm, 20);
	assert_true(p < 0.001);
	assert_true(nt_martingale_p(baseline, arm, 60) <= p);
}

static void what_is_missing_is_left_out(void **state)
{
	const float baseline[] = { 5, 0, 6, 5, 5 }, arm[] = { 4, 4, 5, 0, 4 };
	const float whole_base[] = { 5, 6, 5 }, whole_arm[] = { 4, 5, 4 };
	const float alike[] = { 5, 5, 5 };
	static float many[NT_SAMPLES_MAX + 8], fewer[NT_SAMPLES_MAX + 8];

	(void)state;
	assert_true(nt_martingale_p(baseline, arm, 5) == nt_martingale_p(whole_base, whole_arm, 3));
	assert_true(nt_martingale_p(baseline, arm, 0) == 1);
	assert_true(nt_martingale_p(alike, alike, 3) == 1);
	for (unsigned i = 0; i < NT_SAMPLES_MAX + 8; i++) {
		many[i] = 10;
		fewer[i] = 9;
	}
	assert_true(nt_martingale_p(many, fewer, NT_SAMPLES_MAX + 8) < 1e-100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chance_is_as_rare_as_p_says),
		cmocka_unit_test(a_clear_gain_takes_few_pairs),
		cmocka_unit_test(what_was_won_counts),
		cmocka_unit_test(what_is_missing_is_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
