/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* standing.c - see standing.h */
#include "tuner/standing.h"

#include <stdio.h>

static bool board_outcome(struct nt_board_key *shared, uint32_t state, struct nt_outcome *outcome)
{
	struct nt_schedule schedule;
	const struct nt_plan *plan;

	if (state == NT_KEY_COMMITTED || state == NT_KEY_RECHECK) {
		/* A rank that has not come there yet: no other plan follows before it has. */
		plan = &shared->plan[atomic_load_explicit(&shared->epoch, memory_order_acquire) &
				     1];
		if (nt_schedule_read(&schedule, plan->payload, plan->payload_bytes) < 0)
			return false;
	} else if (state != NT_KEY_CLOSED ||
		   nt_schedule_read(&schedule, shared->result, shared->result_bytes) < 0) {
		return false;
	}
	*outcome = schedule.outcome;
	return true;
}

bool nt_standing_of_key(const struct nt_comm *comm, const struct nt_own_key *key, uint32_t *state,
			struct nt_outcome *outcome)
{
	struct nt_board_key *shared = key->fixed.shared;

	if (!shared) {
		*state = NT_KEY_IDLE;
		return false;
	}
	if (comm->kept.left) {
		*state = key->kept.state;
		if (key->kept.decided)
			*outcome = key->kept.outcome;
		return key->kept.decided;
	}
	*state = atomic_load_explicit(&shared->state, memory_order_acquire);
	return nt_key_commits(key, outcome) > 0 || board_outcome(shared, *state, outcome);
}

/* The plan that the nodes agreed on last. It may be written anew once another one has been agreed
 * on, and this thread may be slow: then there is none to be told of now. */
static bool newest_plan(const struct nt_board_key *shared, struct nt_plan *plan)
{
	uint32_t epoch = atomic_load_explicit(&shared->epoch, memory_order_acquire);

	if (epoch == 0)
		return false;
	*plan = shared->plan[epoch & 1];
	atomic_thread_fence(memory_order_acquire);
	return atomic_load_explicit(&shared->epoch, memory_order_relaxed) == epoch;
}

/* Calls of the plan that a rank has made whose turn is that. */
static uint32_t gone_by(const struct nt_plan *plan, uint64_t turn, uint32_t calls)
{
	uint64_t cells;

	if (turn == NT_TURN_UNKNOWN || turn - 1 < plan->at || plan->stride == 0)
		return 0;
	if (turn - 1 >= plan->until)
		return calls;
	cells = (turn - 1 - plan->at) / plan->stride;
	cells *= plan->cell > 1 ? plan->cell : 1;
	return cells < calls ? (uint32_t)cells : calls;
}

bool nt_standing_round(const struct nt_comm *comm, const struct nt_own_key *key,
		       struct nt_round *round)
{
	const struct nt_board_key *shared = key->fixed.shared;
	struct nt_schedule schedule;
	struct nt_plan plan;
	uint32_t state;

	if (!shared || comm->kept.left)
		return false;
	state = atomic_load_explicit(&shared->state, memory_order_acquire);
	if ((state != NT_KEY_OPEN && state != NT_KEY_RECHECK) || !newest_plan(shared, &plan) ||
	    plan.until == NT_NEVER ||
	    nt_schedule_read(&schedule, plan.payload, plan.payload_bytes) < 0)
		return false;
	round->kind = schedule.kind;
	round->arms = schedule.count;
	round->calls = nt_schedule_positions(&schedule);
	round->done = gone_by(
		&plan,
		atomic_load_explicit(&shared->turn[comm->fixed.seat.member], memory_order_relaxed),
		round->calls);
	return true;
}

uint32_t nt_standing(const struct nt_comm *comm, const char **why)
{
	*why = "";
	if (!comm->fixed.board)
		return NT_COMM_JOINING;
	*why = comm->kept.left ? comm->kept.why : comm->fixed.board->why;
	return comm->kept.left
		       ? comm->kept.state
		       : atomic_load_explicit(&comm->fixed.board->state, memory_order_acquire);
}

uint32_t nt_standing_flags(const struct nt_comm *comm)
{
	uint32_t flags = nt_comm_frozen(comm) ? NT_MEMBER_GRAPHS : 0;

	if (!comm->fixed.board)
		return flags;
	if (comm->kept.left)
		return flags | comm->kept.flags;
	for (unsigned m = 0; m < NT_BOARD_MEMBERS; m++)
		flags |= atomic_load(&comm->fixed.board->member[m].flags);
	return flags;
}

/* The slot on the board may be another communicator's soon: what it says of this one is kept, and
 * nobody looks there any more. */
void nt_standing_leave(struct nt_comm *comm)
{
	struct nt_process *process = comm->fixed.process;
	const char *why;

	pthread_mutex_lock(&process->lock);
	comm->kept.state = nt_standing(comm, &why);
	if (comm->kept.state == NT_COMM_REJECTED)
		snprintf(comm->kept.why, sizeof(comm->kept.why), "%s", why);
	comm->kept.flags = nt_standing_flags(comm);
	for (unsigned i = 0; i < nt_comm_keys(comm); i++) {
		struct nt_own_key *key = &comm->key[i];

		key->kept.decided = nt_standing_of_key(comm, key, &key->kept.state,
						       &key->kept.outcome);
	}
	nt_slot_forget(&process->slots, comm);
	comm->kept.left = true;
	pthread_mutex_unlock(&process->lock);
	nt_board_leave(&comm->fixed.seat);
}
