/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* rank-history.h - keys' histories (engine/history.h) in this process's record (record/rank.h)
 *
 * Threads:  the helper thread.
 * Memory:   nothing is allocated.
 * Errors:   put->full (lib/json-writer.h).
 */
#ifndef NT_RANK_HISTORY_H
#define NT_RANK_HISTORY_H

#include "engine/history.h"
#include "lib/json-writer.h"

/* One of the record's "explored": the arms' measurements */
void nt_rank_history_explored(struct nt_json_writer *put, const struct nt_history *history);

/* A key's "trial", from which its decision can be replayed */
void nt_rank_history_trial(struct nt_json_writer *put, const struct nt_history *history);

#endif
