/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* turn.h - a rank's side of the agreement: what plan is in force at this turn, or must it wait
 *
 * The rank publishes its turn before it reads hold_at; the speaker sets hold_at before it reads the turns; all four
 * sequentially consistent. So for any decision at or after hold_at either the speaker saw the turn (and refused), or
 * the rank sees the hold (and waits).
 *
 * Threads:  the decision thread of one rank; struct nt_turn is that rank's own.
 * Memory:   no allocation, no lock, no system call.
 * Units:    turns in tasks of one collective function on one communicator.
 */
#ifndef NT_SYNC_TURN_H
#define NT_SYNC_TURN_H

#include <stdbool.h>
#include "contract/board.h"

/* A rank's private view of one key's plans. All zero: nothing planned. */
struct nt_turn {
	struct nt_plan plan;		/* in force once epoch > 0 and its `at` was reached */
	struct nt_plan next;		/* committed, `at` not reached yet; epoch 0: none */
};

enum nt_turn_answer { NT_TURN_GO, NT_TURN_WAIT };

/* Take the plan that is committed newest, then move to it if its turn has come. */
static inline void nt_turn_advance(struct nt_board_key *key, unsigned member, uint64_t turn, struct nt_turn *mine)
{
	uint32_t epoch = atomic_load_explicit(&key->epoch, memory_order_acquire);

	if (epoch != mine->plan.epoch && epoch != mine->next.epoch)
		mine->next = key->plan[epoch & 1];	/* stable until this rank has passed it */
	if (mine->next.epoch != 0 && turn >= mine->next.at) {
		mine->plan = mine->next;
		mine->next.epoch = 0;
		atomic_store_explicit(&key->passed[member], mine->plan.epoch, memory_order_release);
	}
}

/* A decision at a known turn while the key is open. WAIT: the outcome of a proposal that covers this turn is not
 * known on this node yet; call again until GO. After GO nt_turn_position() says what to follow. */
static inline enum nt_turn_answer nt_turn_take(struct nt_board_key *key, unsigned member, uint64_t turn,
					       struct nt_turn *mine)
{
	uint64_t hold;

	atomic_store_explicit(&key->turn[member], turn + 1, memory_order_seq_cst);
	hold = atomic_load_explicit(&key->hold_at, memory_order_seq_cst);
	if (hold != 0 && turn + 1 >= hold)
		return NT_TURN_WAIT;
	nt_turn_advance(key, member, turn, mine);
	return NT_TURN_GO;
}

/* Position in the plan in force, or -1 where AUTO is in force (no plan, or its end was reached). A plan for good is
 * at position 0 for ever. */
static inline int64_t nt_turn_position(const struct nt_turn *mine, uint64_t turn)
{
	const struct nt_plan *plan = &mine->plan;

	if (plan->epoch == 0 || turn < plan->at || turn >= plan->until)
		return -1;
	if (plan->until == NT_NEVER)
		return 0;
	return (int64_t)((turn - plan->at) / plan->stride);
}

#endif
