/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tuner/kept-calls.h"

#include "contract/shm-layout.h"

#define NAMED (UINT32_C(1) << 31)
#define RING (UINT32_C(1) << 30)
#define COLL_SHIFT 27
#define TURNS (UINT32_C(1) << COLL_SHIFT)
#define ALGO_RING 1
#define LEVEL_MAX 31u

uint32_t nt_kept_name(int coll, int algo, uint64_t turn)
{
	/* A root is ahead of the others, or behind. */
	if (coll != NT_ALLREDUCE && coll != NT_ALLGATHER && coll != NT_REDUCESCATTER)
		return 0;
	return NAMED | (algo == ALGO_RING ? RING : 0) | (uint32_t)coll << COLL_SHIFT |
	       (uint32_t)(turn % TURNS);
}

/* Every bit of the hash depends on every bit of the name: a program's steps number their calls
 * alike, and a step's first call, to which ranks come apart, must be kept as often as any other. */
static bool is_selected(uint32_t name, unsigned level)
{
	uint32_t hash = (name & ~RING) * UINT32_C(0x9e3779b1);

	hash = (hash ^ hash >> 16) * UINT32_C(0x85ebca6b);
	hash = (hash ^ hash >> 13) * UINT32_C(0xc2b2ae35);
	return ((hash ^ hash >> 16) & ((UINT32_C(1) << level) - 1)) == 0;
}

static uint32_t name_of(const struct nt_kept_call *call)
{
	return (uint32_t)(atomic_load_explicit(&call->entry, memory_order_relaxed) >> 32);
}

static void store_call(struct nt_kept_call *call, uint32_t name, uint32_t time, uint32_t when_ms)
{
	atomic_store_explicit(&call->when_ms, when_ms, memory_order_relaxed);
	/* Name and time are one word: a reader sees both or neither. */
	atomic_store_explicit(&call->entry, (uint64_t)name << 32 | time, memory_order_relaxed);
}

/* Who reads meanwhile may see a call twice. */
static uint32_t thin_out(struct nt_kept_calls *kept)
{
	uint32_t left = 0;

	kept->level++;
	for (unsigned i = 0; i < NT_KEPT_CALLS; i++) {
		const struct nt_kept_call *call = &kept->call[i];
		uint64_t entry = atomic_load_explicit(&call->entry, memory_order_relaxed);

		if (is_selected((uint32_t)(entry >> 32), kept->level))
			store_call(&kept->call[left++], (uint32_t)(entry >> 32), (uint32_t)entry,
				   atomic_load_explicit(&call->when_ms, memory_order_relaxed));
	}
	return left;
}

void nt_kept_end(struct nt_kept_calls *kept, const void *handle, uint32_t name, uint64_t stop_ns)
{
	uint32_t count = atomic_load_explicit(&kept->count, memory_order_relaxed), time;

	if (name == 0 || handle != kept->handle || stop_ns <= kept->start_ns ||
	    !is_selected(name, kept->level))
		return;
	if (kept->first_ns == 0)
		kept->first_ns = kept->start_ns;
	time = nt_shm_time(stop_ns - kept->start_ns);
	if (time == 0 || kept->start_ns < kept->first_ns)
		return;
	if (count > 0 && name_of(&kept->call[count - 1]) == name)
		count--;
	while (count == NT_KEPT_CALLS && kept->level < LEVEL_MAX)
		count = thin_out(kept);
	if (count == NT_KEPT_CALLS || !is_selected(name, kept->level))
		goto out;
	store_call(&kept->call[count], name, time,
		   (uint32_t)((kept->start_ns - kept->first_ns) / 1000000));
	count++;
out:
	/* Pairs with the acquire in nt_kept_read(): the calls are there. */
	atomic_store_explicit(&kept->count, count, memory_order_release);
}

bool nt_kept_read(const struct nt_kept_calls *kept, unsigned index, struct nt_kept *out)
{
	uint64_t entry;
	uint32_t name;

	/* Pairs with the release in nt_kept_end(). */
	if (index >= atomic_load_explicit(&kept->count, memory_order_acquire))
		return false;
	entry = atomic_load_explicit(&kept->call[index].entry, memory_order_relaxed);
	name = (uint32_t)(entry >> 32);
	*out = (struct nt_kept){
		.coll = (int)(name >> COLL_SHIFT & 7),
		.ring = (name & RING) != 0,
		.turn = name % TURNS,
		.ns = nt_shm_time_ns((uint32_t)entry),
		.when_ms = atomic_load_explicit(&kept->call[index].when_ms, memory_order_relaxed),
	};
	return true;
}
