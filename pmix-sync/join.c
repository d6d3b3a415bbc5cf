/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "pmix-sync/join.h"

#include <stdlib.h>
#include <string.h>
#include "pmix-sync/shm.h"
#include "pmix-sync/capabilities.h"
#include "pmix-sync/layout.h"
#include "pmix-sync/outbox.h"
#include "pmix-sync/tree.h"
#include "pmix-sync/view.h"

/* after this time, missing ranks must be on another node */
#define NT_DEAF_MS 1000
#define NT_LIKELY_MS 2000 /* after this time, ranks are looked for on all nodes */
#define NT_WIDE_NODES 64u /* ... of steps with at most so many */
/* most ranks of a communicator: shared memory is not trusted */
#define NT_RANKS_MAX (1u << 20)

static void set_rejected(struct nt_agree *a, struct nt_agree_comm *comm,
			 const struct nt_reason *why)
{
	struct nt_shm_comm *shm = nt_view_comm(a, comm);

	comm->rejected = true;
	a->counts.rejects++;
	memcpy(shm->why, why->text, sizeof(shm->why));
	atomic_store(&shm->state, NT_COMM_REJECTED);
}

static void reject_comm(struct nt_agree *a, struct nt_agree_comm *comm, const struct nt_reason *why)
{
	struct nt_entry entry = { .type = NT_ENTRY_REJECT,
				  .comm = comm->id,
				  .bytes = (const uint8_t *)why->text,
				  .count = strlen(why->text) };

	comm->rejected = true;
	nt_outbox_say(a, comm, &entry);
}

static void reject_for(struct nt_agree *a, struct nt_agree_comm *comm, int id)
{
	struct nt_reason why;

	nt_reason_set(&why, id);
	reject_comm(a, comm, &why);
}

static bool become_coordinator(struct nt_agree *a, struct nt_agree_comm *comm)
{
	if (comm->ranks > NT_RANKS_MAX)
		return false; /* not written by a rank of NCCL */
	/* What an attempt without memory, or an AGREED for others, has left. */
	free(comm->all_caps);
	free(comm->rank_node);
	free(comm->participants);
	comm->all_caps = NULL;
	comm->rank_node = NULL;
	comm->participants = NULL;
	comm->participant_count = 0;
	comm->all_caps = calloc(comm->ranks, sizeof(*comm->all_caps));
	comm->rank_node = malloc(comm->ranks * sizeof(*comm->rank_node));
	comm->participants = calloc(a->config.nodes, sizeof(*comm->participants));
	if (!comm->all_caps || !comm->rank_node || !comm->participants)
		return false;
	for (uint32_t r = 0; r < comm->ranks; r++)
		comm->rank_node[r] = -1;
	free(comm->expected); /* only for finding the coordinator */
	comm->expected = NULL;
	comm->coordinator_node = (int)a->config.self;
	comm->is_coordinator = true;
	return true;
}

/* Coordinator: nodes where the other ranks may be. Others: nodes where the coordinator may be. */
static void expect_nodes(struct nt_agree *a, struct nt_agree_comm *comm, struct nt_shm_comm *shm)
{
	struct nt_layout_slot slot[NT_SHM_SLOTS];
	struct nt_layout layout = { .slot = slot,
				    .ranks = comm->ranks,
				    .self = a->config.self,
				    .nodes = a->config.nodes,
				    .tasks = a->config.tasks,
				    .node_of_task = a->config.node_of_task,
				    .arg = a->config.node_arg };

	for (uint32_t m = 0; nt_shm_taken(shm, m); m++) {
		const struct nt_capabilities *caps = &shm->slot[m].caps;
		uint32_t at = layout.slots;

		if (!nt_view_joined(shm, m))
			continue;
		for (; at > 0 && slot[at - 1].rank > (uint32_t)caps->rank; at--)
			slot[at] = slot[at - 1];
		slot[at] = (struct nt_layout_slot){ .rank = (uint32_t)caps->rank,
						    .task = caps->task };
		layout.slots++;
	}
	if (layout.slots > 0)
		nt_layout_likely(&layout, comm->is_coordinator, comm->expected);
}

/* The likely nodes have not answered: read all logs, unless there are too many. */
static void widen_search(struct nt_agree *a, struct nt_agree_comm *comm)
{
	if (comm->widened || a->config.nodes > NT_WIDE_NODES ||
	    a->now_ms - comm->seen_ms < NT_LIKELY_MS)
		return;
	comm->widened = true;
	for (uint32_t n = 0; n < a->config.nodes; n++)
		comm->expected[n] |= 1;
}

static void note_caps(struct nt_agree *a, struct nt_agree_comm *comm, uint32_t node, uint32_t rank,
		      const struct nt_capabilities *caps)
{
	struct nt_reason why;

	if (rank >= comm->ranks || comm->rejected || comm->agreed)
		return;
	if (comm->rank_node[rank] == (int)node)
		return;
	if (comm->rank_node[rank] >= 0) {
		nt_reason_setf(&why, NT_REASON_TWO_NODES, "%u", rank);
		reject_comm(a, comm, &why);
		return;
	}
	comm->rank_node[rank] = (int)node;
	comm->all_caps[rank] = *caps;
	comm->seen++;
	for (uint32_t p = 0; p < comm->participant_count; p++) {
		if (comm->participants[p] == node)
			return;
	}
	comm->participants[comm->participant_count++] = node;
}

void nt_join_caps(struct nt_agree *a, struct nt_agree_comm *comm, uint32_t node,
		  const struct nt_entry *entry)
{
	struct nt_entry_caps all_caps;

	if (entry->bytes == NULL || nt_entry_caps_read(&all_caps, entry->bytes, entry->count) < 0) {
		a->counts.damaged++;
		return;
	}
	if (comm->expected)
		comm->expected[node] = 2; /* it has announced ranks */
	for (uint32_t i = 0; i < all_caps.count; i++)
		note_caps(a, comm, node, all_caps.slot[i].rank, &all_caps.common);
}

/* If it does not name this node, it may be about an earlier communicator of this id. */
static bool take_part(struct nt_agree *a, struct nt_agree_comm *comm, uint32_t coordinator,
		      const struct nt_entry *entry)
{
	free(comm->participants);
	comm->participants = calloc(a->config.nodes, sizeof(*comm->participants));
	comm->participant_count = 0;
	if (!comm->participants ||
	    nt_entry_nodes_read(comm->participants, &comm->participant_count, a->config.nodes,
				a->config.nodes, entry->bytes, entry->count) < 0)
		return false;
	return nt_tree_make(a, comm, coordinator) == 0;
}

static void set_agreed(struct nt_agree *a, struct nt_agree_comm *comm, uint32_t risks)
{
	struct nt_shm_comm *shm = nt_view_comm(a, comm);

	atomic_store(&shm->risks, risks);
	atomic_store(&shm->state, NT_COMM_AGREED);
}

static void on_agreed(struct nt_agree *a, struct nt_agree_comm *comm, uint32_t node,
		      const struct nt_entry *entry)
{
	if (comm->is_coordinator) {
		if (comm->agreed && node == a->config.self)
			set_agreed(a, comm, entry->epoch);
		return;
	}
	/* Whoever sends it: only the node of rank 0 does, after it has our capabilities. */
	if (comm->agreed || comm->rejected || !comm->expected || !take_part(a, comm, node, entry))
		return;
	comm->coordinator_node = (int)node;
	comm->agreed = true;
	set_agreed(a, comm, entry->epoch);
}

void nt_join_outcome(struct nt_agree *a, struct nt_agree_comm *comm, uint32_t node,
		     const struct nt_entry *entry)
{
	struct nt_reason why;
	bool from_self = comm->is_coordinator && node == a->config.self;

	if (entry->type == NT_ENTRY_AGREED) {
		on_agreed(a, comm, node, entry);
		return;
	}
	if (!from_self &&
	    (comm->is_coordinator || comm->agreed || comm->rejected || !comm->expected))
		return;
	nt_reason_read(&why, (const char *)entry->bytes, entry->count);
	set_rejected(a, comm, &why);
}

/* Refuse the communicator on this node, and tell the others. */
static void keep_out(struct nt_agree *a, struct nt_agree_comm *comm, int id)
{
	struct nt_reason why;

	nt_reason_set(&why, id);
	if (comm->is_coordinator)
		reject_comm(a, comm, &why);
	else
		set_rejected(a, comm, &why);
	nt_outbox_refuse(a, comm, id);
}

static void agree_on(struct nt_agree *a, struct nt_agree_comm *comm)
{
	uint8_t bytes[NT_ENTRY_BYTES_MAX];
	struct nt_entry agreed = { .type = NT_ENTRY_AGREED, .comm = comm->id, .bytes = bytes };

	for (uint32_t r = 0; r < comm->ranks; r++)
		agreed.epoch |= comm->all_caps[r].risks;
	nt_tree_sort(comm);
	agreed.count = nt_entry_nodes_write(comm->participants, comm->participant_count, bytes,
					    sizeof(bytes));
	if (agreed.count == 0) {
		reject_for(a, comm, NT_REASON_ORDER);
		return;
	}
	(void)nt_tree_make(a, comm, a->config.self); /* cannot fail: this node participates */
	/* Ranks may have joined since note_local(). Without a log, an id may come again. */
	comm->local = comm->participant_count == 1;
	comm->agreed = true;
	nt_outbox_say(a, comm, &agreed);
}

static void compare_ranks(struct nt_agree *a, struct nt_agree_comm *comm)
{
	const struct nt_capabilities *usual = nt_capabilities_usual(comm->all_caps, comm->ranks);
	struct nt_reason why;

	for (uint32_t r = 0; r < comm->ranks; r++) {
		if (nt_capabilities_same(&comm->all_caps[r], usual))
			continue;
		nt_capabilities_difference(
			&comm->all_caps[r], usual, r,
			a->config.node_name(a->config.node_arg, (uint32_t)comm->rank_node[r]),
			&why);
		reject_comm(a, comm, &why);
		return;
	}
	if (!usual->active)
		reject_for(a, comm, nt_capabilities_idle(usual->idle));
	else if (comm->refused)
		reject_for(a, comm, NT_REASON_REFUSED);
	else
		agree_on(a, comm);
}

static void send_caps(struct nt_agree *a, struct nt_agree_comm *comm, struct nt_shm_comm *shm)
{
	for (uint32_t m = 0; nt_shm_taken(shm, m); m++) {
		struct nt_entry entry = { .type = NT_ENTRY_CAPS, .comm = comm->id };
		struct nt_entry_caps all_caps = { .common = shm->slot[m].caps };
		uint8_t bytes[1024];

		if (!nt_view_joined(shm, m) || (comm->caps_sent & (UINT64_C(1) << m)))
			continue;
		for (uint32_t o = m; nt_shm_taken(shm, o); o++) {
			const struct nt_capabilities *caps = &shm->slot[o].caps;

			if (!nt_view_joined(shm, o) || (comm->caps_sent & (UINT64_C(1) << o)) ||
			    !nt_capabilities_same(caps, &all_caps.common))
				continue;
			all_caps.common.risks |= caps->risks;
			all_caps.slot[all_caps.count].rank = (uint32_t)caps->rank;
			all_caps.slot[all_caps.count++].task = caps->task;
			comm->caps_sent |= UINT64_C(1) << o;
		}
		entry.count = nt_entry_caps_write(&all_caps, bytes, sizeof(bytes));
		entry.bytes = bytes;
		if (entry.count > 0)
			nt_outbox_say(a, comm, &entry);
	}
}

static void join_coordinator(struct nt_agree *a, struct nt_agree_comm *comm,
			     struct nt_shm_comm *shm)
{
	struct nt_reason why;
	uint32_t missing = 0;

	for (uint32_t m = 0; nt_shm_taken(shm, m); m++) {
		if (nt_view_joined(shm, m))
			note_caps(a, comm, a->config.self, (uint32_t)shm->slot[m].caps.rank,
				  &shm->slot[m].caps);
	}
	if (comm->rejected)
		return;
	if (comm->seen == comm->ranks) {
		compare_ranks(a, comm);
		return;
	}
	if (a->now_ms - comm->seen_ms < a->config.join_ms)
		return;
	while (missing < comm->ranks - 1 && comm->rank_node[missing] >= 0)
		missing++;
	nt_reason_setf(&why, NT_REASON_UNSEEN, "%u:%u:%u", missing, comm->seen, comm->ranks);
	reject_comm(a, comm, &why);
}

/* A communicator across nodes, whose first local ranks had time to join. */
static void join_spanning(struct nt_agree *a, struct nt_agree_comm *comm, struct nt_shm_comm *shm)
{
	if (a->config.deaf) {
		if (a->now_ms - comm->seen_ms >= NT_DEAF_MS)
			set_rejected(a, comm, a->config.deaf);
		return;
	}
	if (a->config.nodes < 2) {
		/* It is in use, so all its ranks that are here have joined. */
		if (a->config.elsewhere && atomic_load(&shm->nodes) > 1 &&
		    a->now_ms - comm->seen_ms >= NT_DEAF_MS)
			set_rejected(a, comm, a->config.elsewhere);
		return;
	}
	if (!comm->remembered) {
		bool known = nt_used_ids_knows(&a->used_ids, comm->id);

		if (known || !nt_used_ids_add(&a->used_ids, comm->id)) {
			keep_out(a, comm, known ? NT_REASON_REUSED : NT_REASON_LIMIT);
			return;
		}
		comm->remembered = true;
	}
	if (!comm->expected) {
		comm->expected = calloc(a->config.nodes, 1);
		if (!comm->expected)
			return;
		expect_nodes(a, comm, shm);
	}
	widen_search(a, comm);
	if (!comm->is_coordinator)
		send_caps(a, comm, shm);
}

static void note_local(struct nt_agree *a, struct nt_agree_comm *comm, struct nt_shm_comm *shm)
{
	uint32_t joined = 0;
	bool has_first = false;

	for (uint32_t m = 0; nt_shm_taken(shm, m); m++) {
		if (!nt_view_joined(shm, m))
			continue;
		joined++;
		has_first |= shm->slot[m].caps.rank == 0;
	}
	comm->local = joined == comm->ranks;
	if (has_first && !comm->is_coordinator)
		(void)become_coordinator(a, comm);
}

static bool called_often(const struct nt_agree *a, struct nt_shm_comm *shm)
{
	for (uint32_t k = 0; nt_shm_claimed(shm, k); k++) {
		for (uint32_t m = 0; nt_shm_taken(shm, m); m++) {
			if (atomic_load(&shm->key[k].calls[m]) >= a->config.join_calls)
				return true;
		}
	}
	return a->config.join_calls == 0;
}

/* Communicators of short life are not announced: an entry makes every later read of the log more
 * expensive. */
static bool in_use(struct nt_agree *a, struct nt_agree_comm *comm, struct nt_shm_comm *shm)
{
	const struct nt_agree_hooks *hooks = &a->config.hooks;

	if (!comm->used && !comm->local &&
	    (a->config.deaf || called_often(a, shm) ||
	     (hooks->early && hooks->early(hooks->arg, shm)))) {
		comm->used = true;
		comm->seen_ms = a->now_ms;
	}
	return comm->used || comm->local;
}

void nt_join_step(struct nt_agree *a, struct nt_agree_comm *comm)
{
	struct nt_shm_comm *shm = nt_view_comm(a, comm);
	struct nt_reason silent;

	if (comm->agreed || comm->rejected)
		return;
	note_local(a, comm, shm);
	if (!in_use(a, comm, shm))
		return;
	if (!comm->local && a->now_ms - comm->seen_ms < NT_GRACE_MS)
		return;
	if (!comm->local)
		join_spanning(a, comm, shm);
	if (comm->rejected)
		return;
	if (comm->is_coordinator)
		join_coordinator(a, comm, shm);
	if (comm->is_coordinator || a->now_ms - comm->seen_ms < 2 * (uint64_t)a->config.join_ms)
		return;
	nt_reason_set(&silent, NT_REASON_SILENT);
	set_rejected(a, comm, &silent);
}
