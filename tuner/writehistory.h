/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* writehistory.h - keys' histories (engine/history.h) as parts of this process's record
 *                  (record/rank.h)
 *
 * Threads:  the helper thread.
 * Memory:   nothing is allocated.
 * Errors:   put->full (record/put.h).
 */
#ifndef NT_WRITEHISTORY_H
#define NT_WRITEHISTORY_H

#include "engine/history.h"
#include "record/put.h"

/* An element of the record's "explored": what was measured of the arms. */
void nt_write_explored(struct nt_put *put, const struct nt_history *history);

/* The member "trial" of a key, with which its decision can be repeated. */
void nt_write_trial(struct nt_put *put, const struct nt_history *history);

#endif
