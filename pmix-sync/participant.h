/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* participant.h - a node's part in a communicator: hold ranks, answer, install plans, summarise */
#ifndef NT_SYNC_PARTICIPANT_H
#define NT_SYNC_PARTICIPANT_H

#include "pmix-sync/log-entry.h"
#include "pmix-sync/agree-state.h"

/* The node's state of a key, new if necessary; NULL: no room. */
struct nt_agree_key *nt_participant_key(struct nt_agree_comm *comm, uint64_t id);

void nt_participant_step(struct nt_agree *a, struct nt_agree_comm *comm);
/* WANT, PROPOSE, COMMIT, ABORT or CLOSE of the coordinator. */
void nt_participant_entry(struct nt_agree *a, struct nt_agree_comm *comm,
			  const struct nt_entry *entry);

#endif
