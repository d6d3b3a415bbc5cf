/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* pending.h - is anything open, and whose logs matter now? */
#ifndef NT_SYNC_PENDING_H
#define NT_SYNC_PENDING_H

#include "pmix-sync/state.h"

/* Adds what this communicator needs to a->pending and a->listen. */
void nt_pending_note(struct nt_agree *a, struct nt_agree_comm *comm);

#endif
