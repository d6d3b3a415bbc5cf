/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* stretch.h - notes what a process calls, and when, for a stretch of its calls from time to time:
 * collectives when they are decided; sends and receives, of which the first of a group stands for
 * all, while NCCL tells of them
 *
 * Threads:  note on any thread that calls; the others on the helper thread.
 * Memory:   half a MiB of the heap, touched as far as it is used, until clear: no thread may call
 *           then.
 * Errors:   without memory, or where the system's clock may need a system call, nothing is noted.
 * Host:     the clocks of Linux that its vDSO reads, by their names in /sys.
 */
#ifndef NT_STRETCH_H
#define NT_STRETCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include "engine/period.h"

/* Atomic, since a thread may be late, and write into the next stretch */
struct nt_stretch_call {
	_Atomic uint64_t key, who; /* who: communicator << 32 | number of the call */
	_Atomic uint32_t comm_ranks;
	_Atomic uint64_t ns; /* written last; 0: not yet */
};

struct nt_stretch_calls {
	_Atomic uint32_t taken; /* may exceed the room */
	struct nt_stretch_call call[NT_PERIOD_CALLS];
	unsigned copied; /* by the helper thread */
	struct nt_period_call copy[NT_PERIOD_CALLS];
};

/* Initially all zero. */
struct nt_stretch {
	_Atomic(struct nt_stretch_calls *) open; /* NULL: nothing is noted now */
	struct nt_stretch_calls *calls;
};

#define NT_STRETCH_CLOCK "/sys/devices/system/clocksource/clocksource0/current_clocksource"

/* Is the clock whose name this file has read without a system call? */
bool nt_stretch_clock_is_cheap(const char *path);

/* Begin a stretch. False: nothing can be noted. */
bool nt_stretch_begin(struct nt_stretch *stretch);
void nt_stretch_end(struct nt_stretch *stretch);
void nt_stretch_clear(struct nt_stretch *stretch);

/* Calls of the newest stretch so far, NT_PERIOD_CALLS at most. */
unsigned nt_stretch_count(const struct nt_stretch *stretch);
/* They, or as many of them as are complete; valid until the next stretch. NULL: there is none. */
const struct nt_period_call *nt_stretch_read(struct nt_stretch *stretch, unsigned *count);

void nt_stretch_write(struct nt_stretch_calls *calls, const struct nt_period_call *call);

/* A hint that saves the making of a call: it may end at any time. */
static inline bool nt_stretch_is_open(const struct nt_stretch *stretch)
{
	return atomic_load_explicit(&stretch->open, memory_order_relaxed) != NULL;
}

static inline void nt_stretch_note(struct nt_stretch *stretch, const struct nt_period_call *call)
{
	/* Pairs with the release in nt_stretch_begin(). */
	struct nt_stretch_calls *calls = atomic_load_explicit(&stretch->open, memory_order_acquire);

	if (__builtin_expect(calls != NULL, 0))
		nt_stretch_write(calls, call);
}

#endif
