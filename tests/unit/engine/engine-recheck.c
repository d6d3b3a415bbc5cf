/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* engine-recheck.c - rechecks of an arm, and what exploring may cost */
#include "tests/unit/engine/engine-bench.h"

/* Rechecks the arm in force with the bench's current times. Returns the result: 0, or 1 and the
 * schedule in b->final. */
static int recheck(struct bench *b, unsigned arm)
{
	struct nt_schedule baseline = { .kind = NT_SCHEDULE_COMMITTED,
					.count = 1,
					.arm = { (uint8_t)arm } };
	uint8_t bytes[NT_TIMES_BYTES];
	struct nt_plan plan = { .until = NT_NEVER, .epoch = 5 };
	void *key;
	int more = 1;

	plan.payload_bytes = (uint32_t)nt_schedule_write(&baseline, plan.payload,
							 sizeof(plan.payload));
	assert_true(b->hooks.may_recheck(b->hooks.arg, b->comm, &plan));
	key = b->hooks.start_recheck(b->hooks.arg, b->comm, b->key, &plan);
	assert_non_null(key);
	for (b->rounds = 0; b->rounds < 20; b->rounds++) {
		struct nt_schedule s;

		plan = (struct nt_plan){ .run = 4, .epoch = 11 + b->rounds + b->seed, .stride = 1 };
		more = b->hooks.next(key, &plan);
		if (!more)
			break;
		assert_int_equal(nt_schedule_read(&s, plan.payload, plan.payload_bytes), 0);
		b->final = s;
		if (plan.until == NT_NEVER)
			break;
		assert_int_equal(plan.until, nt_schedule_positions(&s));
		b->last = s;
		play(b, &plan, &s);
		b->hooks.absorb(key, bytes,
				b->hooks.gather(b->hooks.arg, b->shm, &plan, NT_SHM_SLOTS, bytes,
						sizeof(bytes)));
	}
	b->hooks.end(key);
	assert_int_equal(b->home.engine.open, 0);
	return more;
}

/* The program has changed: now it loses what the arm gains. */
static void an_arm_that_has_come_to_slow_the_rest_is_given_up(void **state)
{
	struct bench b;

	setup(&b, BIT(RING_SIMPLE) | BIT(TREE_SIMPLE), RING_SIMPLE);
	b.us[TREE_SIMPLE] = 900;
	b.rest_us = 1000;
	b.drag_us[TREE_SIMPLE] = 50;
	assert_int_equal(recheck(&b, TREE_SIMPLE), 0);
	assert_int_equal(b.rounds, 1);
	b.drag_us[TREE_SIMPLE] = 200;
	assert_int_equal(recheck(&b, TREE_SIMPLE), 1);
	assert_int_equal(b.final.kind, NT_SCHEDULE_COMMITTED);
	assert_int_equal(b.final.arm[0], NT_ARM_BASELINE);
	assert_int_equal(b.final.outcome.verdict, NT_VERDICT_PERIOD);
}

static void an_arm_that_is_still_ahead_stays(void **state)
{
	struct bench b;

	setup(&b, sockets, RING_SIMPLE);
	b.us[TREE_SIMPLE] = 900;
	assert_int_equal(recheck(&b, TREE_SIMPLE), 0);
	assert_int_equal(b.rounds, 1);
	assert_int_equal(b.last.kind, NT_SCHEDULE_RECHECK);
	assert_int_equal(b.last.count, 2);
	assert_int_equal(b.last.arm[0], NT_ARM_BASELINE);
	assert_int_equal(b.last.arm[1], TREE_SIMPLE);
	b.lost_percent = 100; /* nothing is known: nothing is changed */
	b.us[TREE_SIMPLE] = 3000;
	assert_int_equal(recheck(&b, TREE_SIMPLE), 0);
	assert_int_equal(b.rounds, 1);
}

static void an_arm_that_fell_behind_goes(void **state)
{
	struct bench b;

	setup(&b, sockets, RING_SIMPLE);
	b.us[TREE_SIMPLE] = 1200;
	assert_int_equal(recheck(&b, TREE_SIMPLE), 1);
	assert_int_equal(b.final.kind, NT_SCHEDULE_COMMITTED);
	assert_int_equal(b.final.arm[0], NT_ARM_BASELINE);
	assert_int_equal(b.final.outcome.chosen_arm, NT_ARM_BASELINE);
	assert_int_equal(b.final.outcome.best_arm, TREE_SIMPLE);
	assert_float_equal(b.final.outcome.best_us, 1212, 14);
	assert_true(b.final.outcome.verdict != NT_VERDICT_FASTER);
}

static void another_arm_takes_its_place(void **state)
{
	struct bench b;

	setup(&b, sockets, RING_SIMPLE);
	b.us[TREE_SIMPLE] = 1200;
	b.us[TREE_LL] = 700;
	assert_int_equal(recheck(&b, TREE_SIMPLE), 1);
	assert_int_equal(b.final.kind, NT_SCHEDULE_COMMITTED);
	assert_int_equal(b.final.arm[0], TREE_LL);
	assert_int_equal(b.final.outcome.verdict, NT_VERDICT_FASTER);
}

/* The first window alone is not enough: in the second the arm is ahead as before. */
static void one_bad_window_changes_nothing(void **state)
{
	struct nt_schedule baseline = { .kind = NT_SCHEDULE_COMMITTED,
					.count = 1,
					.arm = { TREE_SIMPLE } };
	struct nt_plan plan = { .until = NT_NEVER, .epoch = 5 };
	uint8_t bytes[NT_TIMES_BYTES];
	struct bench b;
	void *key;

	setup(&b, sockets, RING_SIMPLE);
	plan.payload_bytes = (uint32_t)nt_schedule_write(&baseline, plan.payload,
							 sizeof(plan.payload));
	key = b.hooks.start_recheck(b.hooks.arg, b.comm, b.key, &plan);
	for (unsigned window = 0; window < 2; window++) {
		struct nt_schedule s;

		plan = (struct nt_plan){ .run = 4, .epoch = 11 + window, .stride = 1 };
		assert_int_equal(b.hooks.next(key, &plan), 1);
		assert_int_equal(nt_schedule_read(&s, plan.payload, plan.payload_bytes), 0);
		assert_int_equal(s.kind, NT_SCHEDULE_RECHECK);
		assert_int_equal(s.blocks, (window == 0 ? 16 : 32) + NT_SCHEDULE_WARM_UP);
		b.us[TREE_SIMPLE] = window == 0 ? 1300 : 800;
		play(&b, &plan, &s);
		b.hooks.absorb(key, bytes,
			       b.hooks.gather(b.hooks.arg, b.shm, &plan, NT_SHM_SLOTS, bytes,
					      sizeof(bytes)));
	}
	assert_int_equal(b.hooks.next(key, &plan), 0);
	b.hooks.end(key);
}

static void auto_and_flags_are_not_looked_at(void **state)
{
	struct nt_schedule baseline = { .kind = NT_SCHEDULE_COMMITTED,
					.count = 1,
					.arm = { TREE_LL } };
	struct nt_plan plan = { .until = NT_NEVER, .epoch = 5 };
	struct bench b;

	setup(&b, sockets, RING_SIMPLE);
	plan.payload_bytes = (uint32_t)nt_schedule_write(&baseline, plan.payload,
							 sizeof(plan.payload));
	assert_true(b.hooks.may_recheck(b.hooks.arg, b.comm, &plan));
	atomic_store(&b.comm->slot[4].flags, NT_PARTICIPANT_GRAPHS);
	assert_false(b.hooks.may_recheck(b.hooks.arg, b.comm, &plan));
	atomic_store(&b.comm->slot[4].flags, 0);
	baseline.arm[0] = NT_ARM_BASELINE;
	plan.payload_bytes = (uint32_t)nt_schedule_write(&baseline, plan.payload,
							 sizeof(plan.payload));
	assert_false(b.hooks.may_recheck(b.hooks.arg, b.comm, &plan));
}

static void the_budget_ends_exploring(void **state)
{
	struct bench b;

	setup(&b, sockets, RING_SIMPLE); /* calls: not even a first round */
	b.us[TREE_SIMPLE] = 620;
	b.home.engine.policy.max_calls = 30;
	assert_int_equal(explore(&b), 0);
	assert_int_equal(b.rounds, 0);
	assert_int_equal(b.final.outcome.verdict, NT_VERDICT_BUDGET);
	setup(&b, sockets, RING_SIMPLE); /* a first round, and no second */
	b.us[TREE_SIMPLE] = 620;
	b.home.engine.policy.max_calls = 80;
	assert_int_equal(explore(&b), 0);
	assert_int_equal(b.rounds, 1);
	assert_int_equal(b.final.outcome.verdict, NT_VERDICT_BUDGET);
	assert_int_equal(b.final.outcome.best_arm, TREE_SIMPLE);
	assert_int_equal(b.final.arm[0], NT_ARM_BASELINE);
	assert_true(b.final.outcome.spent_calls <= 80);
	setup(&b, BIT(RING_SIMPLE) | BIT(TREE_SIMPLE), RING_SIMPLE); /* time: no further look */
	b.us[TREE_SIMPLE] = 1000 * (1 - (double)b.home.engine.policy.min_gain_micro / 1e8 + 0.0035);
	b.home.engine.policy.max_calls = 80;
	assert_int_equal(explore(&b), 0);
	assert_int_equal(b.rounds, 2);
	assert_int_equal(b.final.outcome.verdict, NT_VERDICT_SMALL);
	setup(&b, sockets, RING_SIMPLE); /* time: 9 blocks of 50 ms more are 450 ms */
	b.us[TREE_SIMPLE] = 620;
	b.us[RING_LL] = 50000;
	b.home.engine.policy.max_extra_ms = 400;
	assert_int_equal(explore(&b), 0);
	assert_int_equal(b.rounds, 1);
	assert_int_equal(b.final.outcome.verdict, NT_VERDICT_BUDGET);
	b.rounds = 0;
	b.home.engine.policy.max_extra_ms = 500;
	assert_int_equal(explore(&b), 1);
}

/* A share of the calls: exploring waits until it is small enough. */
static void the_share_delays_exploring(void **state)
{
	struct bench b;
	uint64_t calls = 4 * 9 + 3 * 25; /* of both rounds */

	setup(&b, BIT(RING_SIMPLE) | BIT(RING_LL) | BIT(TREE_LL) | BIT(TREE_SIMPLE), RING_SIMPLE);
	b.us[TREE_SIMPLE] = 620;
	b.home.engine.policy.budget_micro = 25000000; /* percent, in millionths */
	atomic_store(&b.key->calls[2], 4 * calls - 1);
	assert_false(share(&b));
	atomic_store(&b.key->calls[2], 4 * calls);
	assert_true(share(&b));
	assert_int_equal(explore(&b), 1);
	assert_int_equal(b.final.arm[0], TREE_SIMPLE);
}

UNIT_TESTS(an_arm_that_is_still_ahead_stays, an_arm_that_has_come_to_slow_the_rest_is_given_up,
	   an_arm_that_fell_behind_goes, another_arm_takes_its_place,
	   one_bad_window_changes_nothing, auto_and_flags_are_not_looked_at,
	   the_budget_ends_exploring, the_share_delays_exploring);
