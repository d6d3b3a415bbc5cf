/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* again.c - keys with a plan for good are open again now and then, so that their home can
 * measure anew
 *
 * When, every node knows by itself: at times after its first plan for good whose distances
 * double. So nobody has to listen in between, and sessions of all keys of a communicator share
 * the reads. Nodes are never exactly in time; what is asked and answered is what it always is,
 * READY first, so that only time is lost by it. A node may end a session alone whenever it is
 * not in doubt and no window is in force on it: its ranks then follow the plan for good as all
 * others do.
 */
#include "pmix-sync/state.h"

/* Sessions so far, had each been held: they begin again_ms * (2^n - 1) after the first plan for
 * good. */
static uint32_t due(const struct nt_agree *a, const struct agree_comm *comm)
{
	uint64_t past_ms = a->now_ms - comm->settled_ms;
	uint32_t n = 0;

	while (n < 32 && past_ms >= (uint64_t)a->config.hooks.again_ms * ((UINT64_C(2) << n) - 1))
		n++;
	return n;
}

/* Reads cost memory for good: so many a day and no more. */
static bool may_look(const struct nt_agree *a, const struct agree_comm *comm)
{
	uint64_t days = 1 + (a->now_ms - a->began_ms) / NT_DAY_MS;

	return comm->local || (!a->thrifty && a->looks < NT_LOOKS_A_DAY * days);
}

void again_begin(struct nt_agree *a, struct agree_comm *comm)
{
	struct nt_board_comm *board = agree_board(a, comm);
	const struct nt_agree_hooks *hooks = &a->config.hooks;
	uint32_t session;

	if (comm->settled_ms == 0 || !hooks->worth_again || hooks->again_ms == 0 ||
	    comm->refusing || comm->refused)
		return;
	session = due(a, comm);
	if (session == comm->sessions)
		return;
	comm->sessions = session;
	for (uint32_t k = 0; k < comm->key_count && may_look(a, comm); k++) {
		struct agree_key *key = &comm->keys[k];

		if (!key->based || key->again || key->in_doubt || key->data_due ||
		    a->now_ms - key->called_ms >= NT_ACTIVE_MS ||
		    !hooks->worth_again(hooks->arg, board, &key->base))
			continue;
		key->again = true;
		key->again_ready = false;
		key->session = session;
		key->stir_ms = a->now_ms;
		a->counts.sessions++;
		atomic_store(&agree_board_key(a, comm, key)->state, NT_KEY_AGAIN);
	}
}

void again_rest(struct nt_agree *a, struct agree_comm *comm, struct agree_key *key)
{
	key->again = false;
	atomic_store(&agree_board_key(a, comm, key)->state, NT_KEY_FINAL);
}

bool again_step(struct nt_agree *a, struct agree_comm *comm, struct agree_key *key)
{
	if (!key->again)
		return false;
	if (key->in_doubt || key->data_due) {
		key->stir_ms = a->now_ms;
		return false;
	}
	if (comm->refusing || a->now_ms - key->stir_ms >= NT_AGAIN_MS) {
		again_rest(a, comm, key);
		return false;
	}
	return !key->again_ready;
}

/* While a window is in force here nobody has anything to say before this node has. */
bool again_listens(const struct agree_key *key)
{
	return key->again && !key->data_due;
}

bool again_looks(struct nt_agree *a, struct agree_comm *comm)
{
	const uint32_t *child;

	if (a->now_ms - comm->looked_ms < NT_LOOK_MS)
		return false;
	comm->looked_ms = a->now_ms;
	a->looks += tree_children(comm, &child) + !comm->is_home;
	return true;
}
