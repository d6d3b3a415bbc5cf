/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* tree.h - how the members' answers reach home: each node adds up its own and those of at most
 * NT_TREE_WIDTH others
 *
 * Home is the root; the other nodes follow in the order of their numbers, so that everybody who
 * knows who takes part knows the tree. An ACK says that the whole branch has held. Outcomes need
 * no tree: everybody reads home's log.
 *
 * Memory:   a tally owns its bytes until nt_tree_reset; a sum points into its tally.
 */
#ifndef NT_SYNC_TREE_H
#define NT_SYNC_TREE_H

#include "pmix-sync/entry.h"
#include "pmix-sync/state.h"

#define NT_TREE_WIDTH 8u /* nodes whose answers one node adds up */

/* Participants in the order of their numbers. */
void nt_tree_sort(struct nt_agree_comm *comm);
/* Home first, then the others; -1: we or home do not take part. */
int nt_tree_make(struct nt_agree *a, struct nt_agree_comm *comm, uint32_t home);

/* How many nodes this one adds up, and the first of them. */
uint32_t nt_tree_children(const struct nt_agree_comm *comm, const uint32_t **first);
bool nt_tree_is_child(const struct nt_agree *a, const struct nt_agree_comm *comm, uint32_t node);

/* Add the answer of this node or of a child. True: *sum is what the whole branch says, to be
 * passed on, and it is complete now, or refused; true once for each question. */
bool nt_tree_add(struct nt_agree *a, const struct nt_agree_comm *comm, struct nt_agree_key *key,
		 uint32_t node, const struct nt_entry *entry, struct nt_entry *sum);
void nt_tree_reset(struct nt_agree_tally *tally);

#endif
