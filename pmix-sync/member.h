/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* member.h - what a node does as one of a communicator's nodes: hold, answer, install, sum up */
#ifndef NT_SYNC_MEMBER_H
#define NT_SYNC_MEMBER_H

#include "pmix-sync/entry.h"
#include "pmix-sync/state.h"

/* What this node knows of a key, begun where it is new; NULL: no room. */
struct nt_agree_key *nt_member_key(struct nt_agree_comm *comm, uint64_t id);

void nt_member_step(struct nt_agree *a, struct nt_agree_comm *comm);
/* WANT, PROPOSE, COMMIT, ABORT or CLOSE of home. */
void nt_member_entry(struct nt_agree *a, struct nt_agree_comm *comm, const struct nt_entry *entry);

#endif
