/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* channel-limits.h - apply an arm's channel cap and chunk size (docs/decisions/0007-arms.md)
 *
 * NCCL asks for a task's chunk size when it lays out the launch, after all decisions of the group,
 * by collective, algorithm and protocol only (calcCollChunking, src/enqueue.cc@v2.30.7-1). The
 * newest decision for these counts. Every task has a decision in its group, which is newer than
 * anything a single rank may have asked for in between, so the answer is the same on every rank.
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

/* Chunk sizes of a communicator's newest decisions; all 0: NCCL's. */
struct nt_chunks {
	bool used[NT_COLLS]; /* an arm of this collective had a chunk size */
	_Atomic uint32_t bytes[NT_COLLS][NT_PAIRS];
};

/* Set the arm's channel cap. NCCL takes the number as it is, limited to the communicator's
 * channels. */
void nt_channel_limits_set(int arm, int *channels);

/* Does a decision for this arm have to be noted? Not until some arm of this collective had a chunk
 * size. */
bool nt_channel_limits_noted(const struct nt_chunks *chunks, int coll, int arm);
/* Note a decision for this arm; pair: the arm's, or NCCL's choice. */
void nt_channel_limits_note(struct nt_chunks *chunks, int coll, int arm, int pair);

/* The chunk size of a task; any input is safe. Never above NCCL's: buffers are sized for that. */
void nt_channel_limits_chunk(const struct nt_chunks *chunks, int coll, int pair,
			     size_t *chunk_bytes);

#endif
