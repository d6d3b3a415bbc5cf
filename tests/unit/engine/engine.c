/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* engine.c - one key through the hooks that the agreement calls */
#include "engine/screen.h"
#include "tests/unit/engine/engine-bench.h"
#include "lib/clock.h"

static void worth_a_look(void **state)
{
	struct bench b;

	setup(&b, sockets, RING_SIMPLE);
	assert_true(share(&b));
	atomic_store(&b.key->calls[2], (uint64_t)b.home.engine.policy.min_calls - 1);
	assert_false(share(&b));
	atomic_store(&b.key->calls[0], (uint64_t)b.home.engine.policy.min_calls);
	assert_true(share(&b));
	atomic_store(&b.key->described, 0);
	assert_false(share(&b));
	atomic_store(&b.key->described, 1);
	b.home.engine.policy.mode = NT_MODE_OBSERVE;
	assert_false(share(&b));
	b.home.engine.policy.mode = NT_MODE_BANDIT;
	atomic_store(&b.comm->slot[5].flags, NT_PARTICIPANT_GRAPHS);
	assert_false(share(&b));
	atomic_store(&b.comm->slot[5].flags, 0);
	atomic_store(&b.key->id, nt_key_id(NT_ALLREDUCE, 40, BIT(RING_SIMPLE)));
	assert_false(share(&b)); /* nothing but the baseline pair */
	atomic_store(&b.key->id, nt_key_id(NT_ALLREDUCE, 40, sockets));
	b.home.engine.open = NT_SHM_RUNS / 4 * 3;
	assert_false(share(&b));
}

static void rare_calls_need_fewer(void **state)
{
	struct bench b;

	setup(&b, sockets, RING_SIMPLE);
	atomic_store(&b.key->calls[2], (uint64_t)b.home.engine.policy.min_calls / 6);
	b.home.began_us = nt_clock_us();
	assert_false(share(&b));
	assert_false(b.hooks.early(b.hooks.arg, b.comm));
	b.home.began_us = 1; /* when the machine was started */
	assert_true(share(&b));
	assert_true(b.hooks.early(b.hooks.arg, b.comm));
	atomic_store(&b.key->calls[2], (uint64_t)b.home.engine.policy.min_calls / 6 - 1);
	assert_false(share(&b));
	assert_false(b.hooks.early(b.hooks.arg, b.comm));
}

/* As measured on two GPUs of a node: 64 KiB take 36 us with RING/SIMPLE and 7 more after another
 * arm; another arm takes as long, but follows others without a cost. */
static void first_calls_are_not_measured_inside_a_node(void **state)
{
	struct bench b;

	for (unsigned nodes = 1; nodes <= 2; nodes++) {
		setup(&b, sockets, RING_SIMPLE);
		b.home.began_us = nt_clock_us() - 1000000;
		b.comm->ranks = 2 * nodes;
		b.comm->nodes = nodes;
		for (unsigned arm = 0; arm < NT_PAIRS; arm++)
			b.us[arm] = 50;
		b.us[NT_PAIRS] = b.us[RING_SIMPLE] = b.us[RING_LL] = 36;
		b.after_us[NT_PAIRS] = b.after_us[RING_SIMPLE] = 7;
		(void)explore(&b);
		assert_int_equal(b.first.twice, nodes == 1);
		assert_int_equal(nt_schedule_positions(&b.first),
				 nt_schedule_samples(&b.first) * (nodes == 1 ? 2 : 1));
		assert_int_equal(b.final.arm[0], nodes == 1 ? NT_ARM_BASELINE : RING_LL);
	}
	setup(&b, sockets, RING_SIMPLE);
	b.comm->nodes = 1;
	b.home.began_us = nt_clock_us() - 60000000; /* rare calls have none to spare */
	(void)explore(&b);
	assert_int_equal(b.first.twice, 0);
	setup(&b, sockets, RING_SIMPLE);
	b.comm->nodes = 1;
	b.home.began_us = nt_clock_us() - 1000000;
	for (unsigned arm = 0; arm < NT_PAIRS; arm++)
		b.key->cost_us[arm] = sockets & BIT(arm) ? 300 : -1; /* long ones do not show it */
	(void)explore(&b);
	assert_int_equal(b.first.twice, 0);
}

static void a_faster_arm_is_chosen(void **state)
{
	struct bench b;

	setup(&b, sockets, RING_SIMPLE);
	b.key->cost_us[TREE_SIMPLE] = 120;
	b.us[TREE_SIMPLE] = 620;
	b.us[RING_LL] = 1500;
	b.us[TREE_LL] = 940;
	assert_int_equal(explore(&b), 1);
	assert_int_equal(b.rounds, 2);
	assert_int_equal(b.first.kind, NT_SCHEDULE_SCREEN);
	assert_int_equal(b.first.count, 4); /* RING_SIMPLE is the baseline */
	assert_int_equal(b.first.blocks, b.home.engine.policy.screen_blocks + 1);
	assert_int_equal(b.last.kind, NT_SCHEDULE_CONFIRM);
	assert_int_equal(b.last.count, 3);
	assert_int_equal(b.last.arm[1], TREE_SIMPLE);
	assert_int_equal(b.last.arm[2], TREE_LL);
	assert_int_equal(b.final.kind, NT_SCHEDULE_COMMITTED);
	assert_int_equal(b.final.arm[0], TREE_SIMPLE);
	assert_int_equal(b.final.outcome.verdict, NT_VERDICT_FASTER);
	assert_int_equal(b.final.outcome.chosen_arm, TREE_SIMPLE);
	assert_int_equal(b.final.outcome.best_arm, TREE_SIMPLE);
	assert_int_equal(b.final.outcome.baseline_arm, RING_SIMPLE);
	assert_int_equal(b.final.outcome.samples, b.home.engine.policy.confirm_blocks);
	assert_int_equal(b.final.outcome.arms, 4);
	assert_true(b.final.outcome.p < 1e-5f && b.final.outcome.p > 0);
	assert_float_equal(b.final.outcome.baseline_us, 1010, 5);
	assert_float_equal(b.final.outcome.best_us, 626, 4);
	assert_float_equal(b.final.outcome.baseline_p25_us, 1005, 5);
	assert_float_equal(b.final.outcome.best_p25_us, 623, 4);
	assert_float_equal(b.final.outcome.baseline_p75_us, 1015, 5);
	assert_float_equal(b.final.outcome.best_p75_us, 629, 4);
	assert_float_equal(b.final.outcome.predicted_baseline_us, 100, 0.01);
	assert_float_equal(b.final.outcome.predicted_best_us, 120, 0.01);
}

/* Calls, and milliseconds beyond the baseline's: 9 blocks with 500 us more and 446 us less, then
 * some. */
static void the_cost_is_counted(void **state)
{
	struct bench b;
	double blocks;

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
}

static void nothing_faster_keeps_auto(void **state)
{
	struct bench b;

	setup(&b, sockets, RING_SIMPLE);
	b.us[TREE_SIMPLE] = 1100;
	b.us[RING_LL] = 1500;
	b.us[TREE_LL] = 1900;
	assert_int_equal(explore(&b), 0);
	assert_int_equal(b.rounds, 1);
	assert_int_equal(b.final.kind, NT_SCHEDULE_KEPT);
	assert_int_equal(b.final.arm[0], NT_ARM_BASELINE);
	assert_int_equal(b.final.outcome.verdict, NT_VERDICT_SCREENED);
	assert_int_equal(b.final.outcome.chosen_arm, NT_ARM_BASELINE);
	assert_int_equal(b.final.outcome.best_arm, TREE_SIMPLE);
	assert_float_equal(b.final.outcome.best_us, 1111, 12);
	assert_float_equal(b.final.outcome.p, 1, 1e-6);
	assert_int_equal(b.final.outcome.samples, b.home.engine.policy.screen_blocks);
}

static void a_small_gain_keeps_auto(void **state)
{
	struct bench b;

	setup(&b, BIT(RING_SIMPLE) | BIT(TREE_SIMPLE), RING_SIMPLE);
	b.us[TREE_SIMPLE] = 1000 * (1 - (double)b.home.engine.policy.min_gain_micro / 1e8 + 0.0035);
	assert_int_equal(explore(&b), 0);
	assert_int_equal(b.final.outcome.verdict, NT_VERDICT_SMALL);
	assert_int_equal(b.final.outcome.best_arm, TREE_SIMPLE);
	assert_true(b.rounds > 2); /* so close that more samples were worth it */
}

/* The program loses what it gains. */
static void an_arm_that_slows_the_rest_is_not_chosen(void **state)
{
	struct bench b;

	setup(&b, sockets, RING_SIMPLE);
	b.us[TREE_SIMPLE] = 800;
	b.rest_us = 3000;
	b.drag_us[TREE_SIMPLE] = 300; /* 100 more than it gains: 2.5 % of a round */
	assert_int_equal(explore(&b), 0);
	assert_int_equal(b.final.outcome.verdict, NT_VERDICT_PERIOD);
	assert_int_equal(b.final.outcome.chosen_arm, NT_ARM_BASELINE);
	assert_int_equal(b.final.outcome.best_arm, TREE_SIMPLE);

	setup(&b, sockets, RING_SIMPLE); /* ... and here 100 less */
	b.us[TREE_SIMPLE] = 800;
	b.rest_us = 3000;
	b.drag_us[TREE_SIMPLE] = 100;
	assert_int_equal(explore(&b), 1);
	assert_int_equal(b.final.arm[0], TREE_SIMPLE);

	setup(&b, sockets, RING_SIMPLE); /* the next best arm does no harm */
	b.us[TREE_SIMPLE] = 800;
	b.us[TREE_LL] = 850;
	b.rest_us = 3000;
	b.drag_us[TREE_SIMPLE] = 300;
	assert_int_equal(explore(&b), 1);
	assert_int_equal(b.final.arm[0], TREE_LL);
}

/* Communicators of one shape are explored together. */
static void keys_have_orders_of_their_own(void **state)
{
	uint32_t salt[4];
	struct bench b;

	for (unsigned i = 0; i < 4; i++) {
		setup(&b, sockets, RING_SIMPLE);
		atomic_store(&b.comm->id, 8 + i);
		atomic_store(&b.comm->ranks, i == 2 ? 9 : 8);
		if (i == 1)
			atomic_store(&b.key->id, nt_key_id(NT_ALLREDUCE, 41, sockets));
		(void)explore(&b);
		salt[i] = b.first.salt;
		assert_int_equal(b.last.salt, salt[i]);
	}
	assert_true(salt[0] != salt[1] && salt[0] != salt[2] && salt[1] != salt[2]);
	assert_int_equal(salt[0], salt[3]);
}

static void the_period_may_be_the_reward(void **state)
{
	struct bench b;

	setup(&b, sockets, RING_SIMPLE);
	b.home.engine.policy.reward = NT_REWARD_PERIOD;
	b.us[TREE_SIMPLE] = 800;
	b.us[TREE_LL] = 1100;
	b.rest_us = 1000;
	b.drag_us[TREE_SIMPLE] = 250;
	assert_int_equal(explore(&b), 0);
	assert_int_equal(b.final.outcome.chosen_arm, NT_ARM_BASELINE);
	assert_float_equal(b.final.outcome.baseline_us, 2020, 20);

	setup(&b, sockets, RING_SIMPLE);
	b.home.engine.policy.reward = NT_REWARD_PERIOD;
	b.us[TREE_SIMPLE] = 800; /* 10 % of a round of 2 ms */
	b.rest_us = 1000;
	assert_int_equal(explore(&b), 1);
	assert_int_equal(b.final.arm[0], TREE_SIMPLE);
}

static void slow_arms_are_not_tried(void **state)
{
	struct bench b;

	setup(&b, sockets, RING_SIMPLE);
	b.key->cost_us[RING_LL] = 501;
	b.key->cost_us[TREE_LL] = 499;
	b.key->cost_us[TREE_SIMPLE] = NAN; /* no prediction: tried, and last */
	assert_int_equal(explore(&b), 0);
	assert_int_equal(b.first.count, 2);
	assert_int_equal(b.first.arm[1], TREE_LL);
	setup(&b, sockets, RING_SIMPLE);
	b.key->cost_us[RING_LL] = 5000;
	b.key->cost_us[TREE_LL] = 4000;
	b.key->cost_us[TREE_SIMPLE] = 6000;
	assert_int_equal(explore(&b), 0);
	assert_int_equal(b.first.count, 2); /* never none */
	assert_int_equal(b.first.arm[1], TREE_LL);
	setup(&b, sockets, RING_SIMPLE);
	b.key->cost_us[RING_LL] = 6000;
	b.key->cost_us[TREE_LL] = 5000;
	b.key->cost_us[TREE_SIMPLE] = 4000;
	assert_int_equal(explore(&b), 0);
	assert_int_equal(b.first.count, 2); /* the cheapest, wherever it stands */
	assert_int_equal(b.first.arm[1], TREE_SIMPLE);
}

static void large_calls_do_without_ll(void **state)
{
	const unsigned large = nt_band(NT_SCREEN_LL_BYTES);
	struct bench b;

	for (unsigned band = large - 1; band <= large; band++) {
		setup(&b, sockets, RING_SIMPLE);
		atomic_store(&b.key->id, nt_key_id(NT_ALLREDUCE, band, sockets));
		b.key->cost_us[RING_LL] = 200;
		assert_int_equal(explore(&b), 0);
		/* TREE/LL is not predicted slower */
		assert_int_equal(b.first.count, band < large ? 4 : 3);
		assert_int_equal(b.first.arm[1], TREE_LL);
		assert_int_equal(b.first.arm[2], TREE_SIMPLE);
	}
	/* The only other arm. */
	setup(&b, BIT(RING_LL) | BIT(RING_SIMPLE), RING_SIMPLE);
	atomic_store(&b.key->id, nt_key_id(NT_ALLGATHER, large, BIT(RING_LL) | BIT(RING_SIMPLE)));
	b.key->cost_us[RING_LL] = 151;
	assert_int_equal(explore(&b), 0);
	assert_int_equal(b.rounds, 0);
	assert_int_equal(b.final.outcome.verdict, NT_VERDICT_ALONE);
}

static void many_arms_are_bounded(void **state)
{
	struct bench b;

	setup(&b, NT_PAIRS_ALL, RING_SIMPLE);
	b.home.engine.policy.screen_blocks = 64;
	for (unsigned arm = 0; arm < NT_PAIRS; arm++)
		b.key->cost_us[arm] = 100 + (float)arm;
	(void)explore(&b);
	assert_int_equal(b.first.count, NT_SCHEDULE_ARMS);
	assert_true(nt_schedule_positions(&b.first) <= NT_RUN_POSITIONS);
	for (unsigned i = 1; i < NT_SCHEDULE_ARMS; i++)
		assert_int_equal(b.first.arm[i], i <= RING_SIMPLE ? i - 1 : i);
}

static void lost_samples_are_made_up_for(void **state)
{
	struct bench b;

	setup(&b, sockets, RING_SIMPLE);
	b.us[TREE_SIMPLE] = 620;
	b.lost_percent = 8;
	assert_int_equal(explore(&b), 1);
	assert_int_equal(b.final.arm[0], TREE_SIMPLE);
	assert_true(b.final.outcome.samples < b.home.engine.policy.confirm_blocks);
	setup(&b, sockets, RING_SIMPLE);
	b.us[TREE_SIMPLE] = 620;
	b.lost_percent = 45;
	assert_int_equal(explore(&b), 1);
	assert_int_equal(b.final.arm[0], TREE_SIMPLE);
	assert_true(b.rounds > 2);
}

static void no_samples_keep_auto(void **state)
{
	struct bench b;

	setup(&b, sockets, RING_SIMPLE);
	b.us[TREE_SIMPLE] = 620;
	b.lost_percent = 100;
	assert_int_equal(explore(&b), 0);
	assert_int_equal(b.rounds, 2); /* asked once more */
	assert_int_equal(b.final.kind, NT_SCHEDULE_KEPT);
	assert_int_equal(b.final.outcome.verdict, NT_VERDICT_SAMPLES);
	assert_int_equal(b.final.outcome.best_arm, NT_ARM_BASELINE);
	assert_int_equal(b.final.outcome.samples, 0);
	assert_float_equal(b.final.outcome.spent_ms, 0, 1e-6);
}

static void nothing_to_try_keeps_auto(void **state)
{
	struct bench b;

	setup(&b, BIT(RING_SIMPLE), RING_SIMPLE);
	assert_int_equal(explore(&b), 0);
	assert_int_equal(b.rounds, 0);
	assert_int_equal(b.final.outcome.verdict, NT_VERDICT_ALONE);
	setup(&b, BIT(RING_SIMPLE), NT_ARM_BASELINE); /* its pick is not known: one arm to try */
	assert_int_equal(explore(&b), 0);
	assert_int_equal(b.first.count, 2);
}

UNIT_TESTS(worth_a_look, rare_calls_need_fewer, first_calls_are_not_measured_inside_a_node,
	   a_faster_arm_is_chosen, the_cost_is_counted, nothing_faster_keeps_auto,
	   a_small_gain_keeps_auto, an_arm_that_slows_the_rest_is_not_chosen,
	   keys_have_orders_of_their_own, the_period_may_be_the_reward, slow_arms_are_not_tried,
	   large_calls_do_without_ll, many_arms_are_bounded, lost_samples_are_made_up_for,
	   no_samples_keep_auto, nothing_to_try_keeps_auto);
