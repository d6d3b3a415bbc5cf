/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* event-slot.h - measured decisions under way; a late, repeated or stale handle does no harm
 *
 * NCCL keeps the handle that a Coll event's start returns, and passes it to every KernelCh event of
 * that collective, from another thread, sometimes after the communicator's end. So a handle is no
 * pointer but a number, slot and generation, of 56 bits (tuner/handle.h).
 *
 * A slot is one decision, however many tasks it has. It is finished once: with a time, or by age if
 * its kernels never tell.
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

#define NT_EVENT_SLOT_COUNT 1024 /* measured decisions of a process at one time; a power of two */
#define NT_EVENT_SLOT_KIND 1u /* a handle's lowest two bits */
#define NT_EVENT_SLOT_KIND_KERNEL 2u /* ... in a kernel event's handle of the same slot */

/* Where a time belongs. Slots look only at `whose`. */
struct nt_sample {
	const void *whose; /* samples with the same one are forgotten together */
	void *key;
	uint64_t number; /* of the call */
	uint32_t run; /* index in shared memory; NT_NO_RUN: the key's `observed` list */
	uint32_t owner; /* the run's, in shared memory */
	uint32_t epoch; /* of the plan */
	uint32_t rank_slot;
	uint32_t position;
	uint32_t name; /* of the call (tuner/kept-calls.h) */
};

#define NT_SAMPLE_PARTS (sizeof(struct nt_sample) / sizeof(uint64_t))

struct nt_event_slot {
	_Atomic uint64_t stamp; /* generation << 32 | free, live or busy */
	_Atomic uint64_t part[NT_SAMPLE_PARTS]; /* of the struct nt_sample */
};

struct nt_event_slots {
	struct nt_event_slot slot[NT_EVENT_SLOT_COUNT];
	_Atomic uint32_t next;
};

/* A new slot's handle. NULL: two threads met on one slot. *lost: the slot held an unfinished
 * sample, now in *victim. */
void *nt_event_slot_take(struct nt_event_slots *slots, const struct nt_sample *sample, bool *lost,
			 struct nt_sample *victim);

/* True for the first caller with a live handle, which becomes stale; sets *out. */
bool nt_event_slot_finish(struct nt_event_slots *slots, const void *handle, struct nt_sample *out);

bool nt_event_slot_live(struct nt_event_slots *slots, const void *handle);

/* True: the handle is live; sets *out. */
bool nt_event_slot_look(struct nt_event_slots *slots, const void *handle, struct nt_sample *out);

/* A kernel event's handle of the same decision, and back; NULL: it is none. */
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

/* All handles with this `whose` become stale. */
void nt_event_slot_forget(struct nt_event_slots *slots, const void *whose);

#endif
