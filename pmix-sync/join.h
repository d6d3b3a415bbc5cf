/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* join.h - find a communicator's home, collect the cards of all its ranks there, and compare
 * them */
#ifndef NT_SYNC_JOIN_H
#define NT_SYNC_JOIN_H

#include "pmix-sync/entry.h"
#include "pmix-sync/state.h"

/* Until the communicator is agreed or rejected on this node. */
void nt_join_step(struct nt_agree *a, struct nt_agree_comm *comm);
/* Home: another node's CARDS. */
void nt_join_cards(struct nt_agree *a, struct nt_agree_comm *comm, uint32_t node,
		   const struct nt_entry *entry);
/* Home's AGREED or REJECT. The first word counts. */
void nt_join_outcome(struct nt_agree *a, struct nt_agree_comm *comm, uint32_t node,
		     const struct nt_entry *entry);

#endif
