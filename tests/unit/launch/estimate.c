/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Ratios of steps: Student's distribution and the deviation that is estimated */
#include "tests/lib/unit.h"
#include "tests/unit/launch/select-world.h"
#include "launch/estimate.h"

static void tails_are_students(void **state)
{
	static const struct {
		double t, degrees, p;
	} known[] = {
		{ 0, 3, 0.5 },	     { 2.353, 3, 0.05 },  { 4.541, 3, 0.01 },
		{ 1.812, 10, 0.05 }, { 2.764, 10, 0.01 }, { 1.645, 1e6, 0.05 },
	};

	for (unsigned i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		double p = nt_student_tail(known[i].t, known[i].degrees);

		assert_true(fabs(p - known[i].p) < 0.001);
		assert_true(fabs(nt_student_tail(-known[i].t, known[i].degrees) - (1 - p)) < 1e-9);
	}
}

static void log_times_add_up(void **state)
{
	struct nt_log_times sum = { 0 };

	for (unsigned i = 0; i < 5; i++)
		nt_log_times_add(&sum, i * i);
	assert_true(sum.count == 5 && fabs(sum.mean - 6) < 1e-12);
	assert_true(fabs(sum.squares - 174) < 1e-9);
}

/* Nothing is known of one step; of many, what they differ by. */
static void the_assumption_fades(void **state)
{
	assert_true(fabs(nt_estimate_deviation(0, 0) - NT_DEVIATION_ASSUMED) < 1e-12);
	assert_true(nt_estimate_deviation(4 * 0.03 * 0.03, 4) < 0.075);
	assert_true(fabs(nt_estimate_deviation(100 * 0.15 * 0.15, 100) - 0.15) < 0.002);
}

/* Of two equal things, one is called faster at p < 0.05 in one case of twenty, whatever they vary
 * by; with few samples the assumption errs on the safe side if they vary less than it says. */
static void nothing_is_claimed_too_often(void **state)
{
	static const double deviations[] = { 0.03, 0.09, 0.15 };
	static const unsigned counts[] = { 1, 3, 6 };
	uint64_t seed = 5;

	for (unsigned d = 0; d < 3; d++) {
		for (unsigned n = 0; n < 3; n++) {
			unsigned claimed = 0;

			for (unsigned i = 0; i < 2000; i++) {
				struct nt_log_times side[2] = { { .count = 0 }, { .count = 0 } };
				struct nt_estimate estimate;

				for (unsigned k = 0; k < 2 * counts[n]; k++)
					nt_log_times_add(&side[k % 2],
							 deviations[d] * world_normal(&seed));
				estimate = nt_estimate_of(&side[0], &side[1]);
				claimed += nt_estimate_p_below(&estimate) < 0.05;
			}
			assert_true(claimed <= 2000 * (deviations[d] < 0.1 ? 0.06 : 0.075));
		}
	}
}

static void one_rule_says_what_is_worth_it(void **state)
{
	assert_int_equal(nt_estimate_worth(-0.05, 0.01, 0.05, 0), NT_WORTH_IT);
	assert_int_equal(nt_estimate_worth(-0.05, 0.05, 0.05, 0), NT_WORTH_NOISE);
	assert_int_equal(nt_estimate_worth(-0.02, 0.01, 0.05, 0), NT_WORTH_SMALL);
	assert_int_equal(nt_estimate_worth(0.01, 0.01, 0.05, 0), NT_WORTH_SLOWER);
	assert_int_equal(nt_estimate_worth(-0.05, 0.01, 0.05, 1.2), NT_WORTH_WORST);
}

UNIT_TESTS(tails_are_students, log_times_add_up, the_assumption_fades, nothing_is_claimed_too_often,
	   one_rule_says_what_is_worth_it);
