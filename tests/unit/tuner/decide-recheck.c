/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* decide-recheck.c - a rank's decisions while a committed plan is rechecked */
#include <time.h>
#include "tests/unit/tuner/decide-host.h"

#define SIZE 262144u
#define COLL_ON ((int)(NT_PROF_COLL | NT_PROF_KERNEL_LAUNCH | NT_PROF_P2P_API))

/* Shared memory has a key open for a recheck: the helper thread sees it within a round. */
static void open_again(struct host *h, struct nt_shm_key *key, struct nt_local_key *own)
{
	const struct timespec pause = { .tv_nsec = 10000000 };

	for (int i = 0; i < 50; i++) /* a round of that thread in which it was not open */
		nanosleep(&pause, NULL);
	atomic_store(&key->state, NT_KEY_RECHECK);
	for (int i = 0; i < 500 && nt_key_state(own) == NT_LOCAL_COMMITTED; i++)
		nanosleep(&pause, NULL);
	assert_int_equal(nt_key_state(own), NT_LOCAL_RECHECK);
	assert_int_equal(atomic_load(&key->turn[0]), NT_TURN_UNKNOWN);
	for (int i = 0; i < 3; i++) /* the arm stays while the turn is unknown, and afterwards */
		assert_int_equal(host_collective(h, NT_ALLREDUCE, SIZE), TREE_SIMPLE);
	assert_int_equal(h->mask, COLL_ON);
	assert_int_equal(atomic_load(&key->turn[0]), h->seq[NT_ALLREDUCE]);
}

static void latch_tree(struct host *h, struct nt_shm_key **key, struct nt_local_key **own)
{
	const struct nt_schedule final = host_final(TREE_SIMPLE);
	struct nt_plan plan;

	host_open(h, "bandit");
	plan = host_plan(1, host_open_key(h, NT_ALLREDUCE, SIZE) + 3, &final);
	*key = host_key(h, NT_ALLREDUCE, SIZE);
	*own = host_own_key(h, NT_ALLREDUCE, SIZE);
	host_commit(*key, &plan);
	for (int i = 0; i < 100; i++)
		host_collective(h, NT_ALLREDUCE, SIZE);
	assert_int_equal(h->mask, 0);
	assert_int_equal(nt_key_state((*own)), NT_LOCAL_COMMITTED);
	assert_int_equal(atomic_load(&(*key)->turn[0]), NT_TURN_UNKNOWN);
}

static const struct nt_schedule second_look = { .kind = NT_SCHEDULE_RECHECK,
						.count = 2,
						.blocks = 5,
						.arm = { NT_ARM_BASELINE, TREE_SIMPLE } };

/* A window over the arm, then the arm again, or the baseline from then on. */
static void a_second_look_ends_where_it_says(void **state)
{
	struct nt_schedule back = host_final(NT_ARM_BASELINE);
	struct nt_local_key *own;
	struct nt_shm_key *key;
	struct nt_plan plan;
	static struct host h;

	latch_tree(&h, &key, &own);
	open_again(&h, key, own);
	plan = host_plan(2, h.seq[NT_ALLREDUCE] + 2, &second_look);
	plan.run = 3;
	atomic_store(&h.process.map.shm->run[3].owner, host_owner(&h, key));
	host_commit(key, &plan);
	for (uint64_t turn = h.seq[NT_ALLREDUCE]; turn < plan.until + 3; turn++) {
		int arm = nt_schedule_arm(&second_look, 2, (int64_t)turn - (int64_t)plan.at);
		bool inside = turn >= plan.at && turn < plan.until;

		if (inside && arm == NT_ARM_BASELINE)
			assert_int_equal(host_collective(&h, NT_ALLREDUCE, SIZE), RING_SIMPLE);
		else
			assert_int_equal(host_collective(&h, NT_ALLREDUCE, SIZE), TREE_SIMPLE);
		assert_int_equal((h.mask & ~COLL_ON) != 0, turn < plan.until);
	}
	assert_int_equal(atomic_load(&h.process.map.shm->run[3].issued[0]), 10);
	assert_int_equal(atomic_load(&own->decision.rechecks), 1);
	atomic_store(&key->state, NT_KEY_COMMITTED); /* it rests */
	for (int i = 0; i < 100; i++)
		assert_int_equal(host_collective(&h, NT_ALLREDUCE, SIZE), TREE_SIMPLE);
	assert_int_equal(h.mask, 0);
	assert_int_equal(atomic_load(&key->turn[0]), NT_TURN_UNKNOWN);
	open_again(&h, key, own);
	plan = host_plan(3, h.seq[NT_ALLREDUCE] + 1, &back);
	host_commit(key, &plan);
	assert_int_equal(host_collective(&h, NT_ALLREDUCE, SIZE), TREE_SIMPLE);
	for (int i = 0; i < 100; i++)
		assert_int_equal(host_collective(&h, NT_ALLREDUCE, SIZE), RING_SIMPLE);
	assert_int_equal(h.mask, 0);
	assert_int_equal(atomic_load(&own->decision.rollbacks), 1);
	assert_int_equal(atomic_load(&own->decision.commits), 2);
	assert_true(atomic_load(&own->decision.saved_us) > 0);
	host_close(&h);
}

/* A capture, or a hold, while the key is open again. */
static void a_second_look_is_cut_short(void **state)
{
	struct nt_local_key *own;
	struct nt_shm_key *key;
	struct nt_plan plan;
	static struct host h;

	latch_tree(&h, &key, &own);
	open_again(&h, key, own);
	atomic_store(&key->hold_at, h.seq[NT_ALLREDUCE] + 1000);
	atomic_store(&key->state, NT_KEY_COMMITTED);
	for (int i = 0; i < 50; i++)
		assert_int_equal(host_collective(&h, NT_ALLREDUCE, SIZE), TREE_SIMPLE);
	/* A recheck depends on this rank: it does not rest. */
	assert_int_equal(nt_key_state(own), NT_LOCAL_OPEN);
	assert_int_equal(atomic_load(&key->turn[0]), h.seq[NT_ALLREDUCE]);
	plan = host_plan(2, h.seq[NT_ALLREDUCE], &second_look);
	key->plan[0] = plan;
	atomic_store(&key->epoch, 2);
	atomic_store(&key->hold_at, 0);
	host_collective(&h, NT_ALLREDUCE, SIZE);
	assert_int_equal(atomic_load(&key->passed[0]), 2);
	nt_event_call(h.comm, true);
	for (int i = 0; i < 50; i++)
		assert_int_equal(host_collective(&h, NT_ALLREDUCE, SIZE), TREE_SIMPLE);
	assert_int_equal(nt_key_state(own), NT_LOCAL_COMMITTED);
	assert_int_equal(h.mask, 0);
	assert_true(atomic_load(&key->turn[0]) == NT_TURN_GONE);
	host_close(&h);
}

UNIT_TESTS(a_second_look_ends_where_it_says, a_second_look_is_cut_short);
