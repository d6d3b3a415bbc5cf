/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* memory-work.h - at the step's end a child with the user's rights writes the step's measurements
 * to the user's memory, and adds the result of the comparison to the step's record
 *
 * Threads:  nt-recordd's one.
 * Errors:   reported.
 */
#ifndef NT_RECORDD_MEMORY_H
#define NT_RECORDD_MEMORY_H

#include "spank/recordd/state.h"

extern const struct nt_work_kind nt_recordd_memory_kind;
void nt_recordd_memory_look(struct nt_recordd *recordd, int64_t now_ms);

#endif
