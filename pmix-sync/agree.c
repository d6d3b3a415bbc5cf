/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Tracks communicators, sends entries, dispatches incoming ones, and tells which logs must be
 * read. */
#include "pmix-sync/agree.h"

#include <stdlib.h>
#include <string.h>
#include "pmix-sync/log-entry.h"
#include "pmix-sync/coordinator.h"
#include "pmix-sync/join.h"
#include "pmix-sync/participant.h"
#include "pmix-sync/outbox.h"
#include "pmix-sync/recheck-timer.h"
#include "pmix-sync/shm.h"
#include "pmix-sync/tree.h"
#include "pmix-sync/used-ids.h"
#include "pmix-sync/view.h"

#define NT_LEFT_MS 100 /* memory is kept this long after the last rank has left */

struct nt_agree *nt_agree_create(const struct nt_agree_config *config, struct nt_error *err)
{
	struct nt_agree *a = calloc(1, sizeof(*a));

	if (!a)
		goto fail;
	a->config = *config;
	a->listen = calloc(config->nodes ? config->nodes : 1, 1);
	a->stash = calloc(NT_STASH_MAX, sizeof(*a->stash));
	if (!a->listen || !a->stash)
		goto fail;
	return a;
fail:
	nt_agree_destroy(a);
	nt_error_set(err, "out of memory");
	return NULL;
}

static void comm_free(struct nt_agree_comm *comm, const struct nt_agree_hooks *hooks)
{
	for (uint32_t k = 0; comm && k < comm->key_count; k++) {
		if (comm->keys[k].tuner)
			hooks->end(comm->keys[k].tuner);
		nt_tree_reset(&comm->keys[k].tally);
		nt_tree_reset(&comm->keys[k].recheck_tally);
	}
	if (comm) {
		free(comm->all_caps);
		free(comm->rank_node);
		free(comm->expected);
		free(comm->participants);
	}
	free(comm);
}

void nt_agree_destroy(struct nt_agree *agree)
{
	if (!agree)
		return;
	for (uint32_t i = 0; i < NT_SHM_COMMS; i++)
		comm_free(agree->comms[i], &agree->config.hooks);
	for (uint32_t i = 0; agree->stash && i < NT_STASH_MAX; i++)
		free(agree->stash[i].bytes);
	free(agree->listen);
	free(agree->stash);
	nt_used_ids_free(&agree->used_ids);
	nt_outbox_free(agree);
	free(agree);
}

static struct nt_agree_comm *find_comm(struct nt_agree *a, uint64_t id)
{
	for (uint32_t i = 0; i < NT_SHM_COMMS; i++) {
		if (a->comms[i] && a->comms[i]->id == id)
			return a->comms[i];
	}
	return NULL;
}

/* Replaces the oldest. */
static void keep_for_later(struct nt_agree *a, uint32_t node, const struct nt_entry *entry)
{
	struct nt_agree_stash *stash = &a->stash[a->stash_next % NT_STASH_MAX];
	uint8_t *bytes = malloc(entry->count ? entry->count : 1);

	if (!bytes)
		return;
	a->stash_next++;
	free(stash->bytes);
	*stash = (struct nt_agree_stash){
		.node = node, .comm = entry->comm, .count = entry->count, .bytes = bytes
	};
	if (entry->count > 0)
		memcpy(bytes, entry->bytes, entry->count);
}

static void on_refusal(struct nt_agree *a, struct nt_agree_comm *comm, uint32_t node)
{
	if (comm->is_coordinator)
		comm->refused = true;
	else if ((int)node == comm->coordinator_node)
		comm->refusing = true; /* there will be no more plans */
	else if (nt_tree_is_child(a, comm, node))
		nt_outbox_refuse(a, comm, NT_REASON_REFUSED);
}

/* An answer of this node's ranks or of a child. Pass on the answer of the branch, or handle it as
 * the coordinator. An answer to another coordinator is about an earlier communicator of this id:
 * entries stay in logs. */
static void on_answer(struct nt_agree *a, struct nt_agree_comm *comm, uint32_t node,
		      const struct nt_entry *entry)
{
	bool is_asked = comm->agreed && (int)entry->to == comm->coordinator_node;
	struct nt_agree_key *key = is_asked ? nt_participant_key(comm, entry->key) : NULL;
	struct nt_entry sum;

	if (!key || !nt_tree_add(a, comm, key, node, entry, &sum))
		return;
	if (comm->is_coordinator)
		nt_coordinator_answer(a, comm, key, &sum);
	else
		nt_outbox_say(a, comm, &sum);
}

/* queued: an answer from the local queue is this node's own. Answers in its log are those of its
 * branch, which it has counted. */
static void dispatch_entry(struct nt_agree *a, uint32_t node, bool queued,
			   const struct nt_entry *entry)
{
	struct nt_agree_comm *comm = find_comm(a, entry->comm);

	if (!comm) {
		if (entry->type == NT_ENTRY_CAPS && node != a->config.self &&
		    !nt_used_ids_knows(&a->used_ids, entry->comm))
			keep_for_later(a, node, entry);
		return;
	}
	switch (entry->type) {
	case NT_ENTRY_CAPS:
		if (comm->is_coordinator)
			nt_join_caps(a, comm, node, entry);
		else if (!comm->agreed && !comm->rejected && node != a->config.self)
			keep_for_later(a, node, entry); /* rank 0 may still join */
		return;
	case NT_ENTRY_READY:
	case NT_ENTRY_ACK:
	case NT_ENTRY_NACK:
	case NT_ENTRY_DATA:
		if (queued || nt_tree_is_child(a, comm, node))
			on_answer(a, comm, node, entry);
		return;
	case NT_ENTRY_REFUSE: on_refusal(a, comm, node); return;
	case NT_ENTRY_AGREED:
	case NT_ENTRY_REJECT: nt_join_outcome(a, comm, node, entry); return;
	default:
		if (comm->agreed && (int)node == comm->coordinator_node)
			nt_participant_entry(a, comm, entry);
	}
}

static void dispatch_all(struct nt_agree *a, uint32_t node, bool queued, const uint8_t *bytes,
			 size_t count)
{
	struct nt_entry entry;
	size_t used;

	for (size_t at = 0; at < count; at += used) {
		used = nt_entry_read(&entry, bytes + at, count - at);
		if (used == 0) {
			a->counts.damaged++;
			return;
		}
		dispatch_entry(a, node, queued, &entry);
	}
}

static void drain_queue(struct nt_agree *a)
{
	uint8_t *bytes;
	size_t count;

	while ((bytes = nt_outbox_queued(a, &count)) != NULL) {
		dispatch_all(a, a->config.self, true, bytes, count);
		free(bytes);
	}
}

/* CAPS that came before this node knew that it is the coordinator. */
static void replay_stash(struct nt_agree *a, struct nt_agree_comm *comm)
{
	for (uint32_t i = 0; i < NT_STASH_MAX; i++) {
		struct nt_agree_stash *stash = &a->stash[i];
		struct nt_entry entry = { .type = NT_ENTRY_CAPS,
					  .comm = comm->id,
					  .bytes = stash->bytes,
					  .count = stash->count };

		if (!stash->bytes || stash->comm != comm->id)
			continue;
		nt_join_caps(a, comm, stash->node, &entry);
		free(stash->bytes);
		*stash = (struct nt_agree_stash){ .node = 0 };
	}
}

/* Other nodes may still wait for an outcome from this coordinator. Outcomes owed to this node no
 * longer matter. */
static bool outcome_owed(const struct nt_agree_comm *comm)
{
	for (uint32_t k = 0; k < comm->key_count; k++) {
		if (comm->keys[k].coordinator == NT_COORDINATOR_PROPOSED)
			return true;
	}
	return false;
}

static void free_runs(struct nt_agree *a, uint32_t slot)
{
	for (uint32_t r = 0; r < NT_SHM_RUNS; r++) {
		uint32_t owner = atomic_load(&a->config.shm->run[r].owner);

		if (owner != 0 && (owner - 1) / NT_SHM_KEYS == slot)
			nt_shm_run_free(a->config.shm, r);
	}
}

/* All local ranks have left: its memory is free, and it must be forgotten. */
static bool retire_comm(struct nt_agree *a, struct nt_agree_comm *comm)
{
	struct nt_shm_comm *shm = nt_view_comm(a, comm);

	if (!nt_shm_left(shm)) {
		comm->left_ms = 0;
		return false;
	}
	if (comm->left_ms == 0)
		comm->left_ms = a->now_ms;
	/* Leave time to send a refusal or an outcome. */
	if (outcome_owed(comm) || a->now_ms - comm->left_ms < NT_LEFT_MS)
		return false;
	free_runs(a, comm->slot);
	return nt_shm_retire(a->config.shm, comm->slot);
}

/* Add new communicators, and remove those that all local ranks have left. */
static void read_shm(struct nt_agree *a)
{
	for (uint32_t i = 0; i < NT_SHM_COMMS; i++) {
		uint64_t id = atomic_load(&a->config.shm->comm[i].id);
		struct nt_agree_comm *comm = a->comms[i];

		if (comm && retire_comm(a, comm)) {
			comm_free(comm, &a->config.hooks);
			a->comms[i] = NULL;
			continue;
		}
		if (comm || id == 0 || atomic_load(&a->config.shm->comm[i].ranks) == 0)
			continue;
		comm = calloc(1, sizeof(*comm));
		if (!comm)
			return;
		comm->id = id;
		comm->slot = i;
		comm->ranks = atomic_load(&a->config.shm->comm[i].ranks);
		comm->seen_ms = a->now_ms;
		comm->coordinator_node = -1;
		comm->rtt_ms = 50;
		/* An earlier leader handled it, and what it promised is unknown. */
		comm->rejected = comm->refusing = atomic_load(&a->config.shm->comm[i].state) !=
						  NT_COMM_JOINING;
		a->comms[i] = comm;
	}
}

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

static void note_need(struct nt_agree *a, int node, enum nt_agree_need need)
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
			note_need(a, (int)n, NT_AGREE_LISTENS);
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

/* Is anything pending, and which logs must be read? */
static void note_pending(struct nt_agree *a, struct nt_agree_comm *comm)
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
	note_need(a, comm->coordinator_node, need);
	for (uint32_t i = 0, n = nt_tree_children(comm, &child); i < n; i++)
		note_need(a, (int)child[i], comm->is_coordinator ? need : NT_AGREE_LISTENS);
}

bool nt_agree_step(struct nt_agree *agree, uint64_t now_ms)
{
	agree->now_ms = now_ms;
	if (agree->began_ms == 0)
		agree->began_ms = now_ms;
	read_shm(agree);
	drain_queue(agree);
	for (uint32_t i = 0; i < NT_SHM_COMMS; i++) {
		struct nt_agree_comm *comm = agree->comms[i];
		bool was_coordinator;

		if (!comm)
			continue;
		was_coordinator = comm->is_coordinator;
		nt_join_step(agree, comm);
		if (comm->is_coordinator && !was_coordinator)
			replay_stash(agree, comm);
		drain_queue(agree);
		if (comm->agreed && !comm->rejected) {
			nt_participant_step(agree, comm);
			drain_queue(agree);
			if (comm->is_coordinator)
				nt_coordinator_step(agree, comm);
			drain_queue(agree);
		}
	}
	memset(agree->listen, 0, agree->config.nodes);
	agree->pending = false;
	for (uint32_t i = 0; i < NT_SHM_COMMS; i++) {
		if (agree->comms[i])
			note_pending(agree, agree->comms[i]);
	}
	return agree->pending;
}

size_t nt_agree_out(struct nt_agree *agree, const uint8_t **bytes)
{
	return nt_outbox_next(agree, bytes);
}

void nt_agree_sent(struct nt_agree *agree, uint64_t now_ms)
{
	size_t count = 0;
	uint8_t *bytes = nt_outbox_sent(agree, &count);

	agree->now_ms = now_ms;
	dispatch_all(agree, agree->config.self, false, bytes, count);
	free(bytes);
	drain_queue(agree);
}

void nt_agree_in(struct nt_agree *agree, uint32_t node, const uint8_t *bytes, size_t count,
		 uint64_t now_ms)
{
	agree->now_ms = now_ms;
	dispatch_all(agree, node, false, bytes, count);
	drain_queue(agree);
}

enum nt_agree_need nt_agree_listens(const struct nt_agree *agree, uint32_t node)
{
	return node < agree->config.nodes ? agree->listen[node] : NT_AGREE_DEAF;
}

void nt_agree_limit(struct nt_agree *agree)
{
	agree->limited = true;
}

void nt_agree_leave(struct nt_agree *agree, uint64_t now_ms)
{
	agree->now_ms = now_ms;
	for (uint32_t i = 0; i < NT_SHM_COMMS; i++) {
		struct nt_agree_comm *comm = agree->comms[i];

		if (!comm || comm->local)
			continue;
		if (comm->is_coordinator)
			nt_coordinator_leave(agree, comm);
		nt_outbox_refuse(agree, comm, NT_REASON_LEADER);
	}
}

struct nt_agree_counts nt_agree_count(const struct nt_agree *agree)
{
	return agree->counts;
}
