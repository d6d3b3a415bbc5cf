/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* select-world.h - made-up entries */
#ifndef NT_SELECT_WORLD_H
#define NT_SELECT_WORLD_H

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "launch/select.h"
#include "launch/select-text.h"

#define NOW_S INT64_C(1763769600) /* 2025-11-22 */

static inline double world_random(uint64_t *state)
{
	uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return ((double)((x ^ (x >> 31)) >> 11) + 0.5) / 9007199254740992.0;
}

static inline double world_normal(uint64_t *state)
{
	double radius = sqrt(-2 * log(world_random(state)));

	return radius * cos(6.283185307179586 * world_random(state));
}

static inline struct nt_where world_where(void)
{
	struct nt_where where = { .fingerprint = 0xf3,
				  .nodes = 2,
				  .per_node = 1,
				  .nccl = 22809,
				  .driver = "570.124.06",
				  .fabric = NT_FABRIC_SOCKET };

	return where;
}

/* An entry of a step, with an id of its own and no key. */
static inline struct nt_memory_entry world_entry(const char *profile, uint32_t job, uint32_t step)
{
	struct nt_memory_entry entry;

	nt_entry_init(&entry);
	nt_entry_name(&entry, NULL);
	entry.where = world_where();
	snprintf(entry.profile, sizeof(entry.profile), "%s", profile);
	entry.job = job;
	entry.step = step;
	entry.when_s = NOW_S - 1000000 + 1000 * (int64_t)job + step;
	entry.added_us = entry.when_s * 1000000;
	return entry;
}

/* A key whose times spread by five percent around us. */
static inline void world_key(struct nt_memory_entry *entry, uint64_t bytes, uint64_t calls,
			     double us)
{
	struct nt_known_key *key = nt_entry_add_key(entry);

	key->coll = NT_ALLREDUCE;
	key->bytes = bytes;
	key->arm = nt_arm_parse("RING/SIMPLE");
	key->calls = calls;
	key->best = (struct nt_quantiles){ 0.95 * us, us, 1.05 * us, 200 };
	key->untuned = (struct nt_quantiles){ us, 1.05 * us, 1.1 * us, 24 };
}

static inline void world_marker(struct nt_memory_entry *entry, double us, double spread,
				uint64_t seed)
{
	entry->marker_coll = NT_ALLREDUCE;
	entry->marker_bytes = 1 << 20;
	entry->periods = NT_ENTRY_PERIODS;
	for (unsigned i = 0; i < entry->periods; i++)
		entry->period_us[i] = (float)(us * exp(spread * world_normal(&seed)));
}

#endif
