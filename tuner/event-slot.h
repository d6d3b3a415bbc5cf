/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* event-slot.h - measured decisions in flight; late, repeated or stale handles do no harm
 *
 * NCCL keeps the handle that a Coll event's start returns and passes it to every KernelCh event of
 * that collective, from another thread, sometimes after the communicator's end. So a handle is a
 * number, slot and generation, and not a pointer. It fits in 56 bits (tuner/handle.h).
 *
 * A slot is one decision, whatever the number of its tasks. It is finished once: with a time, or by
 * age if its kernels never report.
 *
 * Threads:  take on the thread of the Coll events, finish on the proxy threads, forget on any.
 * Memory:   all in struct nt_event_slots; no allocation, no lock, no system call.
 */
#ifndef NT_EVENT_SLOT_H
#define NT_EVENT_SLOT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NT_EVENT_SLOT_COUNT 1024 /* decisions in flight in a process; a power of two */
#define NT_EVENT_SLOT_KIND 1u /* the lowest two bits of a handle */
#define NT_EVENT_SLOT_KIND_KERNEL 2u /* ... of a handle of the same slot for a kernel's event */

/* Destination of a time. Opaque to slots, except `whose`. */
struct nt_sample {
	const void *whose; /* the caller's: samples to forget together */
	void *key; /* the caller's */
	uint64_t number; /* of the call */
	uint32_t run; /* in shared memory; NT_NO_RUN: the key's `observed` list */
	uint32_t owner; /* the run's owner in shared memory */
	uint32_t epoch; /* of the plan */
	uint32_t rank_slot;
	uint32_t position;
	uint32_t name; /* of the call (tuner/kept-calls.h) */
};

#define NT_SAMPLE_PARTS (sizeof(struct nt_sample) / sizeof(uint64_t))

struct nt_event_slot {
	_Atomic uint64_t word; /* generation << 32 | free, live or busy */
	_Atomic uint64_t part[NT_SAMPLE_PARTS]; /* of the struct nt_sample */
};

struct nt_event_slots {
	struct nt_event_slot slot[NT_EVENT_SLOT_COUNT];
	_Atomic uint32_t next;
};

/* Handle of a new slot; NULL only if two threads meet on one slot. If an unfinished sample was
 * evicted, *lost is true and *victim that sample. */
void *nt_event_slot_take(struct nt_event_slots *slots, const struct nt_sample *sample, bool *lost,
			 struct nt_sample *victim);

/* True for the first caller while the handle is live: sets *out, and the handle becomes stale. */
bool nt_event_slot_finish(struct nt_event_slots *slots, const void *handle, struct nt_sample *out);

bool nt_event_slot_live(struct nt_event_slots *slots, const void *handle);

/* True if the handle is live; sets *out. */
bool nt_event_slot_look(struct nt_event_slots *slots, const void *handle, struct nt_sample *out);

/* Convert to the handle of a kernel's event of the same decision, and back; NULL: it is none. */
static inline void *nt_event_slot_to_kernel(const void *handle)
{
	return (void *)((uintptr_t)handle ^ NT_EVENT_SLOT_KIND ^ NT_EVENT_SLOT_KIND_KERNEL);
}

static inline void *nt_event_slot_of_kernel(const void *event)
{
	if (((uintptr_t)event & 3) != NT_EVENT_SLOT_KIND_KERNEL)
		return NULL;
	return (void *)((uintptr_t)event ^ NT_EVENT_SLOT_KIND ^ NT_EVENT_SLOT_KIND_KERNEL);
}

/* Make all handles with this `whose` stale. */
void nt_event_slot_forget(struct nt_event_slots *slots, const void *whose);

#endif
