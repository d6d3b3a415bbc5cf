/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tuner/event-slot.h"

#include <string.h>

enum { FREE = 0, LIVE = 1, BUSY = 2 };

#define GENERATIONS (UINT32_C(1) << 24) /* leaves a handle's top byte free */

_Static_assert(sizeof(void *) == sizeof(uint64_t), "a handle is a pointer's size");
_Static_assert(offsetof(struct nt_sample, whose) == 0, "part 0 is `whose`");
_Static_assert(sizeof(struct nt_sample) % sizeof(uint64_t) == 0, "whole parts");

static uint64_t number_of(const void *handle)
{
	return (uint64_t)(uintptr_t)handle;
}

static uint32_t generation_of(uint64_t stamp)
{
	return (uint32_t)(stamp >> 32);
}

static uint64_t stamp_of(uint32_t generation, unsigned state)
{
	return (uint64_t)generation << 32 | state;
}

/* Every number has a slot; the generation tells whether it is the slot's present use. */
static struct nt_event_slot *slot_of(struct nt_event_slots *slots, const void *handle)
{
	return &slots->slot[(number_of(handle) >> 2) & (NT_EVENT_SLOT_COUNT - 1)];
}

static bool is_handle(const void *handle)
{
	return (number_of(handle) & 3) == NT_EVENT_SLOT_KIND &&
	       (uint32_t)number_of(handle) >> 2 < NT_EVENT_SLOT_COUNT;
}

/* Eight bytes at a time, by atomic accesses: the slot may be reused meanwhile. */
static void read_sample(struct nt_event_slot *slot, struct nt_sample *out)
{
	uint64_t part[NT_SAMPLE_PARTS];

	for (unsigned i = 0; i < NT_SAMPLE_PARTS; i++)
		part[i] = atomic_load_explicit(&slot->part[i], memory_order_relaxed);
	memcpy(out, part, sizeof(*out));
}

static void write_sample(struct nt_event_slot *slot, const struct nt_sample *in)
{
	uint64_t part[NT_SAMPLE_PARTS];

	memcpy(part, in, sizeof(*in));
	for (unsigned i = 0; i < NT_SAMPLE_PARTS; i++)
		atomic_store_explicit(&slot->part[i], part[i], memory_order_relaxed);
}

void *nt_event_slot_take(struct nt_event_slots *slots, const struct nt_sample *sample, bool *lost,
			 struct nt_sample *victim)
{
	unsigned index = atomic_fetch_add_explicit(&slots->next, 1, memory_order_relaxed) &
			 (NT_EVENT_SLOT_COUNT - 1);
	struct nt_event_slot *slot = &slots->slot[index];
	uint64_t stamp = atomic_load_explicit(&slot->stamp, memory_order_relaxed);
	uint32_t generation = (generation_of(stamp) + 1) % GENERATIONS;

	*lost = false;
	if ((uint32_t)stamp == BUSY)
		return NULL;
	/* Acquires what the slot's last user released. */
	if (!atomic_compare_exchange_strong_explicit(&slot->stamp, &stamp,
						     stamp_of(generation, BUSY),
						     memory_order_acquire, memory_order_relaxed))
		return NULL;
	*lost = (uint32_t)stamp == LIVE;
	if (*lost)
		read_sample(slot, victim);
	write_sample(slot, sample);
	/* Pairs with the acquire of every later read of the stamp. */
	atomic_store_explicit(&slot->stamp, stamp_of(generation, LIVE), memory_order_release);
	return (void *)(uintptr_t)((uint64_t)generation << 32 | index << 2 | NT_EVENT_SLOT_KIND);
}

bool nt_event_slot_live(struct nt_event_slots *slots, const void *handle)
{
	uint64_t stamp = atomic_load_explicit(&slot_of(slots, handle)->stamp, memory_order_acquire);

	return is_handle(handle) && stamp == stamp_of(generation_of(number_of(handle)), LIVE);
}

bool nt_event_slot_look(struct nt_event_slots *slots, const void *handle, struct nt_sample *out)
{
	if (!nt_event_slot_live(slots, handle))
		return false;
	read_sample(slot_of(slots, handle), out);
	/* Pairs with the acquire in nt_event_slot_take(): if the generation is still live, all that
	 * was read is its own. */
	atomic_thread_fence(memory_order_acquire);
	return nt_event_slot_live(slots, handle);
}

bool nt_event_slot_finish(struct nt_event_slots *slots, const void *handle, struct nt_sample *out)
{
	struct nt_event_slot *slot = slot_of(slots, handle);
	uint64_t live = stamp_of(generation_of(number_of(handle)), LIVE);

	if (!nt_event_slot_live(slots, handle))
		return false;
	read_sample(slot, out);
	/* Generations only grow: if this succeeds, nothing was reused while it was read. */
	return atomic_compare_exchange_strong_explicit(&slot->stamp, &live,
						       stamp_of(generation_of(live), FREE),
						       memory_order_acq_rel, memory_order_relaxed);
}

void nt_event_slot_forget(struct nt_event_slots *slots, const void *whose)
{
	for (unsigned i = 0; i < NT_EVENT_SLOT_COUNT; i++) {
		struct nt_event_slot *slot = &slots->slot[i];
		uint64_t stamp = atomic_load_explicit(&slot->stamp, memory_order_acquire);

		if ((uint32_t)stamp == LIVE &&
		    atomic_load_explicit(&slot->part[0], memory_order_relaxed) == number_of(whose))
			/* Fails only if it was just finished or reused. */
			(void)atomic_compare_exchange_strong_explicit(
				&slot->stamp, &stamp, stamp_of(generation_of(stamp), FREE),
				memory_order_acq_rel, memory_order_relaxed);
	}
}
