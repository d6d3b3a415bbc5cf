/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* engine-warm.c - remembered arms: in mode bandit, in mode policy, and arms that do not fit */
#include "tests/unit/engine/engine-bench.h"

#define MIB ((size_t)1 << 20)

static void remember(struct bench *b, struct nt_warm *warm, uint32_t ranks, int arm)
{
	struct nt_warm_key key = { ranks, 2, NT_ALLREDUCE, MIB, arm, 0 };

	memset(warm, 0, sizeof(*warm));
	warm->nccl = 22809;
	assert_int_equal(nt_warm_add(warm, &key, NULL), 0);
	atomic_store(&b->comm->ranks, 8);
	atomic_store(&b->comm->nodes, 2);
	b->home.warm = warm;
}

static void calls(struct bench *b, uint64_t count)
{
	atomic_store(&b->key->calls[2], count);
}

static void a_remembered_arm_is_confirmed_in_one_round(void **state)
{
	struct nt_warm warm;
	struct bench b;

	setup(&b, sockets, RING_SIMPLE);
	b.us[TREE_SIMPLE] = 620;
	remember(&b, &warm, 8, TREE_SIMPLE);
	calls(&b, 0);
	assert_false(share(&b));
	assert_false(b.hooks.early(b.hooks.arg, b.comm));
	calls(&b, 1); /* min_calls does not hold it back */
	assert_true(b.hooks.early(b.hooks.arg, b.comm));
	assert_false(b.hooks.early(b.hooks.arg, &b.shm->comm[1]));
	assert_true(share(&b));
	assert_int_equal(explore(&b), 1);
	assert_int_equal(b.rounds, 1);
	assert_int_equal(b.first.kind, NT_SCHEDULE_CONFIRM);
	assert_int_equal(b.first.count, 2);
	assert_int_equal(b.first.arm[1], TREE_SIMPLE);
	assert_int_equal(b.first.blocks, b.home.engine.policy.confirm_blocks + 1);
	assert_int_equal(b.final.kind, NT_SCHEDULE_COMMITTED);
	assert_int_equal(b.final.arm[0], TREE_SIMPLE);
	assert_int_equal(b.final.outcome.verdict, NT_VERDICT_FASTER);
	assert_int_equal(b.final.outcome.from, NT_FROM_WARM);
	assert_int_equal(b.final.outcome.arms, 2);
	assert_int_equal(b.final.outcome.samples, b.home.engine.policy.confirm_blocks);
	assert_true(b.final.outcome.p < 1e-5f && b.final.outcome.p > 0);
}

static void one_that_fails_is_forgotten_and_all_is_explored(void **state)
{
	struct nt_warm warm;
	struct bench b;

	setup(&b, sockets, RING_SIMPLE);
	b.us[TREE_SIMPLE] = 1200; /* the remembered arm has become slow */
	b.us[TREE_LL] = 700;
	remember(&b, &warm, 8, TREE_SIMPLE);
	assert_int_equal(explore(&b), 1);
	assert_int_equal(b.rounds, 3);
	assert_int_equal(b.first.kind, NT_SCHEDULE_CONFIRM);
	assert_int_equal(b.last.kind, NT_SCHEDULE_CONFIRM);
	assert_int_equal(b.last.arm[1], TREE_LL);
	assert_int_equal(b.final.arm[0], TREE_LL);
	assert_int_equal(b.final.outcome.from, NT_FROM_STEP);
	assert_int_equal(b.final.outcome.arms, 4);
	/* Nothing of the remembered arm's round is evidence for another. */
	assert_int_equal(b.final.outcome.samples, b.home.engine.policy.confirm_blocks);
}

/* If min_calls forbids exploring, the baseline stays, and the reason is that of the comparison. */
static void one_that_fails_early_leaves_auto(void **state)
{
	struct nt_warm warm;
	struct bench b;

	setup(&b, sockets, RING_SIMPLE);
	b.us[TREE_SIMPLE] = 1200;
	b.us[TREE_LL] = 700;
	b.home.engine.policy.min_calls = 1000;
	remember(&b, &warm, 8, TREE_SIMPLE);
	calls(&b, 60);
	assert_int_equal(explore(&b), 0);
	assert_int_equal(b.rounds, 1);
	assert_int_equal(b.final.kind, NT_SCHEDULE_KEPT);
	assert_int_equal(b.final.outcome.verdict, NT_VERDICT_SMALL);
	assert_int_equal(b.final.outcome.from, NT_FROM_STEP);
}

static void remembered_auto_is_explored_much_later(void **state)
{
	struct nt_warm warm;
	struct bench b;

	setup(&b, sockets, RING_SIMPLE);
	remember(&b, &warm, 8, NT_ARM_BASELINE);
	calls(&b, 20 * 24 - 1);
	assert_false(share(&b));
	calls(&b, 20 * 24);
	assert_true(share(&b));
	remember(&b, &warm, 8, RING_SIMPLE); /* which the baseline picks by itself by now */
	calls(&b, 20 * 24 - 1);
	assert_false(share(&b));
	b.home.warm = NULL;
	assert_true(share(&b));
	assert_int_equal(explore(&b), 0);
	assert_int_equal(b.first.kind, NT_SCHEDULE_SCREEN);
}

/* The policy of another topology, or with arms that NCCL does not have here, changes nothing in the
 * program. */
static void what_does_not_fit_is_as_if_not_remembered(void **state)
{
	static const struct {
		uint32_t ranks;
		int arm;
	} cases[] = { { 16, TREE_SIMPLE }, { 4, TREE_SIMPLE }, { 8, 18 /* PAT/LL */ } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct nt_warm warm;
		struct bench b;

		setup(&b, sockets, RING_SIMPLE);
		remember(&b, &warm, cases[i].ranks, cases[i].arm);
		b.us[TREE_SIMPLE] = 2100; /* 110 % slower */
		b.home.engine.policy.mode = NT_MODE_POLICY;
		calls(&b, 1000000);
		assert_false(share(&b));
		b.home.engine.policy.mode = NT_MODE_BANDIT;
		calls(&b, 23);
		assert_false(share(&b));
		calls(&b, 24);
		assert_true(share(&b));
		assert_int_equal(explore(&b), 0);
		assert_int_equal(b.first.kind, NT_SCHEDULE_SCREEN);
	}
}

static void a_policy_is_committed_at_once(void **state)
{
	struct nt_warm warm;
	struct bench b;
	void *key;

	setup(&b, sockets, RING_SIMPLE);
	b.home.engine.policy.mode = NT_MODE_POLICY;
	remember(&b, &warm, 8, nt_arm_make(RING_SIMPLE, 8));
	calls(&b, 1);
	assert_true(share(&b));
	key = b.hooks.start(b.hooks.arg, b.comm, b.key);
	assert_true(b.hooks.ready(key));
	b.hooks.end(key);
	assert_int_equal(explore(&b), 1);
	assert_int_equal(b.rounds, 0);
	assert_int_equal(b.final.kind, NT_SCHEDULE_COMMITTED);
	assert_string_equal(nt_arm_name(b.final.arm[0]), "RING/SIMPLE/8ch");
	assert_int_equal(b.final.outcome.verdict, NT_VERDICT_REMEMBERED);
	assert_int_equal(b.final.outcome.from, NT_FROM_POLICY);
	assert_int_equal(b.final.outcome.samples, 0);
	/* Not after a possible capture: no rank would accept the plan. */
	atomic_store(&b.comm->slot[1].flags, NT_PARTICIPANT_GRAPHS);
	assert_false(share(&b));
	atomic_store(&b.comm->slot[1].flags, 0);
	remember(&b, &warm, 8, NT_ARM_BASELINE);
	calls(&b, 1000000);
	assert_false(share(&b));
}

/* It does not wait for other communicators, nor for windows that others need. */
/* "setup" leaves protocols to all: here one that the site does not want is taken away. */
static void what_is_forbidden_is_neither_remembered_nor_tried(void **state)
{
	struct nt_warm warm;
	struct bench b;

	setup(&b, sockets, RING_SIMPLE);
	b.us[TREE_SIMPLE] = 620;
	b.home.engine.policy.mode = NT_MODE_POLICY;
	b.home.engine.policy.algorithms &= ~INT64_C(1); /* tree */
	remember(&b, &warm, 8, TREE_SIMPLE);
	calls(&b, 1);
	assert_false(share(&b));
	b.home.engine.policy.mode = NT_MODE_BANDIT;
	calls(&b, 100000);
	assert_true(share(&b));
	assert_true(explore(&b) >= 0);
	for (unsigned i = 1; i < b.first.count; i++)
		assert_int_not_equal(nt_arm_pair(b.first.arm[i]) / NT_PROTOS, 0);
	assert_true(b.final.kind != NT_SCHEDULE_COMMITTED ||
		    nt_arm_pair(b.final.arm[0]) / NT_PROTOS != 0);
}

static void a_policy_stands_in_no_queue(void **state)
{
	struct nt_warm warm;
	struct bench b;

	setup(&b, sockets, RING_SIMPLE);
	remember(&b, &warm, 8, TREE_SIMPLE);
	b.home.shm = b.shm;
	atomic_store(&b.comm->id, 5);
	atomic_store(&b.shm->comm[0].id, 4);
	atomic_store(&b.shm->comm[0].ranks, 16);
	atomic_store(&b.shm->comm[0].nodes, 2);
	atomic_store(&b.comm->nodes, 2);
	atomic_store(&b.shm->comm[0].state, NT_COMM_AGREED);
	atomic_store(&b.shm->comm[0].key[0].id, atomic_load(&b.key->id));
	atomic_store(&b.shm->comm[0].key[0].state, NT_KEY_OPEN);
	atomic_store(&b.shm->comm[0].key[0].calls[0], 1);
	calls(&b, 1);
	assert_false(share(&b));
	b.home.engine.policy.mode = NT_MODE_POLICY;
	assert_true(share(&b));
	b.home.engine.open = NT_SHM_RUNS;
	assert_true(share(&b));
}

/* Runs the windows of a recheck. Returns the last result of next(). */
static int recheck(struct bench *b, unsigned arm)
{
	struct nt_schedule s = { .kind = NT_SCHEDULE_COMMITTED, .count = 1 };
	struct nt_plan baseline = { .until = NT_NEVER };
	uint8_t bytes[NT_TIMES_BYTES];
	int more = 1;
	void *key;

	s.arm[0] = (uint16_t)arm;
	baseline.payload_bytes = (uint32_t)nt_schedule_write(&s, baseline.payload,
							     sizeof(baseline.payload));
	assert_true(b->hooks.may_recheck(b->hooks.arg, b->comm, &baseline));
	key = b->hooks.start_recheck(b->hooks.arg, b->comm, b->key, &baseline);
	assert_non_null(key);
	assert_false(b->hooks.ready(key));
	for (b->rounds = 0; more && b->rounds < 20; b->rounds++) {
		struct nt_plan plan = { .run = 4, .epoch = 31 + b->rounds, .stride = 1 };

		more = b->hooks.next(key, &plan);
		if (!more || nt_schedule_read(&b->final, plan.payload, plan.payload_bytes) < 0 ||
		    plan.until == NT_NEVER)
			break;
		assert_int_equal(b->final.kind, NT_SCHEDULE_RECHECK);
		play(b, &plan, &b->final);
		b->hooks.absorb(key, bytes,
				b->hooks.gather(b->hooks.arg, b->shm, &plan, NT_SHM_SLOTS, bytes,
						sizeof(bytes)));
	}
	b->hooks.end(key);
	return more;
}

static void a_policy_that_loses_is_rolled_back_without_exploring(void **state)
{
	struct bench b;

	setup(&b, sockets, RING_SIMPLE);
	b.home.engine.policy.mode = NT_MODE_POLICY;
	b.us[TREE_SIMPLE] = 2100;
	b.us[TREE_LL] = 500;
	assert_int_equal(recheck(&b, TREE_SIMPLE), 1);
	assert_int_equal(b.rounds, 2);
	assert_int_equal(b.final.kind, NT_SCHEDULE_COMMITTED);
	assert_int_equal(b.final.arm[0], NT_ARM_BASELINE);
	assert_int_equal(b.final.outcome.chosen_arm, NT_ARM_BASELINE);
	assert_int_equal(b.final.outcome.best_arm, TREE_SIMPLE);
	assert_int_equal(b.final.outcome.from, NT_FROM_STEP);
	assert_float_equal(b.final.outcome.best_us, 2121, 10);

	b.us[TREE_SIMPLE] = 800; /* one that holds stays, after one window */
	assert_int_equal(recheck(&b, TREE_SIMPLE), 0);
	assert_int_equal(b.rounds, 1);

	b.rest_us = 3000; /* faster, but the program around it slower */
	b.drag_us[TREE_SIMPLE] = 900;
	assert_int_equal(recheck(&b, TREE_SIMPLE), 1);
	assert_int_equal(b.final.arm[0], NT_ARM_BASELINE);
	assert_int_equal(b.final.outcome.verdict, NT_VERDICT_PERIOD);
}

/* Every legal arm, from the first call on, whatever NCCL predicts and the limits say. */
static void mode_profile_measures_everything(void **state)
{
	struct nt_policy asked;
	struct bench b;

	setup(&b, sockets, RING_SIMPLE);
	b.key->cost_us[TREE_LL] = 100000;
	b.us[TREE_LL] = 500;
	asked = b.home.engine.policy;
	asked.max_calls = 10;
	asked.budget_micro = 1;
	b.home.engine.policy = nt_engine_policy(&asked);
	assert_memory_equal(&b.home.engine.policy, &asked, sizeof(asked));
	asked.mode = NT_MODE_PROFILE;
	b.home.engine.policy = nt_engine_policy(&asked);
	assert_int_equal(nt_explorer_hooks(&b.home).recheck_ms, 0);
	calls(&b, 0);
	assert_false(share(&b));
	calls(&b, 1);
	assert_true(share(&b));
	assert_int_equal(explore(&b), 1);
	assert_int_equal(b.first.kind, NT_SCHEDULE_SCREEN);
	assert_int_equal(b.first.count, 4);
	assert_int_equal(b.final.arm[0], TREE_LL);
}

UNIT_TESTS(a_remembered_arm_is_confirmed_in_one_round,
	   one_that_fails_is_forgotten_and_all_is_explored, one_that_fails_early_leaves_auto,
	   remembered_auto_is_explored_much_later, what_does_not_fit_is_as_if_not_remembered,
	   a_policy_is_committed_at_once, what_is_forbidden_is_neither_remembered_nor_tried,
	   a_policy_stands_in_no_queue, a_policy_that_loses_is_rolled_back_without_exploring,
	   mode_profile_measures_everything);
