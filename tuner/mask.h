/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* mask.h - which events NCCL sends this process: one int of NCCL's for all its communicators
 *
 * Coll and KernelLaunch are on while some key counts turns, KernelCh while some key is measured,
 * nothing otherwise. The store to NCCL's int and the count are one step under a lock: a late store
 * of 0 would let a group go by without its events, and with it a turn of this rank alone.
 *
 * From 2.31 on somebody else may write NCCL's int, too: its RAS service, in all processes of a job.
 * What it asks for is then what is on where nothing of ours is; what a chained profiler wants is no
 * more asked for. And NCCL itself reads and writes it after a communicator's init, in two steps
 * (ncclProfilerPluginInit, ibid.): a store of ours may be undone, which is put right.
 *
 * Threads:  any. The lock is taken where a key opens, closes or starts and ends a window, never in
 *           the steady state, and is held for a few instructions.
 * Memory:   NCCL's int must live as long as communicators do.
 * Host:     ncclProfilerEventMask, read relaxed whenever a task is appended
 *           (profiler.cc:218@v2.28.9-1); ncclProfilerSetRasOverride (profiler.cc@88980683).
 */
#ifndef NT_MASK_H
#define NT_MASK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define NT_MASK_TARGETS 4 /* copies of NCCL in one process */
#define NT_MASK_PAST 4

/* What one key wants of GPU times. Written under the mask's lock, read by any thread. */
struct nt_mask_hold {
	_Atomic bool on;
};

struct nt_mask {
	pthread_mutex_t lock;
	int *target[NT_MASK_TARGETS];
	_Atomic unsigned targets;
	int own; /* of what is stored, what is asked for here */
	int foreign; /* what somebody else has stored */
	int past[NT_MASK_PAST]; /* what was stored before; the newest is the last */
	uint64_t attached_ms; /* the newest communicator's init */
	_Atomic bool overridden; /* somebody else has stored something that lacked ours */
	_Atomic uint32_t losses; /* how often that was found */
	_Atomic int stored; /* in every target */
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

/* Whether NCCL's int is what it was made last, as far as one can see from outside. */
static inline bool nt_mask_intact(const struct nt_mask *mask)
{
	/* Pairs with the release in nt_mask_attach(): what is counted is there. */
	unsigned targets = atomic_load_explicit(&mask->targets, memory_order_acquire);
	int stored = atomic_load_explicit(&mask->stored, memory_order_relaxed);

	for (unsigned i = 0; i < targets; i++) {
		if (__atomic_load_n(mask->target[i], __ATOMIC_RELAXED) != stored)
			return false;
	}
	return true;
}

/* Puts ours back where somebody else has changed it, and counts a loss where bits of ours were
 * missing: of tasks appended meanwhile there may be no events. */
void nt_mask_restore(struct nt_mask *mask);

static inline uint32_t nt_mask_losses(const struct nt_mask *mask)
{
	/* Counted by this thread, or a number alone; nothing to pair with. */
	return atomic_load_explicit(&mask->losses, memory_order_relaxed);
}

/* Events of ours were switched off once: nothing more is to rest on them. */
static inline bool nt_mask_overridden(const struct nt_mask *mask)
{
	return atomic_load_explicit(&mask->overridden, memory_order_relaxed);
}

/* Ours; NCCL's int may have more bits. */
static inline int nt_mask_value(const struct nt_mask *mask)
{
	return atomic_load_explicit(&mask->value, memory_order_relaxed);
}

#endif
