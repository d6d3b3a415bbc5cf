/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "pmix-sync/pending.h"

#include "pmix-sync/recheck-timer.h"
#include "pmix-sync/tree.h"
#include "pmix-sync/view.h"

static bool key_pending(struct nt_agree *a, struct nt_agree_comm *comm,
			const struct nt_agree_key *key)
{
	struct nt_shm_comm *shm = nt_view_comm(a, comm);

	if (key->coordinator == NT_COORDINATOR_PROPOSED)
		return true;
	if (nt_view_silent(a, key))
		/* nothing happens on any node before its next call */
		return false;
	if (comm->refusing || comm->refused || key->closed)
		return false;
	if (key->committed)
		return key->rechecking;
	if (key->wanted ||
	    (key->coordinator != NT_COORDINATOR_IDLE && key->coordinator != NT_COORDINATOR_DONE))
		return true;
	return key->slot >= 0 &&
	       a->config.hooks.may_open(a->config.hooks.arg, shm, &shm->key[key->slot]);
}

static void hear(struct nt_agree *a, int node, enum nt_agree_need need)
{
	if (node >= 0 && (uint32_t)node != a->config.self && (uint32_t)node < a->config.nodes &&
	    a->listen[node] < need)
		a->listen[node] = (uint8_t)need;
}

/* A node usually announces all its ranks at once. With many nodes the coordinator waits, so that it
 * reads each log once; it has nothing to say before that. */
static void hear_joining(struct nt_agree *a, const struct nt_agree_comm *comm)
{
	if (a->now_ms - comm->seen_ms < NT_GRACE_MS + 2 * (uint64_t)a->config.nodes)
		return;
	for (uint32_t n = 0; comm->expected && n < a->config.nodes; n++) {
		if (comm->expected[n] == 1 || (comm->expected[n] > 1 && comm->widened))
			hear(a, (int)n, NT_AGREE_LISTENS);
	}
}

static enum nt_agree_need need_of(struct nt_agree *a, struct nt_agree_comm *comm,
				  const struct nt_agree_key *key)
{
	if (nt_view_waits(a, comm, key))
		return NT_AGREE_IN_DOUBT;
	if (key->in_doubt)
		return NT_AGREE_OWED;
	return key_pending(a, comm, key) ? NT_AGREE_LISTENS : NT_AGREE_DEAF;
}

/* Other nodes have nothing to say now: in a window all have their times when this node has its own.
 * Reading costs memory, and each read makes later ones rarer. */
static bool may_wait(const struct nt_agree_key *key)
{
	return key->data_due || (key->committed && !nt_recheck_listens(key));
}

/* What its keys need from other nodes: now, and at the next read for rechecks. */
static void note_keys(struct nt_agree *a, struct nt_agree_comm *comm, enum nt_agree_need *now,
		      enum nt_agree_need *next)
{
	for (uint32_t k = 0; comm->agreed && k < comm->key_count; k++) {
		const struct nt_agree_key *key = &comm->keys[k];
		enum nt_agree_need need = need_of(a, comm, key);
		enum nt_agree_need *most = key->committed && need < NT_AGREE_IN_DOUBT ? next : now;

		if (need == NT_AGREE_DEAF)
			continue;
		a->pending = true;
		if (need == NT_AGREE_LISTENS && may_wait(key))
			continue;
		if (need > *most)
			*most = need;
	}
}

void nt_pending_note(struct nt_agree *a, struct nt_agree_comm *comm)
{
	bool joining = !comm->agreed && !comm->rejected && (comm->used || comm->local);
	enum nt_agree_need need = NT_AGREE_DEAF, next = NT_AGREE_DEAF;
	const uint32_t *child;

	note_keys(a, comm, &need, &next);
	a->pending |= joining;
	if (comm->local)
		return;
	if (need < next && nt_recheck_looks(a, comm))
		need = next;
	if (!joining && need == NT_AGREE_DEAF)
		return;
	if (joining) {
		hear_joining(a, comm);
		return;
	}
	hear(a, comm->coordinator_node, need);
	for (uint32_t i = 0, n = nt_tree_children(comm, &child); i < n; i++)
		hear(a, (int)child[i], comm->is_coordinator ? need : NT_AGREE_LISTENS);
}
