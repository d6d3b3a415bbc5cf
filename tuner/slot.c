/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* slot.c - see slot.h */
#include "tuner/slot.h"

#include <stddef.h>

/* Handle: generation << 32 | channel << 16 | task << 11 | slot << 2 | kind. Never 0. */
#define KIND_TASK 1u
#define KIND_CHANNEL 2u
#define CHANNELS 64u

#define BUSY UINT32_MAX		/* in the word's low half: being filled or read out */

_Static_assert(NT_SLOTS <= 512 && NT_SLOT_TASKS <= 32, "a handle has 9 bits for the slot and 5 for the task");
_Static_assert(sizeof(void *) == sizeof(uint64_t), "a handle is a pointer's size");

static uint64_t handle_of(uint32_t generation, unsigned index, unsigned task, unsigned channel, unsigned kind)
{
	return (uint64_t)generation << 32 | channel << 16 | task << 11 | index << 2 | kind;
}

static uint32_t generation_of(uint64_t word)
{
	return (uint32_t)(word >> 32);
}

static struct nt_slot *slot_of(struct nt_slots *slots, uint64_t handle)
{
	return &slots->slot[(handle >> 2) & (NT_SLOTS - 1)];
}

static unsigned task_of(uint64_t handle)
{
	return (handle >> 11) & (NT_SLOT_TASKS - 1);
}

static bool is_live(uint64_t word, uint64_t handle)
{
	return generation_of(word) == generation_of(handle) && (uint32_t)word != 0 && (uint32_t)word != BUSY;
}

static void read_sample(struct nt_slot *slot, struct nt_sample *out)
{
	out->comm = atomic_load_explicit(&slot->comm, memory_order_relaxed);
	out->key = atomic_load_explicit(&slot->key, memory_order_relaxed);
	out->run = atomic_load_explicit(&slot->run, memory_order_relaxed);
	out->owner = atomic_load_explicit(&slot->owner, memory_order_relaxed);
	out->member = atomic_load_explicit(&slot->member, memory_order_relaxed);
	out->position = atomic_load_explicit(&slot->position, memory_order_relaxed);
	out->group = atomic_load_explicit(&slot->group, memory_order_relaxed);
}

static void write_sample(struct nt_slot *slot, const struct nt_sample *in)
{
	atomic_store_explicit(&slot->comm, in->comm, memory_order_relaxed);
	atomic_store_explicit(&slot->key, in->key, memory_order_relaxed);
	atomic_store_explicit(&slot->run, in->run, memory_order_relaxed);
	atomic_store_explicit(&slot->owner, in->owner, memory_order_relaxed);
	atomic_store_explicit(&slot->member, in->member, memory_order_relaxed);
	atomic_store_explicit(&slot->position, in->position, memory_order_relaxed);
	atomic_store_explicit(&slot->group, in->group, memory_order_relaxed);
	atomic_store_explicit(&slot->start_ns, UINT64_MAX, memory_order_relaxed);
	atomic_store_explicit(&slot->stop_ns, 0, memory_order_relaxed);
	for (unsigned t = 0; t < NT_SLOT_TASKS; t++) {
		atomic_store_explicit(&slot->started[t], 0, memory_order_relaxed);
		atomic_store_explicit(&slot->stopped[t], 0, memory_order_relaxed);
	}
}

uint64_t nt_slot_take(struct nt_slots *slots, const struct nt_sample *sample, bool *lost, struct nt_sample *victim)
{
	unsigned index = atomic_fetch_add_explicit(&slots->next, 1, memory_order_relaxed) & (NT_SLOTS - 1);
	struct nt_slot *slot = &slots->slot[index];
	uint64_t word = atomic_load_explicit(&slot->word, memory_order_relaxed);
	uint32_t generation = generation_of(word) + 1;

	*lost = false;
	if ((uint32_t)word == BUSY)
		return 0;
	/* Acquires what the slot's last user released when it freed it. */
	if (!atomic_compare_exchange_strong_explicit(&slot->word, &word, (uint64_t)generation << 32 | BUSY,
						     memory_order_acquire, memory_order_relaxed))
		return 0;
	if ((uint32_t)word != 0) {
		*lost = true;
		read_sample(slot, victim);
	}
	write_sample(slot, sample);
	/* Pairs with the acquire of every later look at the word. */
	atomic_store_explicit(&slot->word, (uint64_t)generation << 32 | 1, memory_order_release);
	return handle_of(generation, index, 0, 0, KIND_TASK);
}

void *nt_slot_task(struct nt_slots *slots, uint64_t handle, unsigned task, unsigned channels)
{
	struct nt_slot *slot = slot_of(slots, handle);
	uint64_t word = atomic_load_explicit(&slot->word, memory_order_acquire);
	unsigned index = (unsigned)(slot - slots->slot);

	if (task >= NT_SLOT_TASKS || channels == 0 || channels > CHANNELS)
		return NULL;
	do {
		if (!is_live(word, handle))
			return NULL;
	} while (!atomic_compare_exchange_weak_explicit(&slot->word, &word, word + channels, memory_order_acq_rel,
							memory_order_acquire));
	return (void *)(uintptr_t)handle_of(generation_of(handle), index, task, 0, KIND_TASK);
}

/* One thing less to wait for. The last one reads the slot out before it is free again. */
static enum nt_slot_answer count_down(struct nt_slot *slot, uint64_t handle, struct nt_slot_result *result)
{
	uint64_t word = atomic_load_explicit(&slot->word, memory_order_acquire);
	uint64_t less;

	do {
		if (!is_live(word, handle))
			return NT_SLOT_STALE;
		less = (uint32_t)word == 1 ? (word | BUSY) : word - 1;
		/* acq_rel: the last one sees the times of all before it. */
	} while (!atomic_compare_exchange_weak_explicit(&slot->word, &word, less, memory_order_acq_rel,
							memory_order_acquire));
	if ((uint32_t)less != BUSY)
		return NT_SLOT_MORE;
	read_sample(slot, &result->sample);
	result->start_ns = atomic_load_explicit(&slot->start_ns, memory_order_relaxed);
	result->stop_ns = atomic_load_explicit(&slot->stop_ns, memory_order_relaxed);
	atomic_store_explicit(&slot->word, (uint64_t)generation_of(handle) << 32, memory_order_release);
	return NT_SLOT_DONE;
}

enum nt_slot_answer nt_slot_seal(struct nt_slots *slots, uint64_t handle, struct nt_slot_result *result)
{
	return count_down(slot_of(slots, handle), handle, result);
}

void *nt_slot_start(struct nt_slots *slots, void *task, unsigned channel, uint64_t start_ns)
{
	uint64_t handle = (uint64_t)(uintptr_t)task;
	struct nt_slot *slot = slot_of(slots, handle);
	uint64_t bit = UINT64_C(1) << (channel & (CHANNELS - 1));
	uint64_t least;

	if ((handle & 3) != KIND_TASK || channel >= CHANNELS ||
	    !is_live(atomic_load_explicit(&slot->word, memory_order_acquire), handle))
		return NULL;
	if (atomic_fetch_or_explicit(&slot->started[task_of(handle)], bit, memory_order_relaxed) & bit)
		return NULL;
	least = atomic_load_explicit(&slot->start_ns, memory_order_relaxed);
	while (start_ns < least && !atomic_compare_exchange_weak_explicit(&slot->start_ns, &least, start_ns,
									  memory_order_relaxed, memory_order_relaxed))
		;
	return (void *)(uintptr_t)handle_of(generation_of(handle), (unsigned)(slot - slots->slot), task_of(handle),
					    channel, KIND_CHANNEL);
}

enum nt_slot_answer nt_slot_stop(struct nt_slots *slots, void *channel, uint64_t stop_ns, struct nt_slot_result *result)
{
	uint64_t handle = (uint64_t)(uintptr_t)channel;
	struct nt_slot *slot = slot_of(slots, handle);
	uint64_t bit = UINT64_C(1) << ((handle >> 16) & (CHANNELS - 1));
	uint64_t most;

	if ((handle & 3) != KIND_CHANNEL ||
	    !is_live(atomic_load_explicit(&slot->word, memory_order_acquire), handle))
		return NT_SLOT_STALE;
	if (atomic_fetch_or_explicit(&slot->stopped[task_of(handle)], bit, memory_order_relaxed) & bit)
		return NT_SLOT_STALE;
	most = atomic_load_explicit(&slot->stop_ns, memory_order_relaxed);
	while (stop_ns > most && !atomic_compare_exchange_weak_explicit(&slot->stop_ns, &most, stop_ns,
									memory_order_relaxed, memory_order_relaxed))
		;
	return count_down(slot, handle, result);
}

/* The generation moves on, so that what comes late is stale. */
static bool release(struct nt_slot *slot, uint64_t word)
{
	return atomic_compare_exchange_strong_explicit(&slot->word, &word, (uint64_t)(generation_of(word) + 1) << 32,
						       memory_order_acq_rel, memory_order_relaxed);
}

bool nt_slot_drop(struct nt_slots *slots, uint64_t handle)
{
	struct nt_slot *slot = slot_of(slots, handle);
	uint64_t word = atomic_load_explicit(&slot->word, memory_order_acquire);

	while (is_live(word, handle)) {
		if (release(slot, word))
			return true;
		word = atomic_load_explicit(&slot->word, memory_order_acquire);
	}
	return false;
}

void nt_slot_forget(struct nt_slots *slots, const struct nt_comm *comm)
{
	for (unsigned i = 0; i < NT_SLOTS; i++) {
		struct nt_slot *slot = &slots->slot[i];
		uint64_t word = atomic_load_explicit(&slot->word, memory_order_acquire);

		while ((uint32_t)word != 0 && (uint32_t)word != BUSY &&
		       atomic_load_explicit(&slot->comm, memory_order_relaxed) == comm && !release(slot, word))
			word = atomic_load_explicit(&slot->word, memory_order_acquire);
	}
}
