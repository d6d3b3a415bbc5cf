/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tuner/handle.h"

#include <stdatomic.h>
#include <stdlib.h>

/* Only measured tasks have pairs, and NCCL cannot have so many under way: their descriptors do not
 * fit its queue (1 MiB by default, src/enqueue.cc, NCCL_WORK_FIFO_BYTES). */
#define PAIRS 32768u

struct pair {
	_Atomic uint64_t ticket; /* plus 1; 0: unused, or being written */
	_Atomic(void *) ours;
	_Atomic(void *) theirs;
};

static struct {
	struct pair *pair; /* PAIRS of them, set before NCCL has a context; NULL: no memory */
	_Atomic uint64_t next;
} pairs;

void nt_handle_make_room(void)
{
	if (!pairs.pair)
		pairs.pair = calloc(PAIRS, sizeof(*pairs.pair));
}

static void *make_pair(void *ours, void *theirs)
{
	uint64_t ticket;
	struct pair *pair;

	if (!pairs.pair)
		return NULL;
	ticket = atomic_fetch_add_explicit(&pairs.next, 1, memory_order_relaxed) & NT_HANDLE_MASK;
	pair = &pairs.pair[ticket % PAIRS];
	atomic_store_explicit(&pair->ticket, 0, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	atomic_store_explicit(&pair->ours, ours, memory_order_relaxed);
	atomic_store_explicit(&pair->theirs, theirs, memory_order_relaxed);
	/* Pairs with the acquire in nt_handle_of_pair(). */
	atomic_store_explicit(&pair->ticket, ticket + 1, memory_order_release);
	return (void *)(uintptr_t)(NT_HANDLE_PAIR << NT_HANDLE_SHIFT | ticket);
}

void *nt_handle_of_pair(const void *event, bool ours)
{
	uint64_t ticket = (uint64_t)(uintptr_t)event & NT_HANDLE_MASK;
	struct pair *pair;
	void *half;

	if (!pairs.pair)
		return NULL;
	pair = &pairs.pair[ticket % PAIRS];
	if (atomic_load_explicit(&pair->ticket, memory_order_acquire) != ticket + 1)
		return NULL;
	half = atomic_load_explicit(ours ? &pair->ours : &pair->theirs, memory_order_relaxed);
	/* Pairs with the fence in make_pair(): if the ticket is unchanged, what was read is its
	 * own. */
	atomic_thread_fence(memory_order_acquire);
	return atomic_load_explicit(&pair->ticket, memory_order_relaxed) == ticket + 1 ? half
										       : NULL;
}

/* Without room for a pair, ours is dropped: a measured collective without a time. */
void *nt_handle_join(void *ours, void *theirs, bool *lost)
{
	bool plain = nt_handle_tag(theirs) == 0;
	void *event;

	*lost = false;
	if (!theirs)
		return nt_handle_of_ours(ours);
	if (!ours && plain)
		return theirs;
	event = make_pair(ours, theirs);
	if (event || plain)
		return event ? event : theirs;
	*lost = true;
	return NULL;
}
