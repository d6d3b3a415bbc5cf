/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tuner/call-counts.h"

#include <string.h>
#include <time.h>
#include "lib/clock.h"

static uint64_t wall_ms(void)
{
	return (uint64_t)(nt_clock_read_ns(CLOCK_REALTIME) / 1000000);
}

struct nt_calls *nt_calls_begin_process(struct nt_calls *calls,
					const struct nt_node_step *node_step, uint32_t task,
					uint32_t pid, uint32_t stall_s)
{
	calls->task = task;
	calls->pid = pid;
	calls->stall_s = stall_s;
	memcpy(calls->node, node_step->node, sizeof(calls->node));
	nt_calls_look(calls, false);
	return calls;
}

struct nt_calls_comm *nt_calls_add(struct nt_calls *calls, uint32_t index, uint64_t id, int rank,
				   uint32_t ranks, uint32_t nodes)
{
	struct nt_calls_comm *comm;

	if (!calls || index >= NT_CALLS_COMMS || id == 0 || rank < 0)
		return NULL;
	comm = &calls->comm[index];
	/* It may be an ended one's. */
	atomic_store_explicit(&comm->state, NT_CALLS_FREE, memory_order_relaxed);
	atomic_store_explicit(&comm->begun, 0, memory_order_relaxed);
	atomic_store_explicit(&comm->ended, 0, memory_order_relaxed);
	atomic_store_explicit(&comm->moved_ms, wall_ms(), memory_order_relaxed);
	comm->rank = rank;
	comm->id = id;
	comm->ranks = ranks;
	comm->nodes = nodes;
	atomic_store_explicit(&comm->state, NT_CALLS_OPEN, memory_order_release);
	return comm;
}

void nt_calls_leave(struct nt_calls_comm *comm)
{
	if (comm)
		atomic_store_explicit(&comm->state, NT_CALLS_LEFT, memory_order_relaxed);
}

void nt_calls_see(struct nt_calls_comm *comm, struct nt_calls_seen *seen, uint64_t now_ms)
{
	const uint64_t begun = nt_calls_begun(comm);

	if (!comm || (begun == seen->begun && seen->moved_ms != 0))
		return;
	seen->begun = begun;
	seen->moved_ms = now_ms;
	atomic_store_explicit(&comm->moved_ms, wall_ms(), memory_order_relaxed);
}

void nt_calls_look(struct nt_calls *calls, bool ended)
{
	if (!calls)
		return;
	atomic_store_explicit(&calls->seen_ms, wall_ms(), memory_order_relaxed);
	if (ended)
		atomic_store_explicit(&calls->ended, 1, memory_order_relaxed);
}
