/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tuner/channel-limits.h"

void nt_channel_limits_set(int arm, int *channels)
{
	unsigned cap = nt_arm_channels(arm);

	if (cap != 0)
		*channels = (int)cap;
}

static size_t chunk_of(int arm)
{
	return arm == NT_ARM_BASELINE ? 0 : nt_arm_chunk(arm);
}

bool nt_channel_limits_noted(const struct nt_chunks *chunks, int coll, int arm)
{
	return chunk_of(arm) != 0 || chunks->used[coll];
}

void nt_channel_limits_note(struct nt_chunks *chunks, int coll, int arm, int pair)
{
	chunks->used[coll] = true;
	if (pair < NT_PAIRS)
		atomic_store_explicit(&chunks->bytes[coll][pair], (uint32_t)chunk_of(arm),
				      memory_order_relaxed);
}

void nt_channel_limits_chunk(const struct nt_chunks *chunks, int coll, int pair,
			     size_t *chunk_bytes)
{
	size_t bytes = 0;

	if (coll >= 0 && coll < NT_COLLS && pair >= 0 && pair < NT_PAIRS)
		bytes = atomic_load_explicit(&chunks->bytes[coll][pair], memory_order_relaxed);
	if (bytes != 0 && bytes < *chunk_bytes)
		*chunk_bytes = bytes;
}
