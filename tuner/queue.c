/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* queue.c - which communicator of a node is explored first
 *
 * A program that uses several communicators in turn, as a group across nodes and one inside, has
 * the time of the one in that of the other: from start to start of a communicator all that the
 * program does in between goes by. Arms that come and go there are noise of tens of percent. So
 * they are explored one after the other, the largest first, which is seen on the boards of all
 * nodes that it is on. Nobody waits for ever: one that is called no more keeps its keys open.
 */
#include "tuner/engine_state.h"

#define PATIENCE 40 /* times min_calls */

static bool before(const struct nt_board_comm *a, const struct nt_board_comm *b)
{
	uint32_t ranks_a = atomic_load(&a->ranks), ranks_b = atomic_load(&b->ranks);

	return ranks_a != ranks_b ? ranks_a > ranks_b : atomic_load(&a->id) < atomic_load(&b->id);
}

/* One that is open, or will be at the next look: none of its ranks' flags speaks against it, and
 * it was called. */
static bool in_front(const struct nt_engine *engine, const struct nt_board_comm *other,
		     bool comes_before)
{
	for (unsigned k = 0; k < NT_BOARD_KEYS; k++) {
		const struct nt_board_key *key = &other->key[k];
		uint32_t state = atomic_load(&key->state);

		if (atomic_load(&key->id) == 0)
			continue;
		if (state == NT_KEY_OPEN)
			return true;
		if (comes_before && state == NT_KEY_IDLE && engine_may_open(engine, other, key))
			return true;
	}
	return false;
}

bool queue_waits(const struct nt_engine *engine, const struct nt_board_comm *comm, uint64_t calls)
{
	if (!engine->board || calls >= PATIENCE * (uint64_t)engine->policy.min_calls)
		return false;
	for (unsigned c = 0; c < NT_BOARD_COMMS; c++) {
		const struct nt_board_comm *other = &engine->board->comm[c];

		if (other != comm && atomic_load(&other->id) != 0 &&
		    atomic_load(&other->state) == NT_COMM_AGREED &&
		    in_front(engine, other, before(other, comm)))
			return true;
	}
	return false;
}
