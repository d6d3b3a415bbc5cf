/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* channel-limits.h - apply an arm's channel cap and chunk size (docs/decisions/arms.md)
 *
 * NCCL asks for a chunk size when it lays out the launch, after all decisions of the group, and
 * only by collective, algorithm and protocol (calcCollChunking, src/enqueue.cc@v2.30.7-1). The
 * answer is that of the newest decision for these. It is the same on every rank: each task has a
 * decision in its group, newer than anything that a single rank may have asked in between.
 *
 * Threads:  note: the deciding thread; chunk: the thread that launches what was decided.
 * Memory:   plain values; nothing is allocated or locked.
 */
#ifndef NT_CHANNEL_LIMITS_H
#define NT_CHANNEL_LIMITS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "contract/coll.h"

/* Of a communicator's newest decisions; all 0: NCCL's sizes */
struct nt_chunks {
	bool used[NT_COLLS]; /* some arm of this collective had a chunk size */
	_Atomic uint32_t bytes[NT_COLLS][NT_PAIRS];
};

/* NCCL takes the number as it is, up to the communicator's channels. */
void nt_channel_limits_set(int arm, int *channels);

/* Must a decision for this arm be noted? Not before some arm of its collective had a chunk size. */
bool nt_channel_limits_noted(const struct nt_chunks *chunks, int coll, int arm);
/* pair: the arm's, or NCCL's choice */
void nt_channel_limits_note(struct nt_chunks *chunks, int coll, int arm, int pair);

/* Any input is safe. Never above NCCL's size, for which buffers are made. */
void nt_channel_limits_chunk(const struct nt_chunks *chunks, int coll, int pair,
			     size_t *chunk_bytes);

#endif
