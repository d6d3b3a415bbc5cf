/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* retire.h - communicators that all local ranks have left: their place on the board is free
 * again */
#ifndef NT_SYNC_RETIRE_H
#define NT_SYNC_RETIRE_H

#include "pmix-sync/state.h"

/* True: its place on the board is another's now, and the caller must forget it. */
bool nt_retire_comm(struct nt_agree *a, struct nt_agree_comm *comm);

#endif
