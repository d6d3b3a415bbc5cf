/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* tuner.c - what the coordinators of nt-agree-sim ask: some keys explore and end with an arm, some
 * close
 *
 * What a node measured is here the number 1, so that the sum that a coordinator gets tells whether
 * each node is in it once.
 */
#include <stdlib.h>
#include <string.h>
#include "lab/sim/sim.h"

#define DATA_BYTES 40 /* as many as an exploration's sums take */

struct tuner_key {
	struct sim *s;
	uint32_t round, rounds, nodes, absorbed;
	uint64_t like; /* the next number for communicators that are alike; 0: draws its own */
	bool keep;
};

static bool may_open(void *arg, const struct nt_shm_comm *comm, const struct nt_shm_key *key)
{
	(void)arg;
	(void)comm;
	for (uint32_t m = 0; m < NT_SHM_SLOTS; m++) {
		if (atomic_load(&key->calls[m]) >= SIM_WORTH_CALLS)
			return true;
	}
	return false;
}

/* Of some communicators. */
static bool early(void *arg, const struct nt_shm_comm *comm)
{
	(void)arg;
	return atomic_load(&comm->id) % 3 == 0 && atomic_load(&comm->key[0].calls[0]) > 0;
}

static uint64_t draw(struct tuner_key *k)
{
	uint64_t x = k->like;

	if (x == 0)
		return sim_draw(k->s);
	k->like = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (x ^ x >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
}

static uint32_t draw_below(struct tuner_key *k, uint32_t bound)
{
	return (uint32_t)(draw(k) >> 32) % bound;
}

static void *start(void *arg, const struct nt_shm_comm *comm, const struct nt_shm_key *key)
{
	struct sim *s = arg;
	struct tuner_key *k = sim_must(calloc(1, sizeof(*k)));
	const struct sim_comm *c = comms_find(s, atomic_load(&comm->id));

	k->s = s;
	k->nodes = c->nodes_used;
	k->like = c->like ? c->like ^ atomic_load(&key->id) << 1 : 0;
	k->rounds = s->o.plain ? 1 : draw_below(k, 4);
	k->keep = !s->o.plain && draw_below(k, 3) == 0;
	return k;
}

static bool may_recheck(void *arg, const struct nt_shm_comm *comm, const struct nt_plan *committed)
{
	(void)arg;
	(void)comm;
	return committed->payload[0] % 8 != 0;
}

static void *start_recheck(void *arg, const struct nt_shm_comm *comm, const struct nt_shm_key *key,
			   const struct nt_plan *committed)
{
	(void)committed;
	return start(arg, comm, key);
}

static int next(void *key, struct nt_plan *plan)
{
	struct tuner_key *k = key;
	uint64_t payload = draw(k);

	k->absorbed = 0;
	plan->payload_bytes = sizeof(payload);
	memcpy(plan->payload, &payload, sizeof(payload));
	if (k->round++ < k->rounds) {
		plan->until = 1 + draw_below(k, 30);
		return 1;
	}
	plan->until = NT_NEVER;
	return k->keep ? 0 : 1;
}

/* Some of the keys that are committed at once need no stride either. */
static bool ready(void *key)
{
	const struct tuner_key *k = key;

	return k->rounds == 0 && !k->keep;
}

static uint64_t nodes_in(const uint8_t *bytes, size_t count)
{
	uint64_t nodes = 0;

	if (count == DATA_BYTES)
		memcpy(&nodes, bytes, sizeof(nodes));
	return nodes;
}

static void absorb(void *key, const uint8_t *bytes, size_t count)
{
	struct tuner_key *k = key;

	k->s->t.shared += k->absorbed++ > 0;
	k->s->t.wrong_sums += nodes_in(bytes, count) != k->nodes;
}

static size_t gather(void *arg, const struct nt_shm *shm, const struct nt_plan *plan,
		     uint32_t slots, uint8_t *out, size_t cap)
{
	const uint64_t one = 1;

	(void)arg;
	(void)shm;
	(void)plan;
	(void)slots;
	if (cap < DATA_BYTES)
		return 0;
	memset(out, 7, DATA_BYTES);
	memcpy(out, &one, sizeof(one));
	return DATA_BYTES;
}

static size_t combine(void *arg, uint8_t *sum, size_t count, const uint8_t *bytes, size_t more)
{
	uint64_t nodes = nodes_in(sum, count) + nodes_in(bytes, more);

	(void)arg;
	if (count == DATA_BYTES)
		memcpy(sum, &nodes, sizeof(nodes));
	return count;
}

struct nt_agree_hooks tuner_hooks(struct sim *s)
{
	return (struct nt_agree_hooks){
		.arg = s,
		.may_open = may_open,
		.early = early,
		.start = start,
		.next = next,
		.ready = ready,
		.absorb = absorb,
		.end = free,
		.gather = gather,
		.combine = combine,
		.may_recheck = may_recheck,
		.start_recheck = start_recheck,
		.recheck_ms = s->recheck_ms,
	};
}
