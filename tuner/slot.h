/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* slot.h - the measured decisions under way; a late, repeated or stale handle does no harm
 *
 * NCCL keeps what a Coll event's start hands out and shows it to every KernelCh event of that
 * collective, from another thread, some of them after the communicator's end. So a handle is a
 * number, slot and generation, and no pointer. It fits in 56 bits (tuner/handle.h).
 *
 * A slot is one decision, whatever number of tasks ran by it. It is finished once: with a time, or
 * by age where its kernels never tell.
 *
 * Threads:  take on the thread of the Coll events, finish on the proxy threads, forget on any.
 * Memory:   all static in struct nt_slots; no allocation, no lock, no system call.
 */
#ifndef NT_SLOT_H
#define NT_SLOT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NT_SLOT_COUNT 1024 /* decisions being measured at once in a process; a power of two */
#define NT_SLOT_KIND 1u /* the lowest two bits of a handle */
#define NT_SLOT_KIND_KERNEL 2u /* ... of one that stands for the same slot, for a kernel's event */

/* Where a time belongs. Slots keep it and look at nothing but `whose`. */
struct nt_sample {
	const void *whose; /* the caller's: what is forgotten together */
	void *key; /* the caller's */
	uint32_t run; /* on the board; NT_NO_RUN: the key's own list */
	uint32_t owner; /* of the run, as the board has it */
	uint32_t epoch; /* of the plan */
	uint32_t member;
	uint32_t position;
};

struct nt_slot {
	_Atomic uint64_t word; /* generation << 32 | free, live or busy */
	_Atomic(const void *) whose;
	_Atomic(void *) key;
	_Atomic uint32_t run, owner, epoch, member, position;
};

struct nt_slots {
	struct nt_slot slot[NT_SLOT_COUNT];
	_Atomic uint32_t next;
};

/* Handle of a fresh slot, never NULL but where two threads meet on one slot. Where an unfinished
 * one had to go, *lost is true and *victim its sample. */
void *nt_slot_take(struct nt_slots *slots, const struct nt_sample *sample, bool *lost,
		   struct nt_sample *victim);

/* True for the first one to ask while the handle is live: *out is its sample, and the handle is
 * stale from then on. */
bool nt_slot_finish(struct nt_slots *slots, const void *handle, struct nt_sample *out);

bool nt_slot_live(struct nt_slots *slots, const void *handle);

/* True where the handle is live: *out is its sample. */
bool nt_slot_look(struct nt_slots *slots, const void *handle, struct nt_sample *out);

/* The handle of a kernel's event of the same decision, and back; NULL: it is none. */
static inline void *nt_slot_to_kernel(const void *handle)
{
	return (void *)((uintptr_t)handle ^ NT_SLOT_KIND ^ NT_SLOT_KIND_KERNEL);
}

static inline void *nt_slot_of_kernel(const void *event)
{
	if (((uintptr_t)event & 3) != NT_SLOT_KIND_KERNEL)
		return NULL;
	return (void *)((uintptr_t)event ^ NT_SLOT_KIND ^ NT_SLOT_KIND_KERNEL);
}

/* All handles whose samples say `whose` are stale from now on. */
void nt_slot_forget(struct nt_slots *slots, const void *whose);

#endif
