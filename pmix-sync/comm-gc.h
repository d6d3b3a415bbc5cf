/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* comm-gc.h - free the shared memory of communicators that all local ranks have left */
#ifndef NT_SYNC_COMM_GC_H
#define NT_SYNC_COMM_GC_H

#include "pmix-sync/agree-state.h"

/* True: its memory is free, and the caller must forget the communicator. */
bool nt_comm_gc_comm(struct nt_agree *a, struct nt_agree_comm *comm);

#endif
