/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* mask.h - which events NCCL sends this process: one int of NCCL's for all its communicators
 *
 * Coll and KernelLaunch are on while some key counts turns, KernelCh while some key is measured,
 * nothing otherwise. The store to NCCL's int and the count are one step under a lock: a late store
 * of 0 would let a group go by without its events, and with it a turn of this rank alone.
 *
 * Threads:  any. The lock is taken where a key opens, closes or starts and ends a window, never in
 *           the steady state, and is held for a few instructions.
 * Memory:   NCCL's int must live as long as communicators do.
 * Host:     ncclProfilerEventMask, read relaxed whenever a task is appended
 *           (profiler.cc:218@v2.28.9-1).
 */
#ifndef NT_MASK_H
#define NT_MASK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#define NT_MASK_TARGETS 4 /* copies of NCCL in one process */

/* What one key wants of GPU times. Written under the mask's lock, read by any thread. */
struct nt_mask_hold {
	_Atomic bool on;
};

struct nt_mask {
	pthread_mutex_t lock;
	int *target[NT_MASK_TARGETS];
	unsigned targets;
	unsigned open, measuring;
	int chained; /* what a chained profiler wants */
	_Atomic bool forbidden; /* GPU times, for good */
	_Atomic int value;
};

void nt_mask_init(struct nt_mask *mask);
void nt_mask_fini(struct nt_mask *mask);

/* NCCL's int, as a profiler's init is given it. */
void nt_mask_attach(struct nt_mask *mask, int *target);

/* delta 1 or -1: somebody more or less who counts turns. */
void nt_mask_open(struct nt_mask *mask, int delta);

/* GPU times are wanted for this key, or no more. Repetitions change nothing, from whatever thread
 * they come. */
void nt_mask_measure(struct nt_mask *mask, struct nt_mask_hold *hold, bool on);

static inline bool nt_mask_measures(const struct nt_mask_hold *hold)
{
	/* Whoever finds it changed has nothing else to read; nothing to pair with. */
	return atomic_load_explicit(&hold->on, memory_order_relaxed);
}

/* No GPU times in this process from now on: a CUDA graph was, or may have been, captured. Kernels
 * of graphs captured without them count works that NCCL's host side does not, and the next GPU time
 * that it waits for never comes: the communicator hangs (measured, docs/hosts.md). */
void nt_mask_forbid(struct nt_mask *mask);

/* What a chained profiler wants, beside ours. Replaces what it wanted before. */
void nt_mask_chain(struct nt_mask *mask, int bits);

/* Ours; NCCL's int may have more bits. */
static inline int nt_mask_value(const struct nt_mask *mask)
{
	return atomic_load_explicit(&mask->value, memory_order_relaxed);
}

#endif
