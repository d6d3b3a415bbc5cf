/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* turn.h - a rank's side of the agreement: what plan is in force at this turn, or must it wait
 *
 * The rank publishes its turn before it reads hold_at; the speaker sets hold_at before it reads
 * the turns; all four sequentially consistent. So for any decision at or after hold_at either
 * the speaker saw the turn (and refused), or the rank sees the hold (and waits).
 *
 * A window is cut into cells of so many turns each, and a cell has so many positions. In a cell of
 * one position all calls are at that. Else the first call is at the first position of its cell, the
 * next one at the second, and what is too many at none: by how many tasks of the key's function and
 * band were reported since the cell's first turn. So a position is a function of the turn and of
 * tasks after the plan's `at`, which all ranks have in common (pmix-sync/trail.h), and of nothing
 * else. It must be: a rank may look once more at a turn, or at turns at which it makes no call.
 *
 * Threads:  the decision thread of one rank; struct nt_turn is that rank's own.
 * Memory:   no allocation, no lock, no system call.
 * Units:    turns in tasks of one collective function on one communicator.
 */
#ifndef NT_SYNC_TURN_H
#define NT_SYNC_TURN_H

#include <stdbool.h>
#include "contract/board.h"
#include "pmix-sync/trail.h"

#define NT_TURN_EXCESS NT_RUN_POSITIONS /* the position of a call that a cell has none for */

/* A rank's private view of one key's plans. All zero: nothing planned. */
struct nt_turn {
	const struct nt_trail *trail; /* of the key's function */
	unsigned band; /* the key's */
	/* Tasks of the band in the newest cell of `plan` that was asked for, before this turn. */
	uint32_t counted;
	uint64_t counted_until;
	struct nt_plan plan; /* in force once epoch > 0 and its `at` was reached */
	struct nt_plan next; /* agreed, `at` not reached yet; epoch 0: none */
	/* what `plan`, a window, lies over: the committed plan; epoch 0: AUTO */
	struct nt_plan committed;
};

enum nt_turn_answer { NT_TURN_GO, NT_TURN_WAIT };

/* Take the newest plan that the nodes have agreed on, then move to it if its turn has come. */
static inline void nt_turn_advance(struct nt_board_key *key, unsigned member, uint64_t turn,
				   struct nt_turn *mine)
{
	uint32_t epoch = atomic_load_explicit(&key->epoch, memory_order_acquire);

	if (epoch != mine->plan.epoch && epoch != mine->next.epoch)
		mine->next = key->plan[epoch & 1]; /* stable until this rank has passed it */
	if (mine->next.epoch != 0 && turn >= mine->next.at) {
		if (mine->plan.epoch != 0 && mine->plan.until == NT_NEVER)
			mine->committed = mine->plan;
		mine->plan = mine->next;
		mine->next.epoch = 0;
		mine->counted_until = mine->plan.at;
		mine->counted = 0;
		atomic_store_explicit(&key->passed[member], mine->plan.epoch, memory_order_release);
	}
}

/* A decision at a known turn while the key is open. WAIT: the outcome of a proposal that covers
 * this turn is not known on this node yet; call again until GO. After GO nt_turn_position() says
 * what to follow. */
static inline enum nt_turn_answer nt_turn_take(struct nt_board_key *key, unsigned member,
					       uint64_t turn, struct nt_turn *mine)
{
	uint64_t hold;

	atomic_store_explicit(&key->turn[member], turn + 1, memory_order_seq_cst);
	hold = atomic_load_explicit(&key->hold_at, memory_order_seq_cst);
	if (hold != 0 && turn + 1 >= hold)
		return NT_TURN_WAIT;
	nt_turn_advance(key, member, turn, mine);
	return NT_TURN_GO;
}

/* Calls of the key that came before this turn in its cell. Each task is looked at once. */
static inline uint32_t nt_turn_count(struct nt_turn *mine, uint64_t turn, uint64_t cell_begin)
{
	if (mine->counted_until < cell_begin) {
		mine->counted_until = cell_begin;
		mine->counted = 0;
	}
	if (mine->counted_until < turn) {
		mine->counted += nt_trail_count(mine->trail, mine->counted_until, turn, mine->band);
		mine->counted_until = turn;
	}
	return mine->counted;
}

/* Position in the newest plan, or -1 outside of it (no plan, or its end was reached). A plan for
 * good is at position 0 for ever. */
static inline int64_t nt_turn_position(struct nt_turn *mine, uint64_t turn)
{
	const struct nt_plan *plan = &mine->plan;
	uint64_t cell;
	uint32_t count;

	/* No speaker writes a stride of 0, but others can write to the board. */
	if (plan->epoch == 0 || turn < plan->at || turn >= plan->until || plan->stride == 0)
		return -1;
	if (plan->until == NT_NEVER)
		return 0;
	cell = (turn - plan->at) / plan->stride;
	if (plan->cell <= 1)
		return (int64_t)cell;
	count = nt_turn_count(mine, turn, plan->at + cell * plan->stride);
	return count < plan->cell ? (int64_t)(cell * plan->cell + count) : NT_TURN_EXCESS;
}

/* The plan to follow at this turn and the position in it; NULL: AUTO. Outside of a window it is
 * what the window lies over. */
static inline const struct nt_plan *nt_turn_plan(struct nt_turn *mine, uint64_t turn,
						 int64_t *position)
{
	*position = nt_turn_position(mine, turn);
	if (*position >= 0)
		return &mine->plan;
	*position = 0;
	return mine->committed.epoch != 0 ? &mine->committed : NULL;
}

/* With a plan for good in force: true, and the rank need not look at the board any more until the
 * key is opened for a recheck. False where another plan is under way. First this rank says that
 * its turn is not known, then it looks for a hold; the speaker does the opposite, so that one of
 * the two sees the other. */
static inline bool nt_turn_commit(struct nt_board_key *key, unsigned member, uint64_t turn,
				  const struct nt_turn *mine)
{
	if (mine->next.epoch != 0 || (mine->plan.until != NT_NEVER && turn < mine->plan.until))
		return false;
	atomic_store_explicit(&key->turn[member], NT_TURN_UNKNOWN, memory_order_seq_cst);
	if (atomic_load_explicit(&key->hold_at, memory_order_seq_cst) == 0 &&
	    atomic_load_explicit(&key->epoch, memory_order_seq_cst) == mine->plan.epoch)
		return true;
	atomic_store_explicit(&key->turn[member], turn + 1, memory_order_seq_cst);
	return false;
}

#endif
