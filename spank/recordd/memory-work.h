/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* memory-work.h - what the step has shown goes into the user's memory, at its end: a child with the
 *            user's rights writes it, and adds to the step's record what the memory says of it
 *
 * Threads:  nt-recordd's one.
 * Errors:   told.
 */
#ifndef NT_RECORDD_MEMORY_H
#define NT_RECORDD_MEMORY_H

#include "spank/recordd/state.h"

extern const struct nt_work_kind nt_recordd_memory_kind;
void nt_recordd_memory_look(struct nt_recordd *recordd, int64_t now_ms);

#endif
