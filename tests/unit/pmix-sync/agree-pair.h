/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* agree-pair.h - two ranks on one or two nodes that read each other's log at once */
#ifndef NT_TEST_AGREE_PAIR_H
#define NT_TEST_AGREE_PAIR_H

#include <sys/wait.h>
#include "tests/lib/unit.h"
#include "pmix-sync/agree.h"
#include "pmix-sync/shm.h"
#include "pmix-sync/turn.h"

#define KEY nt_key_id(NT_ALLREDUCE, 36, 0x3f)

struct pair {
	struct nt_shm *shm[2];
	struct nt_agree *agree[2];
	struct nt_slot slot[2];
	uint32_t nodes;
	uint64_t now_ms, turn;
	struct nt_turn view[2];
	int rounds, asked, absorbed, combined, ended, rechecks;
	int slower; /* bit of each node that sees a slower program, while it steps */
	uint32_t stepping; /* node */
	int last; /* the result of next() at the end of a recheck */
};

static uint32_t join_calls; /* size of what make() creates */
static uint64_t early_calls; /* of a communicator that is reported before that; 0: none */
static bool for_good; /* the first plan of a key is a commit */
static uint64_t window_calls = 6;

static inline bool may_open(void *arg, const struct nt_shm_comm *comm, const struct nt_shm_key *key)
{
	(void)arg;
	(void)comm;
	return atomic_load(&key->calls[0]) > 3;
}

static inline void *start(void *arg, const struct nt_shm_comm *comm, const struct nt_shm_key *key)
{
	(void)key;
	/* The others see that it is agreed. */
	assert_int_equal(atomic_load(&comm->state), NT_COMM_AGREED);
	return arg;
}

static inline int next(void *key, struct nt_plan *plan)
{
	struct pair *p = key;

	plan->payload_bytes = 1;
	plan->payload[0] = (uint8_t)(10 + p->asked);
	plan->until = p->asked++ < p->rounds ? window_calls : NT_NEVER;
	return p->rounds >= 0 && (p->rechecks == 0 || plan->until != NT_NEVER || p->last);
}

static inline bool may_recheck(void *arg, const struct nt_shm_comm *comm,
			       const struct nt_plan *committed)
{
	(void)arg;
	(void)comm;
	return committed->until == NT_NEVER;
}

/* One window with 20, then nothing, or a commit of 21. */
static inline void *start_recheck(void *arg, const struct nt_shm_comm *comm,
				  const struct nt_shm_key *key, const struct nt_plan *committed)
{
	struct pair *p = arg;

	(void)comm;
	assert_int_equal(atomic_load(&key->state), NT_KEY_RECHECK);
	assert_int_equal(committed->payload_bytes, 1);
	p->rechecks++;
	p->asked = 10;
	p->rounds = 11;
	return arg;
}

static inline bool slower(void *arg)
{
	const struct pair *p = arg;

	return p->slower >> p->stepping & 1;
}

static inline bool early(void *arg, const struct nt_shm_comm *comm)
{
	(void)arg;
	return early_calls > 0 && atomic_load(&comm->key[0].calls[0]) >= early_calls;
}

static inline bool ready(void *key)
{
	(void)key;
	return for_good;
}

static inline void absorb(void *key, const uint8_t *bytes, size_t count)
{
	assert_int_equal(count, 1);
	assert_int_equal(bytes[0], 99);
	((struct pair *)key)->absorbed++;
}

static inline void end(void *key)
{
	((struct pair *)key)->ended++;
}

static inline size_t gather(void *arg, const struct nt_shm *shm, const struct nt_plan *plan,
			    uint32_t slots, uint8_t *out, size_t cap)
{
	(void)arg;
	(void)shm;
	(void)plan;
	(void)slots;
	assert_true(cap > 0);
	out[0] = 99;
	return 1;
}

/* The data of two nodes, merged; absorb() checks the value. */
static inline size_t combine(void *arg, uint8_t *sum, size_t count, const uint8_t *bytes,
			     size_t more)
{
	struct pair *p = arg;

	assert_int_equal(count, 1);
	assert_int_equal(more, 1);
	assert_int_equal(sum[0], bytes[0]);
	p->combined++;
	return count;
}

static inline int node_of_task(void *arg, uint32_t task)
{
	(void)arg;
	return task < 2 ? (int)task : -1;
}

static inline const char *node_name(void *arg, uint32_t node)
{
	(void)arg;
	return node ? "n2" : "n1";
}

static uint32_t recheck_ms; /* of the next pairs */

static inline struct pair *make(uint32_t nodes, const struct nt_capabilities *odd)
{
	struct pair *p = calloc(1, sizeof(*p));

	assert_non_null(p);
	p->nodes = nodes;
	p->rounds = 1;
	for (uint32_t n = 0; n < nodes; n++) {
		struct nt_agree_config config = {
			.hooks = { .arg = p,
				   .may_open = may_open,
				   .early = early,
				   .start = start,
				   .next = next,
				   .ready = ready,
				   .absorb = absorb,
				   .end = end,
				   .gather = gather,
				   .combine = combine,
				   .may_recheck = may_recheck,
				   .start_recheck = start_recheck,
				   .slower = slower,
				   .recheck_ms = recheck_ms },
			.self = n,
			.nodes = nodes,
			.tasks = 2,
			.node_of_task = node_of_task,
			.node_name = node_name,
			.join_ms = 1000,
			.join_calls = join_calls,
		};

		p->shm[n] = config.shm = calloc(1, sizeof(struct nt_shm));
		assert_non_null(config.shm);
		p->agree[n] = nt_agree_create(&config, NULL);
		assert_non_null(p->agree[n]);
	}
	for (uint32_t r = 0; r < 2; r++) {
		struct nt_capabilities caps = {
			.rank = (int32_t)r, .task = r, .active = 1, .nccl = 22809
		};

		if (r == 1 && odd)
			caps = *odd;
		assert_int_equal(
			nt_shm_join(p->shm[r % nodes], 77, 2, nodes, &caps, &p->slot[r], NULL), 0);
	}
	return p;
}

static inline void destroy(struct pair *p)
{
	for (uint32_t n = 0; n < p->nodes; n++) {
		nt_agree_destroy(p->agree[n]);
		free(p->shm[n]);
	}
	free(p);
}

/* Node n's log entries reach the other node, then itself. */
static inline void carry(struct pair *p, uint32_t n)
{
	const uint8_t *bytes = NULL;
	size_t count = nt_agree_out(p->agree[n], &bytes);

	if (count == 0 || !bytes)
		return;
	if (p->nodes == 2)
		nt_agree_in(p->agree[1 - n], n, bytes, count, p->now_ms);
	nt_agree_sent(p->agree[n], p->now_ms);
}

static inline void pass(struct pair *p, uint64_t ms)
{
	for (uint64_t end_ms = p->now_ms + ms; p->now_ms < end_ms; p->now_ms += 10) {
		for (uint32_t n = 0; n < p->nodes; n++) {
			p->stepping = n;
			(void)nt_agree_step(p->agree[n], p->now_ms);
			carry(p, n);
		}
	}
}

static inline struct nt_shm_comm *comm_of(struct pair *p, int rank)
{
	return &p->slot[rank].shm->comm[p->slot[rank].comm];
}

/* One collective on both ranks; returns what they follow, 0 for the baseline. Neither may have to
 * wait. */
static inline int collective(struct pair *p)
{
	static const float cost[NT_PAIRS];
	const struct nt_plan *plan;
	int64_t position;
	int follows[2];

	for (int r = 0; r < 2; r++) {
		int slot = nt_shm_key(&p->slot[r], KEY, 5, cost, NT_SHM_KEYS);
		struct nt_shm_key *key = &comm_of(p, r)->key[slot];
		uint32_t m = p->slot[r].index;

		atomic_fetch_add(&key->calls[m], 1);
		follows[r] = 0;
		if (atomic_load(&key->state) == NT_KEY_IDLE)
			continue;
		assert_int_equal(nt_turn_take(key, m, p->turn, &p->view[r]), NT_TURN_GO);
		plan = nt_turn_plan(&p->view[r], p->turn, &position);
		if (plan)
			follows[r] = plan->payload[0];
		/* As a committed rank that its helper thread wakes up. */
		if (plan && plan->until == NT_NEVER && atomic_load(&key->state) != NT_KEY_RECHECK)
			(void)nt_turn_commit(key, m, p->turn, &p->view[r]);
	}
	assert_int_equal(follows[0], follows[1]);
	p->turn++;
	return follows[0];
}

#endif
