/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* shape.c - what an arm says beside its pair: a cap of channels, a chunk size
 * (docs/decisions/0007-arms.md)
 *
 * NCCL asks for the chunk size of a task when it lays out the launch, after all decisions of the
 * group, by collective, algorithm and protocol alone (calcCollChunking, src/enqueue.cc@v2.30.7-1).
 * The newest decision for these counts. Every task has a decision of its group, which is newer than
 * what one rank alone may have asked for in between, so that the answer is the same on every rank.
 */
#include "tuner/comm.h"

/* NCCL takes the number as it is, and then no more than the communicator has. */
void nt_comm_cap(const struct nt_decision *choice, const struct nt_call *call)
{
	unsigned channels = nt_arm_channels(choice->arm);

	if (channels != 0)
		*call->channels = (int)channels;
}

/* Until some arm of this collective had a chunk size there is nothing to forget. */
void nt_comm_note_chunk(struct nt_comm *comm, const struct nt_call *call, int arm)
{
	size_t bytes = arm == NT_ARM_AUTO ? 0 : nt_arm_chunk(arm);
	int pair = nt_arm_pair(arm);

	if (bytes == 0 && !comm->chunked[call->coll])
		return;
	comm->chunked[call->coll] = true;
	if (arm == NT_ARM_AUTO)
		pair = nt_auto_pick(call->cost, call->algos * NT_PROTOS);
	if (pair < NT_PAIRS)
		atomic_store_explicit(&comm->chunk_bytes[call->coll][pair], (uint32_t)bytes,
				      memory_order_relaxed);
}

/* Never more than NCCL's own: buffers are made for that. */
void nt_comm_chunk(struct nt_comm *comm, int coll, int pair, size_t *chunk_bytes)
{
	size_t bytes = 0;

	if (comm->chunks && coll >= 0 && coll < NT_COLLS && pair >= 0 && pair < NT_PAIRS)
		bytes = atomic_load_explicit(&comm->chunk_bytes[coll][pair], memory_order_relaxed);
	if (bytes != 0 && bytes < *chunk_bytes)
		*chunk_bytes = bytes;
}
