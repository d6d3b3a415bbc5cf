/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* call-counts.h - tells how many calls each rank has begun and ended, in the process's tray, which
 * outlives it (contract/tray-layout.h)
 *
 * Threads:  begin_process on one thread; add and leave with the process's lock held; begin on the
 *           deciding thread, end on the kernel event thread, look on the helper thread.
 * Memory:   the tray's.
 * Errors:   none: without a tray all parts are NULL, and nothing is told.
 */
#ifndef NT_CALL_COUNTS_H
#define NT_CALL_COUNTS_H

#include <stdbool.h>
#include "contract/policy.h"
#include "contract/tray-layout.h"

/* What the helper thread knows of a communicator's calls */
struct nt_calls_seen {
	uint64_t begun;
	uint64_t moved_ms; /* by nt_clock_ms() */
};

struct nt_calls *nt_calls_begin_process(struct nt_calls *calls,
					const struct nt_node_step *node_step, uint32_t task,
					uint32_t pid, uint32_t stall_s);

/* index: in the process's list. NULL: no room, or NCCL told too little. */
struct nt_calls_comm *nt_calls_add(struct nt_calls *calls, uint32_t index, uint64_t id, int rank,
				   uint32_t ranks, uint32_t nodes);
void nt_calls_leave(struct nt_calls_comm *comm);

/* Helper thread: when were calls last begun? */
void nt_calls_see(struct nt_calls_comm *comm, struct nt_calls_seen *seen, uint64_t now_ms);
/* ... the process lives. ended: it is ending by itself. */
void nt_calls_look(struct nt_calls *calls, bool ended);

static inline uint64_t nt_calls_begun(const struct nt_calls_comm *comm)
{
	/* Pairs with the release in nt_calls_begin(): the kinds of these calls are there. */
	return comm ? atomic_load_explicit(&comm->begun, memory_order_acquire) : 0;
}

static inline void nt_calls_begin(struct nt_calls_comm *comm, uint16_t kind)
{
	uint64_t begun;

	if (!comm)
		return;
	/* Single writer: no read-modify-write. */
	begun = atomic_load_explicit(&comm->begun, memory_order_relaxed);
	atomic_store_explicit(&comm->last[begun % NT_CALLS_LAST], kind, memory_order_relaxed);
	atomic_store_explicit(&comm->begun, begun + 1, memory_order_release);
}

/* A communicator's calls end in order. */
static inline void nt_calls_end(struct nt_calls_comm *comm, uint64_t number)
{
	if (comm && atomic_load_explicit(&comm->ended, memory_order_relaxed) < number)
		atomic_store_explicit(&comm->ended, number, memory_order_relaxed);
}

#endif
