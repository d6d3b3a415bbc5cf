/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* home.h - what the node of a communicator's rank 0 does: open keys, propose plans, decide their
 * outcome */
#ifndef NT_SYNC_HOME_H
#define NT_SYNC_HOME_H

#include "pmix-sync/entry.h"
#include "pmix-sync/state.h"

void nt_home_step(struct nt_agree *a, struct nt_agree_comm *comm);
/* What all nodes together answer (tree.h). */
void nt_home_answer(struct nt_agree *a, struct nt_agree_comm *comm, struct nt_agree_key *key,
		    const struct nt_entry *sum);
/* Last words: no node is left waiting for an outcome. */
void nt_home_leave(struct nt_agree *a, struct nt_agree_comm *comm);

#endif
