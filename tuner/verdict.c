/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* verdict.c - what the board says, or said, of a communicator and its keys (comm.h) */
#include <stdio.h>
#include "tuner/comm.h"

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

/* Pairs with the release in nt_comm_settle(). */
static bool own_outcome(const struct nt_own_key *key, struct nt_outcome *outcome)
{
	uint32_t settled = atomic_load_explicit(&key->settled, memory_order_acquire);

	if (settled > 0)
		*outcome = key->outcome[settled & 1];
	return settled > 0;
}

bool nt_comm_key_verdict(const struct nt_comm *comm, const struct nt_own_key *key, uint32_t *state,
			 struct nt_outcome *outcome)
{
	if (!key->shared) {
		*state = NT_KEY_IDLE;
		return false;
	}
	if (comm->left) {
		*state = key->kept_state;
		if (key->kept_decided)
			*outcome = key->kept;
		return key->kept_decided;
	}
	*state = atomic_load_explicit(&key->shared->state, memory_order_acquire);
	if (own_outcome(key, outcome))
		return true;
	return board_outcome(key->shared, *state, outcome);
}

uint32_t nt_comm_verdict(const struct nt_comm *comm, const char **why)
{
	*why = "";
	if (!comm->board)
		return NT_COMM_JOINING;
	*why = comm->left ? comm->kept_why : comm->board->why;
	return comm->left ? comm->kept_state
			  : atomic_load_explicit(&comm->board->state, memory_order_acquire);
}

/* The slot on the board may be another communicator's soon: what it says of this one is kept, and
 * nobody looks there any more. */
void nt_comm_leave_board(struct nt_comm *comm)
{
	const char *why;

	pthread_mutex_lock(&comm->session->lock);
	comm->kept_state = nt_comm_verdict(comm, &why);
	if (comm->kept_state == NT_COMM_REJECTED)
		snprintf(comm->kept_why, sizeof(comm->kept_why), "%s", why);
	for (unsigned i = 0; i < NT_OWN_KEYS; i++) {
		struct nt_own_key *key = &comm->key[i];

		key->kept_decided = nt_comm_key_verdict(comm, key, &key->kept_state, &key->kept);
	}
	nt_slot_forget(&comm->session->slots, comm);
	comm->left = true;
	pthread_mutex_unlock(&comm->session->lock);
	nt_board_leave(&comm->seat);
}
