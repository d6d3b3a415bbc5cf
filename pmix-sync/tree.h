/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* tree.h - collect answers in a tree: each node merges its own and those of up to NT_TREE_WIDTH
 * others
 *
 * The coordinator is the root; the other nodes follow in the order of their numbers, so all who
 * know the participants know the tree. An ACK means that the whole branch holds. Outcomes need no
 * tree: all nodes read the coordinator's log.
 *
 * Memory:   a tally owns its bytes until nt_tree_reset; a sum points into its tally.
 */
#ifndef NT_SYNC_TREE_H
#define NT_SYNC_TREE_H

#include "pmix-sync/log-entry.h"
#include "pmix-sync/agree-state.h"

#define NT_TREE_WIDTH 8u /* most nodes that one node merges */

/* Sort participants by node number. */
void nt_tree_sort(struct nt_agree_comm *comm);
/* Sort participants, coordinator first; -1: this node or the coordinator is not one of them. */
int nt_tree_make(struct nt_agree *a, struct nt_agree_comm *comm, uint32_t coordinator);

/* Number of this node's children, and the first of them. */
uint32_t nt_tree_children(const struct nt_agree_comm *comm, const uint32_t **first);
bool nt_tree_is_child(const struct nt_agree *a, const struct nt_agree_comm *comm, uint32_t node);

/* Add an answer of this node or of a child. True, once per question: *sum is the answer of the
 * whole branch, complete or refused. */
bool nt_tree_add(struct nt_agree *a, const struct nt_agree_comm *comm, struct nt_agree_key *key,
		 uint32_t node, const struct nt_entry *entry, struct nt_entry *sum);
void nt_tree_reset(struct nt_agree_tally *tally);

#endif
