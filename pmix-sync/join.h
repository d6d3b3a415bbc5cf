/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* join.h - find a communicator's coordinator, collect its ranks' capabilities and compare them */
#ifndef NT_SYNC_JOIN_H
#define NT_SYNC_JOIN_H

#include "pmix-sync/log-entry.h"
#include "pmix-sync/agree-state.h"

/* Call until it is agreed or rejected here. */
void nt_join_step(struct nt_agree *a, struct nt_agree_comm *comm);
/* Coordinator: CAPS of another node. */
void nt_join_caps(struct nt_agree *a, struct nt_agree_comm *comm, uint32_t node,
		  const struct nt_entry *entry);
/* AGREED or REJECT; the first one counts. */
void nt_join_outcome(struct nt_agree *a, struct nt_agree_comm *comm, uint32_t node,
		     const struct nt_entry *entry);

#endif
