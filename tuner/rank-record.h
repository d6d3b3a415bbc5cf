/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* rank-record.h - this process's record (record/rank.h)
 *
 * Threads:  the helper thread. The process's lock is held while the text is made, never while it
 *           is copied.
 * Memory:   one buffer, freed before return.
 * Errors:   -1: no record, or the last one stays. At most
 *           NT_RANK_RECORD_MAX bytes: what does not fit is left out as a whole, and counted in
 *           "cut".
 */
#ifndef NT_RANK_RECORD_H
#define NT_RANK_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include "pmix-sync/node-leader.h"
#include "tuner/process.h"

/* Into the process's tray. leader: NULL if another process leads. end: this process writes
 * no more. */
int nt_rank_record_write(struct nt_process *process, const struct nt_node_leader *leader, bool end);

/* Returns the text's length; 0: not even an empty record has room. With the process's lock held.
 * agreement: NULL if another process leads. */
size_t nt_rank_record_print(struct nt_process *process,
			    const struct nt_node_leader_counts *agreement, bool end, char *out,
			    size_t out_bytes);

#endif
