/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* agree-siblings.c - two communicators of two ranks on one node, called beside each other */
#include "tests/lib/unit.h"
#include "pmix-sync/agree.h"
#include "pmix-sync/shm.h"
#include "pmix-sync/turn.h"

#define KEY nt_key_id(NT_ALLREDUCE, 36, 0x3f)
#define GROUPS 2u
#define ROUNDS 2u
#define TOLD_MAX 4u

struct group {
	struct nt_slot slot[2];
	struct nt_turn view[2];
	uint64_t turn, at[ROUNDS + 1];
	uint32_t epoch[ROUNDS + 1];
	unsigned asked, absorbed, told[TOLD_MAX]; /* owners of the times, in order */
	bool follows; /* a commit */
};

struct node {
	struct nt_shm *shm;
	struct nt_agree *agree;
	struct group group[GROUPS];
	uint64_t now_ms;
};

static bool may_open(void *arg, const struct nt_shm_comm *comm, const struct nt_shm_key *key)
{
	(void)arg;
	(void)comm;
	return atomic_load(&key->calls[0]) > 3;
}

static void *start(void *arg, const struct nt_shm_comm *comm, const struct nt_shm_key *key)
{
	struct node *n = arg;

	(void)key;
	return &n->group[atomic_load(&comm->id) - 70];
}

static int next(void *key, struct nt_plan *plan)
{
	struct group *g = key;

	plan->payload_bytes = 1;
	plan->payload[0] = (uint8_t)(10 + g->asked);
	plan->until = g->asked++ < ROUNDS ? 6 : NT_NEVER;
	return 1;
}

static void absorb(void *key, const uint8_t *bytes, size_t count)
{
	struct group *g = key;

	assert_int_equal(count, 1);
	if (g->absorbed < TOLD_MAX)
		g->told[g->absorbed] = bytes[0];
	g->absorbed++;
}

static void end(void *key)
{
	(void)key;
}

/* Whose times: the communicator is that of the run's owner. */
static size_t gather(void *arg, const struct nt_shm *shm, const struct nt_plan *plan,
		     uint32_t slots, uint8_t *out, size_t cap)
{
	const uint32_t owner = atomic_load(&shm->run[plan->run].owner);

	(void)arg;
	(void)slots;
	assert_true(cap > 0);
	out[0] = (uint8_t)(atomic_load(&shm->comm[(owner - 1) / NT_SHM_KEYS].id) - 70);
	return 1;
}

static struct node *make(bool one_process)
{
	struct node *n = calloc(1, sizeof(*n));
	struct nt_agree_config config = { .hooks = { .arg = n,
						     .may_open = may_open,
						     .start = start,
						     .next = next,
						     .absorb = absorb,
						     .end = end,
						     .gather = gather },
					  .nodes = 1,
					  .tasks = 1,
					  .join_ms = 1000 };

	assert_non_null(n);
	config.shm = n->shm = calloc(1, sizeof(*n->shm));
	assert_non_null(n->shm);
	n->agree = nt_agree_create(&config, NULL);
	assert_non_null(n->agree);
	for (uint32_t i = 0; i < 2 * GROUPS; i++) {
		struct nt_capabilities caps = { .rank = (int32_t)i % 2,
						.active = 1,
						.nccl = 22809 };
		struct nt_slot *slot = &n->group[i / 2].slot[i % 2];

		assert_int_equal(nt_shm_join(n->shm, 70 + i / 2, 2, 1, &caps, slot, NULL), 0);
		atomic_store(&n->shm->comm[slot->comm].slot[slot->index].pid,
			     one_process ? 1 : 1 + i);
	}
	return n;
}

static void destroy(struct node *n)
{
	nt_agree_destroy(n->agree);
	free(n->shm);
	free(n);
}

static struct nt_shm_key *key_of(struct node *n, struct group *g)
{
	static const float cost[NT_PAIRS];

	return &n->shm->comm[g->slot[0].comm]
			.key[nt_shm_key(&g->slot[0], KEY, 5, cost, NT_SHM_KEYS)];
}

static void collective(struct node *n, struct group *g)
{
	struct nt_shm_key *key = key_of(n, g);
	const struct nt_plan *plan;
	int64_t position;

	for (int r = 0; r < 2; r++) {
		const uint32_t m = g->slot[r].index;

		atomic_fetch_add(&key->calls[m], 1);
		if (atomic_load(&key->state) == NT_KEY_IDLE)
			continue;
		assert_int_equal(nt_turn_take(key, m, g->turn, &g->view[r]), NT_TURN_GO);
		plan = nt_turn_plan(&g->view[r], g->turn, &position);
		if (!plan)
			continue;
		assert_in_range(plan->payload[0], 10, 10 + ROUNDS);
		g->at[plan->payload[0] - 10] = plan->at;
		g->epoch[plan->payload[0] - 10] = plan->epoch;
		g->follows = plan->until == NT_NEVER;
	}
	g->turn++;
}

static void pass(struct node *n, uint64_t ms)
{
	for (uint64_t end_ms = n->now_ms + ms; n->now_ms < end_ms; n->now_ms += 10) {
		const uint8_t *bytes;

		(void)nt_agree_step(n->agree, n->now_ms);
		if (nt_agree_out(n->agree, &bytes) > 0)
			nt_agree_sent(n->agree, n->now_ms);
	}
}

/* Steps of a program in which the second group is a little late each time, and one call behind. */
static void run(struct node *n, unsigned steps)
{
	for (unsigned i = 0; i < steps; i++) {
		collective(n, &n->group[0]);
		pass(n, 20);
		if (i > 0)
			collective(n, &n->group[1]);
		pass(n, 40);
	}
}

static void plans_begin_together_and_times_are_told_to_all(void **state)
{
	struct node *n = make(false);

	run(n, 100);
	for (unsigned g = 0; g < GROUPS; g++) {
		assert_true(n->group[g].follows);
		assert_int_equal(n->group[g].absorbed, ROUNDS * GROUPS);
	}
	for (unsigned i = 0; i <= ROUNDS; i++) {
		assert_int_equal(n->group[0].at[i], n->group[1].at[i]);
		assert_int_equal(n->group[0].epoch[i], n->group[1].epoch[i]);
	}
	assert_int_equal(n->group[0].told[0] + n->group[0].told[1], 1);
	assert_int_equal(n->group[1].told[0] + n->group[1].told[1], 1);
	destroy(n);
}

static void those_of_one_process_are_explored_alone(void **state)
{
	struct node *n = make(true);

	run(n, 100);
	for (unsigned g = 0; g < GROUPS; g++) {
		assert_true(n->group[g].follows);
		assert_int_equal(n->group[g].absorbed, ROUNDS);
		assert_int_equal(n->group[g].told[0], g);
	}
	destroy(n);
}

/* The others wait for it, but not forever; and it may come back and be decided. */
static void one_that_falls_silent_holds_the_other_a_moment(void **state)
{
	struct node *n = make(false);

	run(n, 16);
	assert_int_equal(n->group[0].asked, 1);
	assert_int_equal(n->group[1].asked, 1);
	for (unsigned i = 0; i < 400; i++) {
		collective(n, &n->group[0]);
		pass(n, 60);
	}
	assert_true(n->group[0].follows);
	assert_false(n->group[1].follows);
	run(n, 200);
	assert_true(n->group[1].follows);
	destroy(n);
}

UNIT_TESTS(plans_begin_together_and_times_are_told_to_all, those_of_one_process_are_explored_alone,
	   one_that_falls_silent_holds_the_other_a_moment);
