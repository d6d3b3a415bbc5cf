/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* decide-rest.c - keys that are not called any more hold no events on, and lose nothing by it */
#include <time.h>
#include "tests/unit/tuner/decide-host.h"
#include "tuner/rest.h"

#define SIZE 262144u
#define OTHER 1024u
#define COLL_ON ((int)(NT_PROF_COLL | NT_PROF_KERNEL_LAUNCH | NT_PROF_P2P_API))
#define ROUNDS 60000 /* of 10 ms: a guard against a hang */

static void wait_10_ms(void)
{
	const struct timespec pause = { .tv_nsec = 10000000 };

	nanosleep(&pause, NULL);
}

/* Without a call. The mask is written by the helper thread. */
static void wait_for_mask(struct host *h, int mask)
{
	for (int i = 0; i < ROUNDS && __atomic_load_n(&h->mask, __ATOMIC_ACQUIRE) != mask; i++)
		wait_10_ms();
	assert_int_equal(__atomic_load_n(&h->mask, __ATOMIC_ACQUIRE), mask);
}

/* Fewer calls than a first window has; then others, or none. */
static void a_rare_key_that_is_observed_holds_nothing(void **state)
{
	static struct host h;

	host_open(&h, "observe");
	for (int i = 0; i < 200; i++) /* beyond its windows for now */
		host_collective(&h, NT_ALLREDUCE, OTHER);
	assert_int_equal(h.mask, 0);
	for (int i = 0; i < 5; i++)
		host_collective(&h, NT_ALLREDUCE, SIZE);
	assert_true(h.mask & (int)NT_PROF_KERNEL_CH);
	wait_for_mask(&h, 0);
	assert_int_equal(nt_comm_open_keys(h.comm), 0);
	/* It is called again: the rest of its window */
	for (int i = 0; i < 5; i++)
		host_collective(&h, NT_ALLREDUCE, SIZE);
	assert_true(h.mask & (int)NT_PROF_KERNEL_CH);
	for (int i = 0; i < ROUNDS && h.mask != 0; i++) {
		host_collective(&h, NT_ALLREDUCE, OTHER);
		wait_10_ms();
	}
	assert_int_equal(h.mask, 0);
	assert_int_equal(atomic_load(&host_own_key(&h, NT_ALLREDUCE, SIZE)->laps.observed), 8);
	host_close(&h);
}

/* Short calls are measured less often; later windows are a quarter of the first. */
static void windows_are_short_where_calls_are(void **state)
{
	static struct host h;

	host_open(&h, "observe");
	for (int i = 0; i < 400; i++)
		host_collective(&h, NT_ALLREDUCE, SIZE);
	assert_int_equal(atomic_load(&host_own_key(&h, NT_ALLREDUCE, SIZE)->laps.observed),
			 16 + 4 * 4);
	h.cost[TREE_LL] = h.cost[TREE_SIMPLE] = h.cost[RING_SIMPLE] = 400.0f;
	for (int i = 0; i < 400; i++)
		host_collective(&h, NT_ALLREDUCE, 64 * SIZE);
	assert_int_equal(atomic_load(&host_own_key(&h, NT_ALLREDUCE, 64 * SIZE)->laps.observed),
			 96 + 24 + 15);
	host_close(&h);
}

static void the_budget_is_a_share_of_the_predicted_time(void **state)
{
	struct nt_observe_budget budget = { .calls = 0 };

	assert_false(nt_observe_budget_see(&budget, 100000, 1e6, false));
	assert_false(nt_observe_budget_see(&budget, 101000, 1e6, true));
	assert_true(nt_observe_budget_see(&budget, 104000, 1e6, true)); /* 80 ms of 52.5 */
	assert_true(nt_observe_budget_see(&budget, 204000, 1e7, false)); /* still on until here */
	assert_true(nt_observe_budget_see(&budget, 10, 1e5, false)); /* communicators ended */
	assert_false(nt_observe_budget_see(&budget, 20, 1e9, false));
}

/* An open key without a plan: the turn is withdrawn first. */
static void an_open_key_rests_and_comes_back(void **state)
{
	const struct nt_schedule screen = host_screen();
	struct nt_shm_key *key;
	struct nt_plan plan;
	static struct host h;
	uint64_t calls, tasks;

	host_open(&h, "bandit");
	host_open_key(&h, NT_ALLREDUCE, SIZE);
	key = host_key(&h, NT_ALLREDUCE, SIZE);
	host_collective(&h, NT_ALLREDUCE, SIZE);
	assert_int_equal(h.mask, COLL_ON);
	wait_for_mask(&h, 0);
	assert_int_equal(atomic_load(&key->turn[0]), NT_TURN_UNKNOWN);
	calls = atomic_load(&key->calls[0]);
	tasks = atomic_load(&key->tasks);
	for (int i = 0; i < 20; i++) /* whose events nobody sees */
		host_collective(&h, NT_ALLREDUCE, OTHER);
	assert_int_equal(h.mask, 0);
	host_collective(&h, NT_ALLREDUCE, SIZE);
	assert_int_equal(atomic_load(&key->turn[0]), NT_TURN_UNKNOWN);
	host_collective(&h, NT_ALLREDUCE, SIZE);
	host_collective(&h, NT_ALLREDUCE, SIZE);
	assert_int_equal(atomic_load(&key->turn[0]), h.seq[NT_ALLREDUCE]);
	/* Otherwise windows would be laid out for calls that are apart from each other. */
	assert_int_equal(atomic_load(&key->tasks) - tasks, atomic_load(&key->calls[0]) - calls);
	plan = host_plan(1, h.seq[NT_ALLREDUCE] + 1, &screen);
	host_commit(key, &plan);
	host_collective(&h, NT_ALLREDUCE, SIZE);
	for (int i = 0; i < (int)nt_schedule_positions(&screen); i++) {
		int arm = nt_schedule_arm(&screen, 1, i);

		assert_int_equal(host_collective(&h, NT_ALLREDUCE, SIZE),
				 arm == NT_ARM_BASELINE ? RING_SIMPLE : arm);
	}
	wait_for_mask(&h, 0);
	host_close(&h);
}

/* A window that was agreed on, a hold: this rank must know its turn. */
static void a_key_with_a_plan_ahead_keeps_its_turn(void **state)
{
	const struct nt_schedule screen = host_screen();
	struct nt_shm_key *key;
	struct nt_plan plan;
	static struct host h;

	host_open(&h, "bandit");
	host_open_key(&h, NT_ALLREDUCE, SIZE);
	key = host_key(&h, NT_ALLREDUCE, SIZE);
	atomic_store(&key->hold_at, h.seq[NT_ALLREDUCE] + 1000);
	for (int i = 0; i < 150; i++)
		wait_10_ms();
	assert_int_equal(h.mask, COLL_ON);
	assert_int_equal(atomic_load(&key->turn[0]), h.seq[NT_ALLREDUCE] + 1);
	plan = host_plan(1, h.seq[NT_ALLREDUCE] + 2, &screen);
	plan.run = 3;
	atomic_store(&h.process.map.shm->run[3].owner, host_owner(&h, key));
	host_commit(key, &plan);
	host_collective(&h, NT_ALLREDUCE, SIZE);
	assert_true(h.mask & (int)NT_PROF_KERNEL_CH);
	wait_for_mask(&h, COLL_ON); /* GPU times go off */
	for (int i = 0; i < 150; i++)
		wait_10_ms();
	assert_int_equal(h.mask, COLL_ON);
	host_collective(&h, NT_ALLREDUCE, SIZE);
	for (int i = 0; i < (int)nt_schedule_positions(&screen); i++) {
		int arm = nt_schedule_arm(&screen, 1, i);

		assert_int_equal(host_collective(&h, NT_ALLREDUCE, SIZE),
				 arm == NT_ARM_BASELINE ? RING_SIMPLE : arm);
	}
	/* The call that switched them on again has no time. */
	assert_in_range(atomic_load(&h.process.map.shm->run[3].issued[0]), 10, 12);
	host_close(&h);
}

/* A commit whose turn other keys' calls reach, while its own key rests. */
static void an_arm_is_known_when_its_key_comes_back(void **state)
{
	const struct nt_schedule final = host_final(TREE_SIMPLE);
	struct nt_local_key *own;
	struct nt_plan plan;
	static struct host h;

	host_open(&h, "bandit");
	plan = host_plan(1, host_open_key(&h, NT_ALLREDUCE, SIZE) + 3, &final);
	own = host_own_key(&h, NT_ALLREDUCE, SIZE);
	host_commit(host_key(&h, NT_ALLREDUCE, SIZE), &plan);
	for (int i = 0; i < 5; i++)
		host_collective(&h, NT_ALLREDUCE, OTHER);
	wait_for_mask(&h, 0);
	assert_int_equal(atomic_load(&own->decision.commits), 1);
	for (int i = 0; i < 40; i++) {
		host_collective(&h, NT_ALLREDUCE, OTHER);
		assert_int_equal(host_collective(&h, NT_ALLREDUCE, SIZE), TREE_SIMPLE);
	}
	assert_int_equal(nt_key_state(own), NT_LOCAL_COMMITTED);
	assert_int_equal(h.mask, 0);
	host_close(&h);
}

/* Committed, or closed for good, and then called too rarely for its last events */
static void a_decided_key_holds_nothing(void **state)
{
	const struct nt_schedule final = host_final(TREE_SIMPLE);
	struct nt_plan plan;
	static struct host h;

	for (int closed = 0; closed < 2; closed++) {
		host_open(&h, "bandit");
		plan = host_plan(1, host_open_key(&h, NT_ALLREDUCE, SIZE), &final);
		if (closed)
			atomic_store(&host_key(&h, NT_ALLREDUCE, SIZE)->state, NT_KEY_CLOSED);
		else
			host_commit(host_key(&h, NT_ALLREDUCE, SIZE), &plan);
		if (!closed)
			host_collective(&h, NT_ALLREDUCE, SIZE);
		assert_int_equal(h.mask, COLL_ON);
		wait_for_mask(&h, 0);
		assert_int_equal(host_collective(&h, NT_ALLREDUCE, SIZE),
				 closed ? RING_SIMPLE : TREE_SIMPLE);
		assert_int_equal(h.mask, 0);
		host_close(&h);
	}
}

UNIT_TESTS(a_rare_key_that_is_observed_holds_nothing, windows_are_short_where_calls_are,
	   the_budget_is_a_share_of_the_predicted_time, an_open_key_rests_and_comes_back,
	   a_key_with_a_plan_ahead_keeps_its_turn, an_arm_is_known_when_its_key_comes_back,
	   a_decided_key_holds_nothing);
