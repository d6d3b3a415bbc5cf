/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* order.c - which of a node's keys are opened, and when: shared memory with the communicators of a
 *           program, and the home's hooks as the agreement asks them */
#include "tests/lib/unit.h"
#include "pmix-sync/shm.h"
#include "lib/clock.h"
#include "tuner/explorer.h"

#define PROCESSES 8u
#define TP 0u
#define DP 1u /* and seven more */
#define WORLD 9u

/* The first of two nodes. */
struct node {
	struct nt_explorer home;
	struct nt_agree_hooks hooks;
	struct nt_shm *shm;
};

static void add_comm(struct node *n, unsigned at, uint32_t ranks, uint32_t nodes)
{
	struct nt_shm_comm *comm = &n->shm->comm[at];

	atomic_store(&comm->id, 100 + at);
	atomic_store(&comm->ranks, ranks);
	atomic_store(&comm->nodes, nodes);
	atomic_store(&comm->state, NT_COMM_AGREED);
}

static void slot(struct node *n, unsigned at, unsigned member, uint32_t pid)
{
	struct nt_shm_slot *m = &n->shm->comm[at].slot[member];

	atomic_store(&m->pid, pid);
	m->caps.rank = (int32_t)member;
	atomic_store(&m->state, NT_PARTICIPANT_JOINED);
}

static struct nt_shm_key *add_key(struct node *n, unsigned at, unsigned slot, float us)
{
	struct nt_shm_key *key = &n->shm->comm[at].key[slot];

	key->baseline_arm = 5;
	for (unsigned pair = 0; pair < NT_PAIRS; pair++)
		key->cost_us[pair] = us;
	atomic_store(&key->id, nt_key_id(NT_ALLREDUCE, 20 + slot, 0x3f));
	atomic_store(&key->described, 1);
	return key;
}

static void call(struct node *n, unsigned at, unsigned slot, uint64_t calls)
{
	struct nt_shm_comm *comm = &n->shm->comm[at];

	for (unsigned m = 0; m < PROCESSES; m++) {
		if (atomic_load(&comm->slot[m].state) == NT_PARTICIPANT_JOINED)
			atomic_fetch_add(&comm->key[slot].calls[m], calls);
	}
	n->home.shares.looked_ms = 0;
}

/* Tensor parallel on the node, data parallel across nodes, each with a key; a small one of all. */
static void setup(struct node *n)
{
	*n = (struct node){ .shm = calloc(1, sizeof(*n->shm)) };
	assert_non_null(n->shm);
	nt_policy_default(&n->home.engine.policy);
	n->home.engine.policy.min_share_micro = 10000000; /* of predictions 1 % */
	n->home.engine.policy.mode = NT_MODE_BANDIT;
	n->home.shm = n->shm;
	n->hooks = nt_explorer_hooks(&n->home);
	add_comm(n, TP, PROCESSES, 1);
	add_comm(n, WORLD, 2 * PROCESSES, 2);
	add_key(n, TP, 0, 100);
	add_key(n, WORLD, 0, 30);
	for (unsigned p = 0; p < PROCESSES; p++) {
		slot(n, TP, p, 1000 + p);
		slot(n, WORLD, p, 1000 + p);
		add_comm(n, DP + p, 2, 2);
		slot(n, DP + p, 0, 1000 + p);
		add_key(n, DP + p, 0, 5000);
		add_key(n, DP + p, 1, 5000);
	}
}

static void step(struct node *n, uint64_t steps)
{
	call(n, TP, 0, 40 * steps);
	call(n, WORLD, 0, steps);
	for (unsigned p = 0; p < PROCESSES; p++) {
		call(n, DP + p, 0, steps);
		call(n, DP + p, 1, steps);
	}
}

static bool opens(const struct node *n, unsigned at, unsigned slot)
{
	const struct nt_shm_comm *comm = &n->shm->comm[at];

	return n->hooks.may_open(n->hooks.arg, comm, &comm->key[slot]);
}

static void set_state(struct node *n, unsigned at, unsigned slot, enum nt_key_state state)
{
	atomic_store(&n->shm->comm[at].key[slot].state, state);
}

/* 16 keys of eight groups at once; a key that is called once a step with four bytes is never opened
 * and delays no others. */
static void groups_are_opened_together_and_the_unworthy_never(void **state)
{
	struct node n;

	setup(&n);
	step(&n, 1);
	assert_true(opens(&n, TP, 0));
	assert_false(opens(&n, DP, 0)); /* not called so often yet */
	step(&n, 30);
	assert_false(opens(&n, DP, 0)); /* the other is worth as much, and will be open */
	set_state(&n, TP, 0, NT_KEY_OPEN);
	assert_false(opens(&n, DP, 0)); /* in whose times it would be */
	n.home.began_us = nt_clock_us() - 1000000;
	assert_false(opens(&n, DP, 0)); /* called often enough to wait */
	n.home.began_us = nt_clock_us() - 20000000;
	assert_true(opens(&n, DP, 0)); /* cannot be decided in a minute if it waits */
	n.home.began_us = 0;
	set_state(&n, TP, 0, NT_KEY_COMMITTED);
	for (unsigned p = 0; p < PROCESSES; p++) {
		for (unsigned slot = 0; slot < 2; slot++) {
			assert_true(opens(&n, DP + p, slot));
			set_state(&n, DP + p, slot, NT_KEY_OPEN);
			n.home.engine.open++;
		}
	}
	assert_false(opens(&n, WORLD, 0));
	for (unsigned p = 0; p < PROCESSES; p++) {
		set_state(&n, DP + p, 0, NT_KEY_CLOSED);
		set_state(&n, DP + p, 1, NT_KEY_CLOSED);
	}
	n.home.engine.open = 0;
	step(&n, 1000);
	assert_false(opens(&n, WORLD, 0)); /* still not worth it */
	free(n.shm);
}

static void what_grows_becomes_worth_it(void **state)
{
	struct node n;

	setup(&n);
	step(&n, 30);
	set_state(&n, TP, 0, NT_KEY_COMMITTED);
	assert_false(opens(&n, WORLD, 0));
	call(&n, WORLD, 0, 500);
	assert_true(opens(&n, WORLD, 0));
	n.home.engine.policy.min_share_micro = 90000000;
	assert_false(opens(&n, WORLD, 0));
	n.home.engine.policy.min_share_micro = 0;
	assert_true(opens(&n, WORLD, 0));
	free(n.shm);
}

/* Time counts for each process: a group with one rank here is not worth only an eighth. */
static void a_share_is_of_the_processes_that_call(void **state)
{
	struct node n;

	setup(&n);
	step(&n, 30);
	nt_key_shares_update(&n.home.shares, n.shm, 1);
	for (unsigned p = 0; p < PROCESSES; p++) {
		const struct nt_shm_key *key = &n.shm->comm[DP + p].key[0];
		const struct nt_share share = nt_key_shares_of(&n.home.shares, n.shm, DP + p, key);

		assert_float_equal(share.us, 30 * 5000, 1);
		assert_float_equal(share.of_us, 30 * (40 * 100 + 2 * 5000 + 30), 1);
	}
	/* One process with all ranks: each has its part. */
	for (unsigned p = 0; p < PROCESSES; p++) {
		slot(&n, TP, p, 1);
		slot(&n, WORLD, p, 1);
		slot(&n, DP + p, 0, 1);
	}
	nt_key_shares_update(&n.home.shares, n.shm, 2);
	assert_float_equal(n.home.shares.of_us[DP], 30 * (40 * 100 + 2 * 5000 + 30), 1);
	free(n.shm);
}

/* The key with the highest worth, called once a step, does not delay one that is called forty
 * times. */
static void the_rare_hold_nobody(void **state)
{
	struct node n;

	setup(&n);
	step(&n, 30);
	set_state(&n, DP, 0, NT_KEY_OPEN);
	assert_true(opens(&n, TP, 0));
	free(n.shm);
}

/* If slots are scarce, the keys with the highest worth get them. */
static void the_most_worthy_are_opened_first(void **state)
{
	const unsigned places = 3;
	struct node n;

	setup(&n);
	set_state(&n, TP, 0, NT_KEY_COMMITTED);
	for (unsigned slot = 2; slot < 10; slot++)
		add_key(&n, DP, slot, (float)(5 << 2 * slot));
	for (unsigned slot = 2; slot < 10; slot++)
		call(&n, DP, slot, 30);
	n.home.engine.policy.min_share_micro = 0;
	while (opens(&n, DP, 2)) /* until it is not among those that are left */
		n.home.engine.open++;
	n.home.engine.open += 8 - 1 - places;
	for (unsigned slot = 2; slot < 10; slot++)
		assert_int_equal(opens(&n, DP, slot), slot >= 10 - places);
	free(n.shm);
}

/* A process with all ranks of the node: its groups have a rank each of eight, its other
 * communicators all. */
static void threads_are_told_apart_by_their_number(void **state)
{
	const struct nt_shm_comm *comm;
	struct node n;

	setup(&n);
	for (unsigned p = 0; p < PROCESSES; p++) {
		slot(&n, TP, p, 1);
		slot(&n, WORLD, p, 1);
		slot(&n, DP + p, 0, 1);
	}
	comm = n.shm->comm;
	assert_false(nt_shm_share_gpu(n.shm, &comm[DP], &comm[DP + 1]));
	assert_true(nt_shm_share_gpu(n.shm, &comm[DP], &comm[TP]));
	assert_true(nt_shm_share_gpu(n.shm, &comm[TP], &comm[WORLD]));
	slot(&n, DP, 0, 2); /* another process's */
	assert_false(nt_shm_share_gpu(n.shm, &comm[DP], &comm[TP]));
	free(n.shm);
}

/* Two communicators of the same processes, called alike: one after the other. */
static void what_would_be_in_each_others_times_takes_turns(void **state)
{
	void *key;
	struct node n;

	setup(&n);
	set_state(&n, TP, 0, NT_KEY_CLOSED);
	add_key(&n, WORLD, 1, 5000);
	step(&n, 30);
	call(&n, WORLD, 1, 30);
	assert_true(opens(&n, WORLD, 1)); /* of equal ones the larger first */
	assert_false(opens(&n, DP, 0));
	call(&n, WORLD, 1, 1);
	call(&n, DP, 0, 60);
	assert_true(opens(&n, DP, 0)); /* worth more by now */
	key = n.hooks.start(n.hooks.arg, &n.shm->comm[WORLD], &n.shm->comm[WORLD].key[1]);
	assert_non_null(key);
	assert_false(opens(&n, DP,
			   0)); /* here it is open, though the shared memory does not say so yet */
	n.hooks.end(key);
	assert_true(opens(&n, DP, 0));
	set_state(&n, WORLD, 1, NT_KEY_OPEN);
	assert_false(opens(&n, DP, 0));
	atomic_store(&n.shm->comm[WORLD].state, NT_COMM_JOINING);
	assert_true(opens(&n, DP, 0));
	atomic_store(&n.shm->comm[WORLD].state, NT_COMM_AGREED);
	call(&n, DP, 0, 40 * (uint64_t)n.home.engine.policy.min_calls);
	call(&n, WORLD, 1, 40 * (uint64_t)n.home.engine.policy.min_calls);
	assert_true(opens(&n, DP, 0)); /* not forever */
	free(n.shm);
}

UNIT_TESTS(groups_are_opened_together_and_the_unworthy_never, what_grows_becomes_worth_it,
	   a_share_is_of_the_processes_that_call, the_rare_hold_nobody,
	   the_most_worthy_are_opened_first, threads_are_told_apart_by_their_number,
	   what_would_be_in_each_others_times_takes_turns);
