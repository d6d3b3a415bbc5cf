/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* coordinator.h - the coordinator of a communicator, the node of its rank 0: opens keys, proposes
 * plans and decides their outcome */
#ifndef NT_SYNC_COORDINATOR_H
#define NT_SYNC_COORDINATOR_H

#include "pmix-sync/log-entry.h"
#include "pmix-sync/agree-state.h"

void nt_coordinator_step(struct nt_agree *a, struct nt_agree_comm *comm);
/* The combined answer of all nodes (tree.h). */
void nt_coordinator_answer(struct nt_agree *a, struct nt_agree_comm *comm, struct nt_agree_key *key,
			   const struct nt_entry *sum);
/* Before exit: abort open proposals, so that no node waits for an outcome. */
void nt_coordinator_leave(struct nt_agree *a, struct nt_agree_comm *comm);

#endif
