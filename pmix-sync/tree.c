/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* tree.c - how the members' answers reach home: each node adds up its own and those of at most
 * NT_TREE_WIDTH others
 *
 * Home is the root; the other nodes follow in the order of their numbers, so that everybody who
 * knows who takes part knows the tree. An ACK says that the whole branch has held. Outcomes need
 * no tree: everybody reads home's log.
 */
#include <stdlib.h>
#include <string.h>
#include "pmix-sync/state.h"

/* Phases of a key in the order in which they come. */
static uint64_t phase_of(uint32_t type, uint32_t epoch)
{
	if (type == NT_ENTRY_READY)
		return 1;
	return 2 * (uint64_t)epoch + (type == NT_ENTRY_DATA);
}

static int compare_nodes(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

void tree_sort(struct agree_comm *comm)
{
	qsort(comm->participants, comm->participant_count, sizeof(*comm->participants),
	      compare_nodes);
}

int tree_make(struct nt_agree *a, struct agree_comm *comm, uint32_t home)
{
	uint32_t *node = comm->participants;
	uint32_t at = 0;

	tree_sort(comm);
	while (at < comm->participant_count && node[at] != home)
		at++;
	if (at == comm->participant_count)
		return -1;
	memmove(node + 1, node, at * sizeof(*node));
	node[0] = home;
	for (at = 0; at < comm->participant_count; at++) {
		if (node[at] == a->config.self) {
			comm->place = at;
			return 0;
		}
	}
	return -1;
}

uint32_t tree_children(const struct agree_comm *comm, const uint32_t **first)
{
	uint64_t from = (uint64_t)comm->place * NT_TREE_WIDTH + 1;
	uint64_t left = comm->participant_count > from ? comm->participant_count - from : 0;

	*first = left ? comm->participants + from : NULL;
	return left < NT_TREE_WIDTH ? (uint32_t)left : NT_TREE_WIDTH;
}

/* Bit of an answer: 1 for this node's own, the next ones for its children; 0: nobody we add up. */
static uint32_t bit_of(const struct nt_agree *a, const struct agree_comm *comm, uint32_t node)
{
	const uint32_t *child;
	uint32_t children = tree_children(comm, &child);

	if (node == a->config.self)
		return 1;
	for (uint32_t i = 0; i < children; i++) {
		if (child[i] == node)
			return 2u << i;
	}
	return 0;
}

bool tree_is_child(const struct nt_agree *a, const struct agree_comm *comm, uint32_t node)
{
	return bit_of(a, comm, node) > 1;
}

void tree_reset(struct agree_tally *tally)
{
	free(tally->bytes);
	*tally = (struct agree_tally){ .phase = 0 };
}

/* The first data is kept, what comes after it is added to it. Out of memory: no data, as from a
 * node that has none. */
static void add_data(struct nt_agree *a, struct agree_tally *tally, const struct nt_entry *entry)
{
	if (tally->from & (tally->from - 1)) { /* not the first */
		tally->count = a->config.hooks.combine && tally->bytes
				       ? a->config.hooks.combine(a->config.hooks.arg, tally->bytes,
								 tally->count, entry->bytes,
								 entry->count)
				       : 0;
		return;
	}
	tally->bytes = malloc(entry->count ? entry->count : 1);
	tally->count = tally->bytes ? entry->count : 0;
	if (tally->count > 0)
		memcpy(tally->bytes, entry->bytes, tally->count);
}

/* READY of a session has a sum of its own: it may come while others still answer to what was
 * asked before. */
static bool of_session(const struct nt_entry *entry)
{
	return entry->type == NT_ENTRY_READY && entry->span != 0;
}

static struct agree_tally *tally_of(struct agree_key *key, const struct nt_entry *entry)
{
	return of_session(entry) ? &key->again_tally : &key->tally;
}

/* What the branch says, once `entry` has made it complete. */
static void pass_on(struct nt_agree *a, struct agree_comm *comm, struct agree_key *key,
		    const struct nt_entry *entry)
{
	struct agree_tally *tally = tally_of(key, entry);
	struct nt_entry sum = { .type = tally->refused ? NT_ENTRY_NACK : entry->type,
				.comm = comm->id,
				.key = key->id,
				.epoch = tally->epoch,
				.turn = tally->turn,
				.span = of_session(entry) ? entry->span : tally->busy,
				.bytes = tally->bytes,
				.count = tally->count };

	tally->told = true;
	if (comm->is_home)
		home_answer(a, key, &sum);
	else
		agree_emit(a, comm, &sum);
}

void tree_answer(struct nt_agree *a, struct agree_comm *comm, struct agree_key *key, uint32_t node,
		 const struct nt_entry *entry)
{
	struct agree_tally *tally = tally_of(key, entry);
	uint64_t phase = of_session(entry) ? entry->span : phase_of(entry->type, entry->epoch);
	uint32_t bit = bit_of(a, comm, node);
	const uint32_t *child;

	if (bit == 0 || phase < tally->phase)
		return;
	if (phase > tally->phase) {
		tree_reset(tally);
		tally->phase = phase;
		tally->epoch = entry->epoch;
	}
	if (tally->from & bit)
		return;
	tally->from |= bit;
	if (entry->turn > tally->turn)
		tally->turn = entry->turn;
	if (entry->type == NT_ENTRY_NACK) {
		tally->refused = true;
		tally->busy |= entry->span == 1;
	}
	if (entry->type == NT_ENTRY_DATA)
		add_data(a, tally, entry);
	if (!tally->told &&
	    (tally->refused || tally->from == (2u << tree_children(comm, &child)) - 1))
		pass_on(a, comm, key, entry);
}
