/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* engine.c - one key through the hooks as the agreement calls them */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "tests/fake/rng.h"
#include "tuner/engine.h"
#include "tuner/schedule.h"

#define RING_LL 3
#define RING_LL128 4
#define RING_SIMPLE 5
#define TREE_LL 0
#define TREE_SIMPLE 2
#define BIT(arm) (1u << (arm))

/* Arms of a key and how long each takes; what was asked of the engine. */
struct bench {
	struct nt_engine engine;
	struct nt_agree_hooks hooks;
	struct nt_board *board;
	struct nt_board_comm *comm;
	struct nt_board_key *key;
	double us[NT_PAIRS + 1]; /* AUTO last */
	unsigned lost_percent; /* of the samples */
	unsigned rounds, seed;
	struct nt_schedule first, last; /* schedules asked for */
	struct nt_schedule final;
};

static void setup(struct bench *b, uint32_t mask, unsigned auto_arm)
{
	*b = (struct bench){ .board = calloc(1, sizeof(*b->board)) };
	assert_non_null(b->board);
	nt_policy_default(&b->engine.policy);
	b->engine.policy.mode = NT_MODE_BANDIT;
	b->hooks = nt_engine_hooks(&b->engine);
	b->comm = &b->board->comm[3];
	b->key = &b->comm->key[1];
	atomic_store(&b->key->id, nt_key_id(NT_ALLREDUCE, 40, mask));
	b->key->auto_arm = auto_arm;
	for (unsigned arm = 0; arm < NT_PAIRS; arm++) {
		b->key->cost_us[arm] = mask & BIT(arm) ? 100 : -1;
		b->us[arm] = 1000;
	}
	b->us[NT_PAIRS] = 1000;
	atomic_store(&b->key->calls[2], (uint64_t)b->engine.policy.min_calls);
	atomic_store(&b->key->described, 1);
}

/* Two ranks with 2 % of noise on the same calls; the first is always a little ahead. */
static void play(struct bench *b, const struct nt_plan *plan, const struct nt_schedule *s)
{
	struct nt_board_run *run = &b->board->run[plan->run];

	memset(run, 0, sizeof(*run));
	atomic_store(&run->issued[0], 1);
	atomic_store(&run->issued[1], 1);
	for (unsigned p = 0; p < nt_schedule_positions(s); p++) {
		int arm = nt_schedule_arm(s, plan->epoch, p);
		uint64_t draw = nt_rng_mix(plan->epoch, p);
		double us = b->us[arm == NT_ARM_AUTO ? NT_PAIRS : arm];

		us *= 1 + 0.02 * nt_rng_unit(draw);
		if (nt_rng_unit(draw ^ 5) * 100 < b->lost_percent)
			continue;
		atomic_store(&run->sample_ns[0][p], (uint32_t)(us * 900));
		atomic_store(&run->sample_ns[1][p], (uint32_t)(us * 1000));
	}
}

/* Until the last word. Returns what next() did then. */
static int explore(struct bench *b)
{
	uint8_t bytes[2 * NT_RUN_POSITIONS];
	void *key = b->hooks.start(b->hooks.arg, b->comm, b->key);
	int more = 1;

	assert_non_null(key);
	assert_int_equal(b->engine.open, 1);
	while (more && b->rounds < 20) {
		struct nt_plan plan = { .run = 4, .epoch = 11 + b->rounds, .stride = 1 };
		struct nt_schedule s;

		more = b->hooks.next(key, &plan);
		assert_int_equal(nt_schedule_read(&s, plan.payload, plan.payload_bytes), 0);
		b->final = s;
		if (!more || plan.until == NT_NEVER)
			break;
		assert_int_equal(s.round, b->rounds);
		assert_int_equal(plan.until, nt_schedule_positions(&s));
		assert_int_equal(s.arm[0], NT_ARM_AUTO);
		if (b->rounds++ == 0)
			b->first = s;
		b->last = s;
		play(b, &plan, &s);
		b->hooks.absorb(key, bytes,
				b->hooks.gather(b->hooks.arg, b->board, &plan, NT_BOARD_MEMBERS,
						bytes, sizeof(bytes)));
	}
	assert_in_range(b->rounds, 0, 10);
	b->hooks.end(key);
	assert_int_equal(b->engine.open, 0);
	return more;
}

static const uint32_t sockets = BIT(RING_LL) | BIT(RING_SIMPLE) | BIT(TREE_LL) | BIT(TREE_SIMPLE);

static bool worth(const struct bench *b)
{
	return b->hooks.worth(b->hooks.arg, b->comm, b->key);
}

static void worth_a_look(void **state)
{
	struct bench b;

	(void)state;
	setup(&b, sockets, RING_SIMPLE);
	assert_true(worth(&b));
	atomic_store(&b.key->calls[2], (uint64_t)b.engine.policy.min_calls - 1);
	assert_false(worth(&b));
	atomic_store(&b.key->calls[0], (uint64_t)b.engine.policy.min_calls);
	assert_true(worth(&b));
	atomic_store(&b.key->described, 0);
	assert_false(worth(&b));
	atomic_store(&b.key->described, 1);
	b.engine.policy.mode = NT_MODE_OBSERVE;
	assert_false(worth(&b));
	b.engine.policy.mode = NT_MODE_BANDIT;
	atomic_store(&b.comm->member[5].flags, NT_MEMBER_GRAPHS);
	assert_false(worth(&b));
	atomic_store(&b.comm->member[5].flags, 0);
	atomic_store(&b.key->id, nt_key_id(NT_ALLREDUCE, 40, BIT(RING_SIMPLE)));
	assert_false(worth(&b)); /* nothing but AUTO's own pick */
	atomic_store(&b.key->id, nt_key_id(NT_ALLREDUCE, 40, sockets));
	b.engine.open = NT_BOARD_RUNS / 2;
	assert_false(worth(&b));
	free(b.board);
}

static void a_faster_arm_is_chosen(void **state)
{
	struct bench b;

	(void)state;
	setup(&b, sockets, RING_SIMPLE);
	b.key->cost_us[TREE_SIMPLE] = 120;
	b.us[TREE_SIMPLE] = 620;
	b.us[RING_LL] = 1500;
	b.us[TREE_LL] = 940;
	assert_int_equal(explore(&b), 1);
	assert_int_equal(b.rounds, 2);
	assert_int_equal(b.first.kind, NT_SCHEDULE_SCREEN);
	assert_int_equal(b.first.count, 4); /* RING_SIMPLE is AUTO */
	assert_int_equal(b.first.blocks, b.engine.policy.screen_blocks + 1);
	assert_int_equal(b.last.kind, NT_SCHEDULE_CONFIRM);
	assert_int_equal(b.last.count, 3);
	assert_int_equal(b.last.arm[1], TREE_SIMPLE);
	assert_int_equal(b.last.arm[2], TREE_LL);
	assert_int_equal(b.final.kind, NT_SCHEDULE_FINAL);
	assert_int_equal(b.final.arm[0], TREE_SIMPLE);
	assert_int_equal(b.final.outcome.verdict, NT_VERDICT_FASTER);
	assert_int_equal(b.final.outcome.chosen_arm, TREE_SIMPLE);
	assert_int_equal(b.final.outcome.best_arm, TREE_SIMPLE);
	assert_int_equal(b.final.outcome.auto_arm, RING_SIMPLE);
	assert_int_equal(b.final.outcome.samples, b.engine.policy.confirm_blocks);
	assert_int_equal(b.final.outcome.arms, 4);
	assert_true(b.final.outcome.p < 1e-5f && b.final.outcome.p > 0);
	assert_float_equal(b.final.outcome.auto_us, 1010, 5);
	assert_float_equal(b.final.outcome.best_us, 626, 4);
	assert_float_equal(b.final.outcome.auto_p25_us, 1005, 5);
	assert_float_equal(b.final.outcome.best_p25_us, 623, 4);
	assert_float_equal(b.final.outcome.best_mean_us, 626, 4);
	assert_float_equal(b.final.outcome.predicted_auto_us, 100, 0.01);
	assert_float_equal(b.final.outcome.predicted_best_us, 120, 0.01);
	free(b.board);
}

/* Calls, and milliseconds beyond AUTO's: 9 blocks with 500 us more and 446 us less, then some. */
static void the_cost_is_counted(void **state)
{
	struct bench b;
	double blocks;

	(void)state;
	setup(&b, sockets, RING_SIMPLE);
	b.us[TREE_SIMPLE] = 500;
	b.us[RING_LL] = 2000;
	b.us[TREE_LL] = 3000;
	assert_int_equal(explore(&b), 1);
	assert_int_equal(b.last.count, 2);
	blocks = b.last.blocks;
	assert_int_equal(b.final.outcome.spent_calls, 4 * b.first.blocks + 2 * b.last.blocks);
	assert_float_equal(b.final.outcome.spent_ms, 1.01 * (b.first.blocks * 2.5 - blocks * 0.5),
			   0.6);
	free(b.board);
}

static void nothing_faster_keeps_auto(void **state)
{
	struct bench b;

	(void)state;
	setup(&b, sockets, RING_SIMPLE);
	b.us[TREE_SIMPLE] = 1100;
	b.us[RING_LL] = 1500;
	b.us[TREE_LL] = 1900;
	assert_int_equal(explore(&b), 0);
	assert_int_equal(b.rounds, 1);
	assert_int_equal(b.final.kind, NT_SCHEDULE_KEPT);
	assert_int_equal(b.final.arm[0], NT_ARM_AUTO);
	assert_int_equal(b.final.outcome.verdict, NT_VERDICT_SCREENED);
	assert_int_equal(b.final.outcome.chosen_arm, NT_ARM_AUTO);
	assert_int_equal(b.final.outcome.best_arm, TREE_SIMPLE);
	assert_float_equal(b.final.outcome.best_us, 1111, 12);
	assert_float_equal(b.final.outcome.p, 1, 1e-6);
	assert_int_equal(b.final.outcome.samples, b.engine.policy.screen_blocks);
	free(b.board);
}

static void a_small_gain_keeps_auto(void **state)
{
	struct bench b;

	(void)state;
	setup(&b, BIT(RING_SIMPLE) | BIT(TREE_SIMPLE), RING_SIMPLE);
	b.us[TREE_SIMPLE] = 1000 * (1 - (double)b.engine.policy.min_gain_micro / 1e8 + 0.005);
	assert_int_equal(explore(&b), 0);
	assert_int_equal(b.final.outcome.verdict, NT_VERDICT_SMALL);
	assert_int_equal(b.final.outcome.best_arm, TREE_SIMPLE);
	assert_true(b.rounds > 2); /* so near that more samples were worth it */
	free(b.board);
}

static void slow_arms_are_not_tried(void **state)
{
	struct bench b;

	(void)state;
	setup(&b, sockets, RING_SIMPLE);
	b.key->cost_us[RING_LL] = 501;
	b.key->cost_us[TREE_LL] = 499;
	b.key->cost_us[TREE_SIMPLE] = NAN; /* no prediction: tried, and last */
	assert_int_equal(explore(&b), 0);
	assert_int_equal(b.first.count, 2);
	assert_int_equal(b.first.arm[1], TREE_LL);
	free(b.board);
	setup(&b, sockets, RING_SIMPLE);
	b.key->cost_us[RING_LL] = 5000;
	b.key->cost_us[TREE_LL] = 4000;
	b.key->cost_us[TREE_SIMPLE] = 6000;
	assert_int_equal(explore(&b), 0);
	assert_int_equal(b.first.count, 2); /* never none */
	assert_int_equal(b.first.arm[1], TREE_LL);
	free(b.board);
}

static void many_arms_are_bounded(void **state)
{
	struct bench b;

	(void)state;
	setup(&b, (1u << NT_PAIRS) - 1, RING_SIMPLE);
	b.engine.policy.screen_blocks = 64;
	for (unsigned arm = 0; arm < NT_PAIRS; arm++)
		b.key->cost_us[arm] = 100 + (float)arm;
	(void)explore(&b);
	assert_int_equal(b.first.count, NT_SCHEDULE_ARMS);
	assert_true(nt_schedule_positions(&b.first) <= NT_RUN_POSITIONS);
	for (unsigned i = 1; i < NT_SCHEDULE_ARMS; i++)
		assert_int_equal(b.first.arm[i], i <= RING_SIMPLE ? i - 1 : i);
	free(b.board);
}

static void lost_samples_are_made_up_for(void **state)
{
	struct bench b;

	(void)state;
	setup(&b, sockets, RING_SIMPLE);
	b.us[TREE_SIMPLE] = 620;
	b.lost_percent = 8;
	assert_int_equal(explore(&b), 1);
	assert_int_equal(b.final.arm[0], TREE_SIMPLE);
	assert_true(b.final.outcome.samples < b.engine.policy.confirm_blocks);
	free(b.board);
	setup(&b, sockets, RING_SIMPLE);
	b.us[TREE_SIMPLE] = 620;
	b.lost_percent = 45;
	assert_int_equal(explore(&b), 1);
	assert_int_equal(b.final.arm[0], TREE_SIMPLE);
	assert_true(b.rounds > 2);
	free(b.board);
}

static void no_samples_keep_auto(void **state)
{
	struct bench b;

	(void)state;
	setup(&b, sockets, RING_SIMPLE);
	b.us[TREE_SIMPLE] = 620;
	b.lost_percent = 100;
	assert_int_equal(explore(&b), 0);
	assert_int_equal(b.rounds, 2); /* asked once more */
	assert_int_equal(b.final.kind, NT_SCHEDULE_KEPT);
	assert_int_equal(b.final.outcome.verdict, NT_VERDICT_SAMPLES);
	assert_int_equal(b.final.outcome.best_arm, NT_ARM_AUTO);
	assert_int_equal(b.final.outcome.samples, 0);
	assert_float_equal(b.final.outcome.spent_ms, 0, 1e-6);
	free(b.board);
}

static void nothing_to_try_keeps_auto(void **state)
{
	struct bench b;

	(void)state;
	setup(&b, BIT(RING_SIMPLE), RING_SIMPLE);
	assert_int_equal(explore(&b), 0);
	assert_int_equal(b.rounds, 0);
	assert_int_equal(b.final.outcome.verdict, NT_VERDICT_ALONE);
	free(b.board);
	setup(&b, BIT(RING_SIMPLE), NT_ARM_AUTO); /* its pick is not known: one arm to try */
	assert_int_equal(explore(&b), 0);
	assert_int_equal(b.first.count, 2);
	free(b.board);
}

/* What is in force; the bench's times are those of now. Returns what a session ends with: 0, or 1
 * and the schedule in b->final. */
static int look_again(struct bench *b, unsigned arm)
{
	struct nt_schedule base = { .kind = NT_SCHEDULE_FINAL, .count = 1, .arm = { (uint8_t)arm } };
	uint8_t bytes[2 * NT_RUN_POSITIONS];
	struct nt_plan plan = { .until = NT_NEVER, .epoch = 5 };
	void *key;
	int more = 1;

	plan.payload_bytes = (uint32_t)nt_schedule_write(&base, plan.payload, sizeof(plan.payload));
	assert_true(b->hooks.worth_again(b->hooks.arg, b->comm, &plan));
	key = b->hooks.start_again(b->hooks.arg, b->comm, b->key, &plan);
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
				b->hooks.gather(b->hooks.arg, b->board, &plan, NT_BOARD_MEMBERS,
						bytes, sizeof(bytes)));
	}
	b->hooks.end(key);
	assert_int_equal(b->engine.open, 0);
	return more;
}

static void an_arm_that_is_still_ahead_stays(void **state)
{
	struct bench b;

	(void)state;
	setup(&b, sockets, RING_SIMPLE);
	b.us[TREE_SIMPLE] = 900;
	assert_int_equal(look_again(&b, TREE_SIMPLE), 0);
	assert_int_equal(b.rounds, 1);
	assert_int_equal(b.last.kind, NT_SCHEDULE_RECHECK);
	assert_int_equal(b.last.count, 2);
	assert_int_equal(b.last.arm[0], NT_ARM_AUTO);
	assert_int_equal(b.last.arm[1], TREE_SIMPLE);
	b.lost_percent = 100; /* nothing is known: nothing is changed */
	b.us[TREE_SIMPLE] = 3000;
	assert_int_equal(look_again(&b, TREE_SIMPLE), 0);
	assert_int_equal(b.rounds, 1);
	free(b.board);
}

static void an_arm_that_fell_behind_goes(void **state)
{
	struct bench b;

	(void)state;
	setup(&b, sockets, RING_SIMPLE);
	b.us[TREE_SIMPLE] = 1200;
	assert_int_equal(look_again(&b, TREE_SIMPLE), 1);
	assert_int_equal(b.final.kind, NT_SCHEDULE_FINAL);
	assert_int_equal(b.final.arm[0], NT_ARM_AUTO);
	assert_int_equal(b.final.outcome.chosen_arm, NT_ARM_AUTO);
	assert_int_equal(b.final.outcome.best_arm, TREE_SIMPLE);
	assert_float_equal(b.final.outcome.best_us, 1212, 14);
	assert_true(b.final.outcome.verdict != NT_VERDICT_FASTER);
	free(b.board);
}

static void another_arm_takes_its_place(void **state)
{
	struct bench b;

	(void)state;
	setup(&b, sockets, RING_SIMPLE);
	b.us[TREE_SIMPLE] = 1200;
	b.us[TREE_LL] = 700;
	assert_int_equal(look_again(&b, TREE_SIMPLE), 1);
	assert_int_equal(b.final.kind, NT_SCHEDULE_FINAL);
	assert_int_equal(b.final.arm[0], TREE_LL);
	assert_int_equal(b.final.outcome.verdict, NT_VERDICT_FASTER);
	free(b.board);
}

/* The first window alone is not enough: in the second the arm is ahead as before. */
static void one_bad_window_changes_nothing(void **state)
{
	struct nt_schedule base = { .kind = NT_SCHEDULE_FINAL, .count = 1, .arm = { TREE_SIMPLE } };
	struct nt_plan plan = { .until = NT_NEVER, .epoch = 5 };
	uint8_t bytes[2 * NT_RUN_POSITIONS];
	struct bench b;
	void *key;

	(void)state;
	setup(&b, sockets, RING_SIMPLE);
	plan.payload_bytes = (uint32_t)nt_schedule_write(&base, plan.payload, sizeof(plan.payload));
	key = b.hooks.start_again(b.hooks.arg, b.comm, b.key, &plan);
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
			       b.hooks.gather(b.hooks.arg, b.board, &plan, NT_BOARD_MEMBERS, bytes,
					      sizeof(bytes)));
	}
	assert_int_equal(b.hooks.next(key, &plan), 0);
	b.hooks.end(key);
	free(b.board);
}

static void auto_and_flags_are_not_looked_at(void **state)
{
	struct nt_schedule base = { .kind = NT_SCHEDULE_FINAL, .count = 1, .arm = { TREE_LL } };
	struct nt_plan plan = { .until = NT_NEVER, .epoch = 5 };
	struct bench b;

	(void)state;
	setup(&b, sockets, RING_SIMPLE);
	plan.payload_bytes = (uint32_t)nt_schedule_write(&base, plan.payload, sizeof(plan.payload));
	assert_true(b.hooks.worth_again(b.hooks.arg, b.comm, &plan));
	atomic_store(&b.comm->member[4].flags, NT_MEMBER_GRAPHS);
	assert_false(b.hooks.worth_again(b.hooks.arg, b.comm, &plan));
	atomic_store(&b.comm->member[4].flags, 0);
	base.arm[0] = NT_ARM_AUTO;
	plan.payload_bytes = (uint32_t)nt_schedule_write(&base, plan.payload, sizeof(plan.payload));
	assert_false(b.hooks.worth_again(b.hooks.arg, b.comm, &plan));
	free(b.board);
}

static void the_budget_ends_exploring(void **state)
{
	struct bench b;

	(void)state;
	setup(&b, sockets, RING_SIMPLE); /* calls: not even a first round */
	b.us[TREE_SIMPLE] = 620;
	b.engine.policy.max_calls = 30;
	assert_int_equal(explore(&b), 0);
	assert_int_equal(b.rounds, 0);
	assert_int_equal(b.final.outcome.verdict, NT_VERDICT_BUDGET);
	free(b.board);
	setup(&b, sockets, RING_SIMPLE); /* a first round, and no second */
	b.us[TREE_SIMPLE] = 620;
	b.engine.policy.max_calls = 80;
	assert_int_equal(explore(&b), 0);
	assert_int_equal(b.rounds, 1);
	assert_int_equal(b.final.outcome.verdict, NT_VERDICT_BUDGET);
	assert_int_equal(b.final.outcome.best_arm, TREE_SIMPLE);
	assert_int_equal(b.final.arm[0], NT_ARM_AUTO);
	assert_true(b.final.outcome.spent_calls <= 80);
	free(b.board);
	setup(&b, BIT(RING_SIMPLE) | BIT(TREE_SIMPLE), RING_SIMPLE); /* time: no further look */
	b.us[TREE_SIMPLE] = 1000 * (1 - (double)b.engine.policy.min_gain_micro / 1e8 + 0.005);
	b.engine.policy.max_calls = 80;
	assert_int_equal(explore(&b), 0);
	assert_int_equal(b.rounds, 2);
	assert_int_equal(b.final.outcome.verdict, NT_VERDICT_SMALL);
	free(b.board);
	setup(&b, sockets, RING_SIMPLE); /* time: 9 blocks of 50 ms more are 450 ms */
	b.us[TREE_SIMPLE] = 620;
	b.us[RING_LL] = 50000;
	b.engine.policy.max_extra_ms = 400;
	assert_int_equal(explore(&b), 0);
	assert_int_equal(b.rounds, 1);
	assert_int_equal(b.final.outcome.verdict, NT_VERDICT_BUDGET);
	b.rounds = 0;
	b.engine.policy.max_extra_ms = 500;
	assert_int_equal(explore(&b), 1);
	free(b.board);
}

/* A share of the calls: exploring waits until it is small enough. */
static void the_share_delays_exploring(void **state)
{
	struct bench b;
	uint64_t calls = 4 * 9 + 3 * 25; /* of both rounds */

	(void)state;
	setup(&b, BIT(RING_SIMPLE) | BIT(RING_LL) | BIT(TREE_LL) | BIT(TREE_SIMPLE), RING_SIMPLE);
	b.us[TREE_SIMPLE] = 620;
	b.engine.policy.budget_micro = 25000000; /* percent, in millionths */
	atomic_store(&b.key->calls[2], 4 * calls - 1);
	assert_false(worth(&b));
	atomic_store(&b.key->calls[2], 4 * calls);
	assert_true(worth(&b));
	assert_int_equal(explore(&b), 1);
	assert_int_equal(b.final.arm[0], TREE_SIMPLE);
	free(b.board);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(worth_a_look),
		cmocka_unit_test(a_faster_arm_is_chosen),
		cmocka_unit_test(the_cost_is_counted),
		cmocka_unit_test(nothing_faster_keeps_auto),
		cmocka_unit_test(a_small_gain_keeps_auto),
		cmocka_unit_test(slow_arms_are_not_tried),
		cmocka_unit_test(many_arms_are_bounded),
		cmocka_unit_test(lost_samples_are_made_up_for),
		cmocka_unit_test(no_samples_keep_auto),
		cmocka_unit_test(nothing_to_try_keeps_auto),
		cmocka_unit_test(an_arm_that_is_still_ahead_stays),
		cmocka_unit_test(an_arm_that_fell_behind_goes),
		cmocka_unit_test(another_arm_takes_its_place),
		cmocka_unit_test(one_bad_window_changes_nothing),
		cmocka_unit_test(auto_and_flags_are_not_looked_at),
		cmocka_unit_test(the_budget_ends_exploring),
		cmocka_unit_test(the_share_delays_exploring),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
