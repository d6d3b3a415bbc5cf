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

UNIT_TESTS(worth_a_look, rare_calls_need_fewer, first_calls_are_not_measured_inside_a_node,
	   slow_arms_are_not_tried, large_calls_do_without_ll, many_arms_are_bounded,
	   lost_samples_are_made_up_for, no_samples_keep_auto);
