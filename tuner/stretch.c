/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tuner/stretch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/clock.h"

bool nt_stretch_clock_is_cheap(const char *path)
{
	static const char *const cheap[] = { "tsc", "kvm-clock", "hyperv_clocksource_tsc_page",
					     "arch_sys_counter" };
	char name[64] = "";
	FILE *f = fopen(path, "re");

	if (!f)
		return false;
	if (!fgets(name, sizeof(name), f))
		name[0] = '\0';
	fclose(f);
	name[strcspn(name, "\n")] = '\0';
	for (size_t i = 0; i < sizeof(cheap) / sizeof(cheap[0]); i++) {
		if (strcmp(name, cheap[i]) == 0)
			return true;
	}
	return false;
}

unsigned nt_stretch_count(const struct nt_stretch *stretch)
{
	uint32_t taken = 0;

	if (stretch->calls)
		taken = atomic_load_explicit(&stretch->calls->taken, memory_order_relaxed);
	return taken < NT_PERIOD_CALLS ? taken : NT_PERIOD_CALLS;
}

bool nt_stretch_begin(struct nt_stretch *stretch)
{
	unsigned count = nt_stretch_count(stretch);

	if (!stretch->calls)
		stretch->calls = calloc(1, sizeof(*stretch->calls));
	if (!stretch->calls)
		return false;
	for (unsigned i = 0; i < count; i++)
		atomic_store_explicit(&stretch->calls->call[i].ns, 0, memory_order_relaxed);
	atomic_store_explicit(&stretch->calls->taken, 0, memory_order_relaxed);
	stretch->calls->copied = 0;
	/* Pairs with the acquire in nt_stretch_note(). */
	atomic_store_explicit(&stretch->open, stretch->calls, memory_order_release);
	return true;
}

void nt_stretch_end(struct nt_stretch *stretch)
{
	atomic_store_explicit(&stretch->open, NULL, memory_order_relaxed);
}

void nt_stretch_clear(struct nt_stretch *stretch)
{
	nt_stretch_end(stretch);
	free(stretch->calls);
	stretch->calls = NULL;
}

void nt_stretch_write(struct nt_stretch_calls *calls, const struct nt_period_call *call)
{
	struct nt_stretch_call *to;
	uint32_t at;

	/* No further than the room, however long nobody looks */
	if (atomic_load_explicit(&calls->taken, memory_order_relaxed) >= NT_PERIOD_CALLS)
		return;
	at = atomic_fetch_add_explicit(&calls->taken, 1, memory_order_relaxed);
	if (at >= NT_PERIOD_CALLS)
		return;
	to = &calls->call[at];
	atomic_store_explicit(&to->key, call->key, memory_order_relaxed);
	atomic_store_explicit(&to->who, (uint64_t)call->comm << 32 | call->number,
			      memory_order_relaxed);
	atomic_store_explicit(&to->comm_ranks, call->ranks, memory_order_relaxed);
	/* Pairs with the acquire in nt_stretch_read(). */
	atomic_store_explicit(&to->ns, (uint64_t)nt_clock_read_ns(CLOCK_MONOTONIC),
			      memory_order_release);
}

static bool copy_call(struct nt_stretch_calls *calls, unsigned at)
{
	const struct nt_stretch_call *call = &calls->call[at];
	const uint64_t ns = atomic_load_explicit(&call->ns, memory_order_acquire);
	const uint64_t who = atomic_load_explicit(&call->who, memory_order_relaxed);

	calls->copy[at] = (struct nt_period_call){
		.ns = ns,
		.key = atomic_load_explicit(&call->key, memory_order_relaxed),
		.comm = (uint32_t)(who >> 32),
		.ranks = atomic_load_explicit(&call->comm_ranks, memory_order_relaxed),
		.number = (uint32_t)who,
	};
	return ns != 0;
}

const struct nt_period_call *nt_stretch_read(struct nt_stretch *stretch, unsigned *count)
{
	struct nt_stretch_calls *calls = stretch->calls;
	const unsigned taken = nt_stretch_count(stretch);

	*count = 0;
	if (!calls)
		return NULL;
	while (calls->copied < taken && copy_call(calls, calls->copied))
		calls->copied++;
	*count = calls->copied;
	return calls->copy;
}
