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

UNIT_TESTS(pauses_are_the_programs);
