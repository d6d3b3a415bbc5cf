/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* turn.h - a rank's side of the agreement: which plan is in force at this turn, or must it wait?
 *
 * The rank publishes its turn, then reads hold_at; the leader sets hold_at, then reads the turns;
 * all four accesses are sequentially consistent. So at every decision at or after hold_at, either
 * the leader sees the turn and refuses, or the rank sees the hold and waits.
 *
 * A window is divided into cells of equally many turns, and cells into positions. In a cell with
 * one position all calls have it. Otherwise the first call of the cell has the first position, the
 * second the second, and excess calls have none; calls are counted as reported tasks of the key's
 * function and band since the cell's first turn. So a position depends only on the turn and on
 * tasks after the plan's `at`, which all ranks have in common (pmix-sync/task-log.h). It must not
 * depend on anything else: a rank may look at a turn twice, or at turns without a call.
 *
 * Threads:  the decision thread of one rank; struct nt_turn is private to it.
 * Memory:   no allocation, no lock, no system call.
 * Units:    turns in tasks of one collective function on one communicator.
 */
#ifndef NT_SYNC_TURN_H
#define NT_SYNC_TURN_H

#include <stdbool.h>
#include "contract/shm-layout.h"
#include "pmix-sync/task-log.h"

#define NT_TURN_EXCESS NT_RUN_POSITIONS /* of a call beyond its cell's positions */

/* What one rank knows of a key's plans. All zero: no plan. */
struct nt_turn {
	const struct nt_task_log *task_log; /* of the key's function */
	unsigned band; /* the key's */
	/* Tasks of the band in the current cell of `plan`, before counted_until. */
	uint32_t counted;
	uint64_t counted_until;
	struct nt_plan plan; /* in force if epoch > 0 and `at` is reached */
	struct nt_plan next; /* agreed on, but not reached; epoch 0: none */
	/* below the window `plan`; epoch 0: the baseline */
	struct nt_plan committed;
};

enum nt_turn_answer { NT_TURN_GO, NT_TURN_WAIT };

/* Take over the newest agreed plan, and switch to it if its turn has come. */
static inline void nt_turn_advance(struct nt_shm_key *key, unsigned slot, uint64_t turn,
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
		atomic_store_explicit(&key->passed[slot], mine->plan.epoch, memory_order_release);
	}
}

/* A decision at a known turn of an open key. WAIT: a proposal covers this turn, and this node does
 * not know its outcome: call again. GO: nt_turn_plan() says what to follow. */
static inline enum nt_turn_answer nt_turn_take(struct nt_shm_key *key, unsigned slot, uint64_t turn,
					       struct nt_turn *mine)
{
	uint64_t hold;

	atomic_store_explicit(&key->turn[slot], turn + 1, memory_order_seq_cst);
	hold = atomic_load_explicit(&key->hold_at, memory_order_seq_cst);
	if (hold != 0 && turn + 1 >= hold)
		return NT_TURN_WAIT;
	nt_turn_advance(key, slot, turn, mine);
	return NT_TURN_GO;
}

/* Calls of the key in this cell before this turn. Looks at each task once. */
static inline uint32_t nt_turn_count(struct nt_turn *mine, uint64_t turn, uint64_t cell_begin)
{
	if (mine->counted_until < cell_begin) {
		mine->counted_until = cell_begin;
		mine->counted = 0;
	}
	if (mine->counted_until < turn) {
		mine->counted += nt_task_log_count(mine->task_log, mine->counted_until, turn,
						   mine->band);
		mine->counted_until = turn;
	}
	return mine->counted;
}

/* Position in the newest plan; -1: none, or it is over. A committed plan has position 0. */
static inline int64_t nt_turn_position(struct nt_turn *mine, uint64_t turn)
{
	const struct nt_plan *plan = &mine->plan;
	uint64_t cell;
	uint32_t count;

	/* Leaders write no stride of 0, but other processes can. */
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

/* The plan to follow at this turn, and the position in it; outside of a window the committed one.
 * NULL: the baseline. */
static inline const struct nt_plan *nt_turn_plan(struct nt_turn *mine, uint64_t turn,
						 int64_t *position)
{
	*position = nt_turn_position(mine, turn);
	if (*position >= 0)
		return &mine->plan;
	*position = 0;
	return mine->committed.epoch != 0 ? &mine->committed : NULL;
}

/* True: a committed plan is in force, and the rank need not read shared memory until a recheck.
 * False: another plan is under way. The rank withdraws its turn, then looks for a hold; the leader
 * does it the other way round, so one of them sees the other. */
static inline bool nt_turn_commit(struct nt_shm_key *key, unsigned slot, uint64_t turn,
				  const struct nt_turn *mine)
{
	if (mine->next.epoch != 0 || (mine->plan.until != NT_NEVER && turn < mine->plan.until))
		return false;
	atomic_store_explicit(&key->turn[slot], NT_TURN_UNKNOWN, memory_order_seq_cst);
	if (atomic_load_explicit(&key->hold_at, memory_order_seq_cst) == 0 &&
	    atomic_load_explicit(&key->epoch, memory_order_seq_cst) == mine->plan.epoch)
		return true;
	atomic_store_explicit(&key->turn[slot], turn + 1, memory_order_seq_cst);
	return false;
}

#endif
