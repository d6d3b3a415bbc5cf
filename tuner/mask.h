/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* mask.h - which events NCCL sends this process: one int of NCCL's for all communicators
 *
 * Coll and KernelLaunch are on while a key counts turns, KernelCh and KernelLaunch while a key, or
 * what is sent, is measured. What counts sends and receives (tuner/p2p-watch.h) is apart: nothing
 * depends on it, and who clears it does not make our events doubtful. Count and store are one step
 * under a lock: a 0 stored too late would suppress a group's events on this rank alone, and with
 * them a turn.
 *
 * From 2.31 on others may write NCCL's int: its RAS service, in all processes of a job. Its bits
 * stay on when we need none; bits that only a chained profiler wants are dropped. NCCL itself reads
 * and writes the int after a communicator's init, in two steps (ncclProfilerPluginInit, ibid.), and
 * may undo a store of ours, which is then repeated.
 *
 * Threads:  any. The lock is taken where a key opens or closes, or a window starts or ends, never
 *           in the steady state, and for a few instructions.
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
#define NT_MASK_PREVIOUS 4

/* Does one key want GPU times? Written under the mask's lock, read by any thread. */
struct nt_mask_hold {
	_Atomic bool on;
};

struct nt_mask {
	pthread_mutex_t lock;
	int *target[NT_MASK_TARGETS];
	_Atomic unsigned targets;
	int ours; /* our bits of `stored` */
	int foreign; /* bits that another party has stored */
	int previous[NT_MASK_PREVIOUS]; /* stored before, newest last */
	uint64_t attached_ms; /* when the newest communicator was opened */
	_Atomic bool overridden; /* another party has stored a value without our bits */
	_Atomic uint32_t losses; /* how often it has */
	_Atomic int stored; /* in every target */
	unsigned open, measuring;
	int chained; /* bits that a chained profiler wants */
	int counting; /* count sends and receives */
	_Atomic bool forbidden; /* GPU times are, for good */
	_Atomic bool asked; /* GPU times were asked for */
	_Atomic int value;
};

void nt_mask_init(struct nt_mask *mask);
void nt_mask_fini(struct nt_mask *mask);

/* target: NCCL's int, from a profiler's init */
void nt_mask_attach(struct nt_mask *mask, int *target);

/* delta: one more communicator that counts turns (1), or one less (-1) */
void nt_mask_open(struct nt_mask *mask, int delta);

/* GPU times for this key on or off. Idempotent; any thread. */
void nt_mask_measure(struct nt_mask *mask, struct nt_mask_hold *hold, bool on);

static inline bool nt_mask_measures(const struct nt_mask_hold *hold)
{
	/* No other data depends on it; nothing to pair with. */
	return atomic_load_explicit(&hold->on, memory_order_relaxed);
}

/* No more GPU times in this process: a CUDA graph was, or may have been, captured. Kernels of a
 * graph captured without them count work items that NCCL's host side does not, and the next GPU
 * time that it waits for never comes: the communicator hangs (measured, docs/hosts.md). */
void nt_mask_forbid(struct nt_mask *mask);

static inline bool nt_mask_forbidden(const struct nt_mask *mask)
{
	return atomic_load_explicit(&mask->forbidden, memory_order_relaxed);
}

/* Any thread: have GPU times been asked for since the last call that says so? */
static inline bool nt_mask_asked(const struct nt_mask *mask)
{
	return atomic_load_explicit(&mask->asked, memory_order_relaxed);
}
void nt_mask_ask_anew(struct nt_mask *mask);

/* What a chained profiler wants besides ours */
void nt_mask_chain(struct nt_mask *mask, int bits);

/* What counts sends and receives */
void nt_mask_count(struct nt_mask *mask, int bits);

/* Is NCCL's int what we stored last? */
static inline bool nt_mask_intact(const struct nt_mask *mask)
{
	/* Pairs with the release in nt_mask_attach(): the targets are visible. */
	unsigned targets = atomic_load_explicit(&mask->targets, memory_order_acquire);
	int stored = atomic_load_explicit(&mask->stored, memory_order_relaxed);

	for (unsigned i = 0; i < targets; i++) {
		if (__atomic_load_n(mask->target[i], __ATOMIC_RELAXED) != stored)
			return false;
	}
	return true;
}

/* Another party has changed the int: put our bits back. If they were missing, tasks appended
 * meanwhile may lack events: a loss. */
void nt_mask_restore(struct nt_mask *mask);

static inline uint32_t nt_mask_losses(const struct nt_mask *mask)
{
	/* Counted by this thread, or a single number; nothing to pair with. */
	return atomic_load_explicit(&mask->losses, memory_order_relaxed);
}

/* Our events were switched off once: do not rely on them. */
static inline bool nt_mask_overridden(const struct nt_mask *mask)
{
	return atomic_load_explicit(&mask->overridden, memory_order_relaxed);
}

/* Ours without those that count; NCCL's int may have more. */
static inline int nt_mask_value(const struct nt_mask *mask)
{
	return atomic_load_explicit(&mask->value, memory_order_relaxed);
}

#endif
