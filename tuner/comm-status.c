/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tuner/comm-status.h"

#include <string.h>

static bool shm_outcome(struct nt_shm_key *shared, uint32_t state, struct nt_outcome *outcome)
{
	struct nt_schedule schedule;
	const struct nt_plan *plan;

	if (state == NT_KEY_COMMITTED || state == NT_KEY_RECHECK) {
		/* No other plan follows before this rank has reached it. */
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

bool nt_comm_status_of_key(const struct nt_comm *comm, const struct nt_local_key *key,
			   uint32_t *state, struct nt_outcome *outcome)
{
	struct nt_shm_key *shared = key->fixed.shared;

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
	return nt_key_commits(key, outcome) > 0 || shm_outcome(shared, *state, outcome);
}

/* None is returned if another one is agreed on while this one is read. */
static bool newest_plan(const struct nt_shm_key *shared, struct nt_plan *plan)
{
	uint32_t epoch = atomic_load_explicit(&shared->epoch, memory_order_acquire);

	if (epoch == 0)
		return false;
	*plan = shared->plan[epoch & 1];
	atomic_thread_fence(memory_order_acquire);
	return atomic_load_explicit(&shared->epoch, memory_order_relaxed) == epoch;
}

/* The plan's calls that a rank at this turn has made */
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

bool nt_comm_status_round(const struct nt_comm *comm, const struct nt_local_key *key,
			  struct nt_round *round)
{
	const struct nt_shm_key *shared = key->fixed.shared;
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
		atomic_load_explicit(&shared->turn[comm->fixed.slot.index], memory_order_relaxed),
		round->calls);
	return true;
}

uint32_t nt_comm_status(const struct nt_comm *comm, struct nt_reason *why)
{
	const struct nt_shm_comm *shm = comm->fixed.shm;
	uint32_t state;

	nt_reason_set(why, NT_REASON_NONE);
	if (!shm)
		return NT_COMM_JOINING;
	if (comm->kept.left) {
		*why = comm->kept.why;
		return comm->kept.state;
	}
	/* Pairs with the store in set_rejected() of pmix-sync/join.c. */
	state = atomic_load_explicit(&shm->state, memory_order_acquire);
	if (state == NT_COMM_REJECTED)
		nt_reason_read(why, shm->why, strnlen(shm->why, sizeof(shm->why)));
	return state;
}

uint32_t nt_comm_status_flags(const struct nt_comm *comm)
{
	uint32_t flags = nt_comm_frozen(comm) ? NT_PARTICIPANT_GRAPHS : 0;

	if (!comm->fixed.shm)
		return flags;
	if (comm->kept.left)
		return flags | comm->kept.flags;
	for (unsigned m = 0; m < NT_SHM_SLOTS; m++)
		flags |= atomic_load(&comm->fixed.shm->slot[m].flags);
	return flags;
}

uint32_t nt_comm_status_risks(const struct nt_comm *comm)
{
	const uint32_t local = comm->fixed.caps.risks;

	if (!comm->fixed.shm)
		return local;
	return local | (comm->kept.left ? comm->kept.risks : atomic_load(&comm->fixed.shm->risks));
}

/* The slot may soon be reused: keep what it says, and read it no more. */
void nt_comm_status_leave(struct nt_comm *comm)
{
	struct nt_process *process = comm->fixed.process;
	struct nt_reason why;

	pthread_mutex_lock(&process->lock);
	comm->kept.state = nt_comm_status(comm, &why);
	comm->kept.why = why;
	comm->kept.flags = nt_comm_status_flags(comm);
	comm->kept.risks = nt_comm_status_risks(comm);
	for (unsigned i = 0; i < nt_comm_keys(comm); i++) {
		struct nt_local_key *key = &comm->key[i];

		key->kept.decided = nt_comm_status_of_key(comm, key, &key->kept.state,
							  &key->kept.outcome);
	}
	nt_event_slot_forget(&process->slots, comm);
	comm->kept.left = true;
	pthread_mutex_unlock(&process->lock);
	nt_shm_leave(&comm->fixed.slot);
}
