/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* cost-account.c - extra time of arms over the baseline is accounted, pauses of the program are
 * not */
#include "engine/cost-account.h"
#include "tests/unit/engine/engine-bench.h"

#define PAUSE_US 500000.0
#define TRIALS 400
#define TWO (BIT(RING_SIMPLE) | BIT(TREE_SIMPLE))

static struct nt_schedule round_of(enum nt_schedule_kind kind, unsigned blocks)
{
	const uint16_t arm[] = { RING_LL, RING_SIMPLE, TREE_SIMPLE };

	return nt_schedule_explore(kind, arm, 3, blocks);
}

static void put(uint16_t *packed, const struct nt_schedule *s, unsigned block, unsigned place,
		double us)
{
	packed[block * s->count + place] = nt_times_pack((uint32_t)(us * 1000));
}

static void what_an_arm_takes_longer_is_booked(void **state)
{
	struct nt_schedule s = round_of(NT_SCHEDULE_SCREEN, 9);
	const double us[] = { 1000, 1500, 900, 20000 };
	uint16_t packed[NT_TIMES_MAX] = { 0 };
	struct nt_cost_account account = { 0 };

	for (unsigned p = 0; p < 36; p++)
		put(packed, &s, p / 4, p % 4, us[p % 4]);
	nt_cost_account_add(&account, &s, packed);
	assert_float_equal(nt_cost_account_us(&account), 9 * (500 - 100 + 19000), 100);
	/* Without the baseline's time in a block its usual time counts; without any, nothing is
	 * accounted. */
	put(packed, &s, 4, 0, 0);
	packed[16] = 0;
	memset(&account, 0, sizeof(account));
	nt_cost_account_add(&account, &s, packed);
	assert_float_equal(nt_cost_account_us(&account), 9 * (500 - 100 + 19000), 100);
	for (unsigned b = 0; b < 9; b++)
		packed[4 * b] = 0;
	memset(&account, 0, sizeof(account));
	nt_cost_account_add(&account, &s, packed);
	assert_float_equal(nt_cost_account_us(&account), 0, 1e-9);
}

/* Drift affects the baseline as well. */
static void blocks_are_compared_with_their_own(void **state)
{
	struct nt_schedule s = round_of(NT_SCHEDULE_CONFIRM, 25);
	uint16_t packed[NT_TIMES_MAX] = { 0 };
	struct nt_cost_account account = { 0 };

	for (unsigned p = 0; p < 100; p++)
		put(packed, &s, p / 4, p % 4, 1000 + 40.0 * (p / 4) + (p % 4 == 3 ? 100 : 0));
	nt_cost_account_add(&account, &s, packed);
	assert_float_equal(nt_cost_account_us(&account), 2500, 60);
}

/* One call in five is followed by a pause, whatever its arm. */
static void pauses_are_the_programs(void **state)
{
	struct nt_schedule screen = round_of(NT_SCHEDULE_SCREEN, 9);
	struct nt_schedule confirm = round_of(NT_SCHEDULE_CONFIRM, 25);
	double booked_us = 0, paused_us = 0;

	for (unsigned t = 0; t < TRIALS; t++) {
		struct nt_cost_account account = { 0 };

		for (unsigned r = 0; r < 3; r++) {
			const struct nt_schedule *s = r == 0 ? &screen : &confirm;
			uint16_t packed[NT_TIMES_MAX] = { 0 };

			for (unsigned p = 0; p < nt_schedule_positions(s); p++) {
				uint64_t draw = nt_rng_mix(1000 * t + r, 7919 * p);
				bool pause = nt_rng_unit(draw ^ 3) < 0.2;

				put(packed, s, p / 4, p % 4,
				    1000 * (1 + 0.02 * nt_rng_unit(draw)) + pause * PAUSE_US);
				paused_us += pause * PAUSE_US;
			}
			nt_cost_account_add(&account, s, packed);
		}
		booked_us += fabs(nt_cost_account_us(&account));
	}
	assert_true(paused_us > TRIALS * 30 * PAUSE_US);
	assert_true(booked_us < 0.01 * paused_us);
}

/* One call in seven of the last arm; never of another. */
static void an_arms_own_stalls_are_booked(void **state)
{
	struct nt_schedule s = round_of(NT_SCHEDULE_CONFIRM, 29);
	uint16_t packed[NT_TIMES_MAX] = { 0 };
	struct nt_cost_account account = { 0 };

	for (unsigned p = 0; p < 116; p++)
		put(packed, &s, p / 4, p % 4, p % 4 == 3 && (p / 4) % 7 == 3 ? PAUSE_US : 1000);
	nt_cost_account_add(&account, &s, packed);
	assert_float_equal(nt_cost_account_us(&account), 4 * PAUSE_US, PAUSE_US / 50);
}

/* The time to connect at the first use is accounted to the arm; the baseline never had one. */
static void connecting_is_booked(void **state)
{
	struct nt_schedule s = round_of(NT_SCHEDULE_SCREEN, 9);
	uint16_t packed[NT_TIMES_MAX] = { 0 };
	struct nt_cost_account account = { 0 };

	for (unsigned p = 0; p < 36; p++)
		put(packed, &s, p / 4, p % 4, p == 2 ? 300000 : 1000);
	nt_cost_account_add(&account, &s, packed);
	assert_float_equal(nt_cost_account_us(&account), 299000, 200);
}

static double pause_of(const struct nt_plan *plan, unsigned position)
{
	return nt_rng_unit(nt_rng_mix(plan->epoch + 77, position)) < 0.2 ? PAUSE_US : 0;
}

/* Through the engine: the arm is faster, and nothing was spent on it. */
static void a_faster_arm_in_a_program_with_pauses(void **state)
{
	struct bench b;

	setup(&b, TWO, RING_SIMPLE);
	b.us[TREE_SIMPLE] = 700;
	b.pause_us = pause_of;
	b.home.engine.policy.max_extra_ms = 100; /* less than one pause */
	assert_int_equal(explore(&b), 1);
	assert_int_equal(b.final.arm[0], TREE_SIMPLE);
	assert_true(b.final.outcome.spent_ms < 1);
}

static double stall_of(const struct nt_plan *plan, unsigned position)
{
	struct nt_schedule s;

	assert_int_equal(nt_schedule_read(&s, plan->payload, plan->payload_bytes), 0);
	if (nt_schedule_arm(&s, plan->epoch, position) != TREE_SIMPLE)
		return 0;
	return nt_rng_unit(nt_rng_mix(plan->epoch + 99, position)) < 0.4 ? PAUSE_US : 0;
}

static void an_arm_that_stalls_is_over_budget(void **state)
{
	struct bench b;

	for (unsigned limited = 0; limited < 2; limited++) {
		setup(&b, TWO, RING_SIMPLE);
		b.us[TREE_SIMPLE] = 700;
		b.pause_us = stall_of;
		b.home.engine.policy.confirm_blocks = 16;
		b.home.engine.policy.max_extra_ms = limited ? 2000 : 0;
		assert_int_equal(explore(&b), 0);
		assert_true(b.final.outcome.spent_ms > 2000);
		assert_int_equal(b.rounds, limited ? 2 : 5);
	}
}

UNIT_TESTS(what_an_arm_takes_longer_is_booked, blocks_are_compared_with_their_own,
	   pauses_are_the_programs, an_arms_own_stalls_are_booked, connecting_is_booked,
	   a_faster_arm_in_a_program_with_pauses, an_arm_that_stalls_is_over_budget);
