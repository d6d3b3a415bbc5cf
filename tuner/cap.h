/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* cap.h - what an arm says beside its pair: a cap of channels, a chunk size
 * (docs/decisions/0007-arms.md)
 *
 * NCCL asks for the chunk size of a task when it lays out the launch, after all decisions of the
 * group, by collective, algorithm and protocol alone (calcCollChunking, src/enqueue.cc@v2.30.7-1).
 * The newest decision for these counts. Every task has a decision of its group, which is newer than
 * what one rank alone may have asked for in between, so that the answer is the same on every rank.
 *
 * Threads:  note: the one that decides; chunk: the one that launches what was decided.
 * Memory:   plain values; nothing is allocated or locked.
 */
#ifndef NT_CAP_H
#define NT_CAP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "contract/coll.h"

/* The chunk sizes of the newest decisions of a communicator; all 0: NCCL's own. */
struct nt_chunks {
	bool used[NT_COLLS]; /* some arm of this collective had a chunk size */
	_Atomic uint32_t bytes[NT_COLLS][NT_PAIRS];
};

/* Ask NCCL for no more channels than the arm says. It takes the number as it is, and then no more
 * than the communicator has. */
void nt_cap_channels(int arm, int *channels);

/* Whether something is to be noted of a decision for this arm: until some arm of this collective
 * had a chunk size there is nothing to forget. */
bool nt_cap_noted(const struct nt_chunks *chunks, int coll, int arm);
/* A decision for this arm; pair is its own, or NCCL's pick. */
void nt_cap_note(struct nt_chunks *chunks, int coll, int arm, int pair);

/* The chunk size of a task; any numbers. Never more than NCCL's own: buffers are made for that. */
void nt_cap_chunk(const struct nt_chunks *chunks, int coll, int pair, size_t *chunk_bytes);

#endif
