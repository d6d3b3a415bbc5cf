/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* measures.c - which rank's times decide, and that the slowest rank keeps its veto */
#include "tests/unit/engine/engine-bench.h"

#include "engine/evidence.h"

/* Six blocks; an arm beside the baseline varies in all measures alike. */
static struct nt_evidence *evidence_of(double slowest, double mean, double fastest)
{
	const double spread[NT_MEASURES] = { slowest, mean, fastest };
	struct nt_evidence *e = calloc(1, sizeof(*e));

	assert_non_null(e);
	e->count = 2;
	e->blocks = 6;
	for (unsigned b = 0; b < e->blocks; b++) {
		for (unsigned m = 0; m < NT_MEASURES; m++) {
			e->measured_us[m][0][b] = (float)(5000 + spread[m] * (b % 3));
			e->measured_us[m][1][b] = (float)(1000 * b * (m + 1));
		}
	}
	return e;
}

static enum nt_measure chosen(double slowest, double mean, double fastest)
{
	struct nt_evidence *e = evidence_of(slowest, mean, fastest);
	enum nt_measure measure = nt_evidence_steadiest(e);

	free(e);
	return measure;
}

static void what_varies_least_is_chosen(void **state)
{
	struct nt_evidence *e = evidence_of(100, 60, 10);

	assert_int_equal(chosen(100, 60, 10), NT_MEASURE_FASTEST);
	assert_int_equal(chosen(100, 60, 90), NT_MEASURE_MEAN);
	assert_int_equal(chosen(100, 60, 50), NT_MEASURE_MEAN); /* not clearly less */
	assert_int_equal(chosen(10, 60, 90), NT_MEASURE_SLOWEST);
	/* Too few samples. */
	e->blocks = 2;
	assert_int_equal(nt_evidence_steadiest(e), NT_MEASURE_SLOWEST);
	free(e);
}

/* A gain of a fifth under waits of up to five times the call. */
static void set_up_skew(struct bench *b)
{
	setup(b, sockets, RING_SIMPLE);
	b->us[TREE_SIMPLE] = 800;
	b->us[RING_LL] = 1500;
	b->us[TREE_LL] = 1900;
	b->skew_us = 5000;
}

static void waits_of_early_ranks_hide_no_gain(void **state)
{
	struct bench b;

	set_up_skew(&b);
	assert_int_equal(explore(&b), 1);
	assert_int_equal(b.first.measure, NT_MEASURE_ALL);
	assert_int_equal(b.last.kind, NT_SCHEDULE_CONFIRM);
	assert_int_equal(b.last.measure, NT_MEASURE_FASTEST);
	assert_int_equal(b.final.arm[0], TREE_SIMPLE);
	assert_int_equal(b.final.outcome.measure, NT_MEASURE_FASTEST);
	assert_float_equal(b.final.outcome.baseline_us, 1010, 10);
	assert_float_equal(b.final.outcome.best_us, 808, 10);
}

/* What one rank gains another loses. */
static void the_slowest_rank_has_a_veto(void **state)
{
	struct bench b;

	set_up_skew(&b);
	b.lag_us[TREE_SIMPLE] = 20000;
	assert_int_equal(explore(&b), 0);
	assert_int_equal(b.final.kind, NT_SCHEDULE_KEPT);
	assert_int_equal(b.final.outcome.verdict, NT_VERDICT_SLOWEST);
	assert_int_equal(b.final.outcome.measure, NT_MEASURE_FASTEST);
}

/* Where calls' periods count, nothing is chosen. */
static void periods_are_the_slowest_ranks(void **state)
{
	struct bench b;

	set_up_skew(&b);
	b.home.engine.policy.reward = NT_REWARD_PERIOD;
	(void)explore(&b);
	assert_int_equal(b.first.measure, NT_MEASURE_SLOWEST);
	assert_int_equal(b.final.outcome.measure, NT_MEASURE_SLOWEST);
}

static void a_recheck_goes_by_the_measure_of_the_decision(void **state)
{
	struct nt_schedule window;
	struct nt_plan plan = { .until = NT_NEVER };
	struct bench b;
	void *key;

	set_up_skew(&b);
	assert_int_equal(explore(&b), 1);
	plan.payload_bytes = (uint32_t)nt_schedule_write(&b.final, plan.payload,
							 sizeof(plan.payload));
	key = b.hooks.start_recheck(b.hooks.arg, b.comm, b.key, &plan);
	assert_non_null(key);
	assert_int_equal(b.hooks.next(key, &plan), 1);
	assert_int_equal(nt_schedule_read(&window, plan.payload, plan.payload_bytes), 0);
	assert_int_equal(window.kind, NT_SCHEDULE_RECHECK);
	assert_int_equal(window.measure, NT_MEASURE_FASTEST);
	b.hooks.end(key);
}

UNIT_TESTS(what_varies_least_is_chosen, waits_of_early_ranks_hide_no_gain,
	   the_slowest_rank_has_a_veto, periods_are_the_slowest_ranks,
	   a_recheck_goes_by_the_measure_of_the_decision);
