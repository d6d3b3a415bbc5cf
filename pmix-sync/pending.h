/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* pending.h - is anything pending, and which logs must be read? */
#ifndef NT_SYNC_PENDING_H
#define NT_SYNC_PENDING_H

#include "pmix-sync/agree-state.h"

/* Adds a communicator's needs to a->pending and a->listen. */
void nt_pending_note(struct nt_agree *a, struct nt_agree_comm *comm);

#endif
