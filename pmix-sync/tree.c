/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "pmix-sync/tree.h"

#include <stdlib.h>
#include <string.h>

/* Phases of a key, in order. */
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

void nt_tree_sort(struct nt_agree_comm *comm)
{
	qsort(comm->participants, comm->participant_count, sizeof(*comm->participants),
	      compare_nodes);
}

int nt_tree_make(struct nt_agree *a, struct nt_agree_comm *comm, uint32_t coordinator)
{
	uint32_t *node = comm->participants;
	uint32_t at = 0;

	nt_tree_sort(comm);
	while (at < comm->participant_count && node[at] != coordinator)
		at++;
	if (at == comm->participant_count)
		return -1;
	memmove(node + 1, node, at * sizeof(*node));
	node[0] = coordinator;
	for (at = 0; at < comm->participant_count; at++) {
		if (node[at] == a->config.self) {
			comm->node_index = at;
			return 0;
		}
	}
	return -1;
}

uint32_t nt_tree_children(const struct nt_agree_comm *comm, const uint32_t **first)
{
	uint64_t from = (uint64_t)comm->node_index * NT_TREE_WIDTH + 1;
	uint64_t left = comm->participant_count > from ? comm->participant_count - from : 0;

	*first = left ? comm->participants + from : NULL;
	return left < NT_TREE_WIDTH ? (uint32_t)left : NT_TREE_WIDTH;
}

/* 1 for this node, the next bits for its children; 0: neither. */
static uint32_t bit_of(const struct nt_agree *a, const struct nt_agree_comm *comm, uint32_t node)
{
	const uint32_t *child;
	uint32_t children = nt_tree_children(comm, &child);

	if (node == a->config.self)
		return 1;
	for (uint32_t i = 0; i < children; i++) {
		if (child[i] == node)
			return 2u << i;
	}
	return 0;
}

bool nt_tree_is_child(const struct nt_agree *a, const struct nt_agree_comm *comm, uint32_t node)
{
	return bit_of(a, comm, node) > 1;
}

void nt_tree_reset(struct nt_agree_tally *tally)
{
	free(tally->bytes);
	*tally = (struct nt_agree_tally){ .phase = 0 };
}

/* The first data is copied, later data is merged into it. Without memory there is none. */
static void add_data(struct nt_agree *a, struct nt_agree_tally *tally, const struct nt_entry *entry)
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

/* READY of a recheck has its own tally: others may still answer an earlier question. */
static bool of_recheck(const struct nt_entry *entry)
{
	return entry->type == NT_ENTRY_READY && entry->span != 0;
}

static struct nt_entry sum_of(const struct nt_agree_comm *comm, const struct nt_agree_key *key,
			      const struct nt_agree_tally *tally, const struct nt_entry *last)
{
	return (struct nt_entry){ .type = tally->refused ? NT_ENTRY_NACK : last->type,
				  .to = (uint32_t)comm->coordinator_node,
				  .comm = comm->id,
				  .key = key->id,
				  .epoch = tally->epoch,
				  .turn = tally->turn,
				  .span = of_recheck(last) ? last->span : tally->busy,
				  .bytes = tally->bytes,
				  .count = tally->count };
}

static void count_in(struct nt_agree *a, struct nt_agree_tally *tally, const struct nt_entry *entry)
{
	if (entry->turn > tally->turn)
		tally->turn = entry->turn;
	if (entry->type == NT_ENTRY_NACK) {
		tally->refused = true;
		tally->busy |= entry->span == 1;
	}
	if (entry->type == NT_ENTRY_DATA)
		add_data(a, tally, entry);
}

bool nt_tree_add(struct nt_agree *a, const struct nt_agree_comm *comm, struct nt_agree_key *key,
		 uint32_t node, const struct nt_entry *entry, struct nt_entry *sum)
{
	struct nt_agree_tally *tally = of_recheck(entry) ? &key->recheck_tally : &key->tally;
	uint64_t phase = of_recheck(entry) ? entry->span : phase_of(entry->type, entry->epoch);
	uint32_t bit = bit_of(a, comm, node);
	const uint32_t *child;

	if (bit == 0 || phase < tally->phase)
		return false;
	if (phase > tally->phase) {
		nt_tree_reset(tally);
		tally->phase = phase;
		tally->epoch = entry->epoch;
	}
	if (tally->from & bit)
		return false;
	tally->from |= bit;
	count_in(a, tally, entry);
	if (tally->told ||
	    (!tally->refused && tally->from != (2u << nt_tree_children(comm, &child)) - 1))
		return false;
	tally->told = true;
	*sum = sum_of(comm, key, tally, entry);
	return true;
}
