/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* engine-savings.c - gains are relative to the collective's own time, and limited by the job's
 * remaining time */
#include <limits.h>
#include "engine/time-budget.h"
#include "engine/budget.h"
#include "tests/unit/engine/engine-bench.h"
#include "lib/clock.h"
#include "tuner/process.h"

#define TWO (BIT(RING_SIMPLE) | BIT(TREE_SIMPLE))

/* The baseline's call takes 337 us, the arm's 8.4 % less; 750 us of computing follow each. */
static void set_up_between(struct bench *b)
{
	setup(b, TWO, RING_SIMPLE);
	b->us[NT_PAIRS] = 337;
	b->us[TREE_SIMPLE] = 337 * (1 - 0.084);
	b->between_us = 750;
}

static void computing_between_calls_hides_no_gain(void **state)
{
	struct bench b;

	set_up_between(&b);
	assert_int_equal(explore(&b), 0); /* the call's own time is unknown */

	set_up_between(&b);
	b.stamped = true;
	assert_int_equal(explore(&b), 1);
	assert_int_equal(b.final.arm[0], TREE_SIMPLE);
	assert_float_equal(b.final.outcome.duration_baseline_us, 341, 4);
	assert_float_equal(b.final.outcome.duration_best_us, 312, 4);
	assert_float_equal(b.final.outcome.baseline_us, 1091, 4);
	assert_float_equal(b.final.outcome.period_baseline_us, 1091, 4);
	assert_float_equal(b.final.outcome.period_best_us, 1062, 4);
}

/* NCCL's pick is a tree, whose ends are stamped too early: a ring shows the time between calls. */
static void a_ring_tells_for_a_tree(void **state)
{
	struct bench b;

	setup(&b, sockets, TREE_SIMPLE);
	b.us[NT_PAIRS] = 337;
	b.us[TREE_LL] = 337 * (1 - 0.084);
	b.us[RING_SIMPLE] = 500;
	b.us[RING_LL] = 600;
	b.between_us = 750;
	b.stamped = true;
	assert_int_equal(explore(&b), 1);
	assert_int_equal(b.final.arm[0], TREE_LL);
	assert_float_equal(b.final.outcome.duration_baseline_us, 341, 8);
}

/* All of it is hidden: from start to start nothing is saved. */
static void a_hidden_gain_is_none(void **state)
{
	struct bench b;

	setup(&b, TWO, RING_SIMPLE);
	b.between_us = 750;
	b.us[NT_PAIRS] = 337;
	b.us[TREE_SIMPLE] = 337;
	b.stamped = true;
	assert_int_equal(explore(&b), 0);
}

/* 2 % of the call, however much of the time it is. */
static void min_gain_is_a_floor_still(void **state)
{
	struct bench b;

	set_up_between(&b);
	b.stamped = true;
	b.us[TREE_SIMPLE] = 337 * (1 - 0.02);
	assert_int_equal(explore(&b), 0);
	set_up_between(&b);
	b.stamped = true;
	b.home.engine.policy.min_gain_micro = 15000000;
	assert_int_equal(explore(&b), 0);
}

/* Three calls of five are followed by a pause: gains are of the lower quartiles, the floor too. */
static void the_floor_is_of_the_time_that_gains_are_of(void **state)
{
	struct nt_evaluation *seen = calloc(1, sizeof(*seen));
	struct nt_evidence *e;
	struct nt_policy policy;

	assert_non_null(seen);
	nt_policy_default(&policy);
	e = &seen->screen;
	seen->policy = &policy;
	seen->info.baseline_arm = RING_SIMPLE;
	*e = (struct nt_evidence){ .count = 2,
				   .blocks = 10,
				   .arm = { NT_ARM_BASELINE, TREE_SIMPLE } };
	for (unsigned b = 0; b < 10; b++)
		e->measured_us[0][0][b] = e->measured_us[0][1][b] = b % 5 < 2 ? 1000 : 9000;
	nt_evidence_use(e, NT_MEASURE_SLOWEST);
	assert_float_equal(nt_evaluation_min_gain(seen, e), 0.03, 1e-9);
	e->duration_us[0] = 500;
	assert_float_equal(nt_evaluation_min_gain(seen, e), 0.015, 1e-9);
	e->duration_us[0] = 1500; /* no more than all of it */
	assert_float_equal(nt_evaluation_min_gain(seen, e), 0.03, 1e-9);
	e->duration_us[0] = 1; /* no less than a twentieth */
	assert_float_equal(nt_evaluation_min_gain(seen, e), 0.0015, 1e-9);
	seen->info.baseline_arm =
		TREE_SIMPLE; /* its end is stamped too early, and there is no ring */
	assert_float_equal(nt_evaluation_min_gain(seen, e), 0.03, 1e-9);
	assert_float_equal(nt_evaluation_duration_us(seen, e, 0), 0, 1e-9);
	free(seen);
}

/* Faster at best, but usually slower. */
static double uneven(const struct nt_plan *plan, unsigned position)
{
	struct nt_schedule s;

	assert_int_equal(nt_schedule_read(&s, plan->payload, plan->payload_bytes), 0);
	if (nt_schedule_arm(&s, plan->epoch, position) != TREE_SIMPLE)
		return 0;
	return position / s.count % 3 == 0 ? -100 : 300;
}

static void a_job_near_its_end_confirms_nothing(void **state)
{
	const uint64_t left_us[] = { UINT64_C(3600000000), UINT64_C(30000) };
	struct bench b;

	for (unsigned i = 0; i < 2; i++) {
		setup(&b, TWO, RING_SIMPLE);
		b.pause_us = uneven;
		b.home.end_us = nt_clock_us() + left_us[i];
		(void)explore(&b);
		assert_int_equal(b.last.kind, i == 0 ? NT_SCHEDULE_CONFIRM : NT_SCHEDULE_SCREEN);
		if (i == 1)
			assert_int_equal(b.final.outcome.verdict, NT_VERDICT_BUDGET);
	}
}

static void calls_to_come_are_time_by_period(void **state)
{
	struct nt_evaluation *seen = calloc(1, sizeof(*seen));
	struct nt_policy policy;
	struct nt_schedule round;
	const uint16_t arm = TREE_SIMPLE;

	assert_non_null(seen);
	nt_policy_default(&policy);
	policy.mode = NT_MODE_BANDIT;
	seen->policy = &policy;
	round = nt_schedule_explore(NT_SCHEDULE_CONFIRM, &arm, 1, 25);
	assert_true(nt_budget_worth(seen, &seen->screen, &round, 0));
	seen->screen = (struct nt_evidence){ .count = 2,
					     .blocks = 2,
					     .arm = { NT_ARM_BASELINE, arm } };
	for (unsigned i = 0; i < 2; i++) {
		seen->screen.measured_us[0][0][i] = 1000;
		seen->screen.measured_us[0][1][i] = 1500;
	}
	nt_evidence_use(&seen->screen, NT_MEASURE_SLOWEST);
	/* An hour, if nothing is known. */
	seen->info.left_us = 1e6;
	/* 25 calls of 500 us more; 950 calls that take so much less. */
	assert_true(nt_budget_worth(seen, &seen->screen, &round, 14));
	assert_false(nt_budget_worth(seen, &seen->screen, &round, 13));
	seen->rechecks = true;
	assert_true(nt_budget_worth(seen, &seen->screen, &round, 13));
	seen->rechecks = false;
	policy.mode = NT_MODE_PROFILE;
	assert_true(nt_budget_worth(seen, &seen->screen, &round, 13));
	policy.mode = NT_MODE_BANDIT;
	/* A pause is part of the time from call to call. */
	seen->confirm = seen->screen;
	seen->confirm.period_us[0][0] = 1000;
	seen->confirm.period_us[0][1] = 19000;
	assert_false(nt_budget_worth(seen, &seen->screen, &round, 100));
	seen->info.left_us = 40e4; /* fewer calls than the round takes */
	assert_false(nt_budget_worth(seen, &seen->screen, &round, 1e6));
	free(seen);
}

/* Faster at first, with stalls that later looks would find. */
static double stalls(const struct nt_plan *plan, unsigned position)
{
	struct nt_schedule s;

	assert_int_equal(nt_schedule_read(&s, plan->payload, plan->payload_bytes), 0);
	if (nt_schedule_arm(&s, plan->epoch, position) != TREE_SIMPLE)
		return 0;
	return nt_rng_unit(nt_rng_mix(plan->epoch + 99, position)) < 0.4 ? 4000 : 0;
}

static void rare_calls_are_decided_with_few(void **state)
{
	struct bench b;

	for (unsigned rare = 0; rare < 2; rare++) {
		setup(&b, TWO, RING_SIMPLE);
		b.us[TREE_SIMPLE] = 700;
		/* Else, some calls since the machine was started. */
		b.home.began_us = rare ? 1 : 0;
		assert_int_equal(explore(&b), 1);
		assert_int_equal(b.first.blocks, rare ? 4 : b.home.engine.policy.screen_blocks + 1);
		assert_int_equal(b.last.blocks,
				 rare ? 17 : b.home.engine.policy.confirm_blocks + 1);
		setup(&b, TWO, RING_SIMPLE);
		b.us[TREE_SIMPLE] = 700;
		b.pause_us = stalls;
		b.home.began_us = rare ? 1 : 0;
		assert_int_equal(explore(&b), 0);
		/* With a first round that is widened; else, all looks. */
		assert_int_equal(b.rounds, rare ? 3 : 5);
		assert_int_equal(b.final.outcome.verdict,
				 rare ? NT_VERDICT_CHANCE : NT_VERDICT_MEAN);
	}
}

static void a_key_has_a_minute_or_a_hundred_steps(void **state)
{
	struct nt_evaluation *seen = calloc(1, sizeof(*seen));
	struct nt_policy policy;

	assert_non_null(seen);
	nt_policy_default(&policy);
	policy.mode = NT_MODE_BANDIT;
	seen->policy = &policy;
	assert_int_equal(nt_time_budget_blocks(seen, 2), UINT_MAX); /* without a clock */
	/* Every 0.2 s; a round of 30 calls, and 2 s beside it and at the opening. */
	seen->info.age_us = 20e6;
	seen->info.calls = 100;
	seen->opened_us = 10e6;
	seen->spent.calls = 30;
	seen->rounds[NT_SCHEDULE_SCREEN] = 1;
	assert_int_equal(nt_time_budget_blocks(seen, 2), 90); /* (40 - 4) / 0.4 */
	assert_int_equal(nt_time_budget_blocks(seen, 1), 180);
	seen->info.step_us = 1e6;
	assert_int_equal(nt_time_budget_blocks(seen, 2), 190); /* 100 s in place of 60 */
	seen->info.step_us = 1e3;
	assert_int_equal(nt_time_budget_blocks(seen, 2), 90);
	seen->info.age_us = 59.9e6;
	assert_int_equal(nt_time_budget_blocks(seen, 2), 0);
	/* Half of a hundred steps, though no step takes long: the program pauses. */
	seen->info.steps = 50;
	assert_int_equal(nt_time_budget_blocks(seen, 2), 23); /* (59.9 - 32) / 1.2 */
	seen->info.steps = 100;
	assert_int_equal(nt_time_budget_blocks(seen, 2), 0);
	/* Opened late: a third of a minute from then on. */
	seen->opened_us = 100e6;
	seen->info.age_us = 110e6;
	seen->info.calls = 550;
	assert_int_equal(nt_time_budget_blocks(seen, 2), 15); /* (10 - 4) / 0.4 */
	policy.mode = NT_MODE_PROFILE;
	assert_int_equal(nt_time_budget_blocks(seen, 2), UINT_MAX);
	policy.mode = NT_MODE_BANDIT;
	seen->rechecks = true;
	assert_int_equal(nt_time_budget_blocks(seen, 2), UINT_MAX);
	free(seen);
}

static void who_is_rarely_called_cannot_wait(void **state)
{
	static const struct {
		double age_us, step_us;
		uint64_t calls;
		int presses;
	} cases[] = {
		{ 0, 0, 100, 0 }, /* without a clock */
		{ 10e6, 0, 0, 0 },	{ 10e6, 0, 20, 0 }, /* they take 48 s of 50 */
		{ 10e6, 0, 19, 1 },	{ 10e6, 0.6e6, 19, 1 }, /* 100 steps are a minute */
		{ 10e6, 0.7e6, 17, 0 }, { 10e6, 0.7e6, 15, 1 },
		{ 70e6, 0, 7000, 1 },	{ 30e6, 3e6, 10, 1 }, /* 288 s of 270 */
		{ 30e6, 3e6, 11, 0 },
	};
	struct nt_policy policy;

	nt_policy_default(&policy);
	policy.mode = NT_MODE_BANDIT;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct nt_key_info info = { .age_us = cases[i].age_us,
						  .step_us = cases[i].step_us,
						  .calls = cases[i].calls };

		if (nt_time_budget_presses(&policy, &info) != cases[i].presses)
			fail_msg("case %zu", i);
	}
	policy.mode = NT_MODE_PROFILE;
	assert_false(nt_time_budget_presses(&policy,
					    &(struct nt_key_info){ .age_us = 10e6, .calls = 1 }));
}

static void slurm_says_when_it_ends(void **state)
{
	assert_int_equal(nt_deadline_us("1800000060", 1800000000, 500), 60000500);
	assert_int_equal(nt_deadline_us(NULL, 1800000000, 500), 0);
	assert_int_equal(nt_deadline_us("", 1800000000, 500), 0);
	assert_int_equal(nt_deadline_us("never", 1800000000, 500), 0);
	assert_int_equal(nt_deadline_us("1800000060 ", 1800000000, 500), 0);
	assert_int_equal(nt_deadline_us("-1", 1800000000, 500), 0);
	assert_int_equal(nt_deadline_us("1799999999", 1800000000, 500), 0);
	assert_int_equal(nt_deadline_us("123456789012", 1800000000, 500), 0);
	assert_int_equal(nt_deadline_us("1800000060", -1, 500), 0);
}

UNIT_TESTS(computing_between_calls_hides_no_gain, a_ring_tells_for_a_tree, a_hidden_gain_is_none,
	   min_gain_is_a_floor_still, the_floor_is_of_the_time_that_gains_are_of,
	   a_job_near_its_end_confirms_nothing, calls_to_come_are_time_by_period,
	   rare_calls_are_decided_with_few, a_key_has_a_minute_or_a_hundred_steps,
	   who_is_rarely_called_cannot_wait, slurm_says_when_it_ends);
