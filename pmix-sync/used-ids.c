/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* A hash table with open addressing. */
#include "pmix-sync/used-ids.h"

#include <stdlib.h>

#define NT_USED_IDS_MAX 65536u /* a power of two; half of the table stays free */

static uint32_t index_of(const struct nt_used_ids *ids, uint64_t id)
{
	uint32_t at = (uint32_t)((id * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (ids->cap - 1);

	while (ids->id[at] != 0 && ids->id[at] != id)
		at = (at + 1) & (ids->cap - 1);
	return at;
}

static bool grow_table(struct nt_used_ids *ids)
{
	struct nt_used_ids more = { .cap = ids->cap ? 2 * ids->cap : 64 };

	if (more.cap > 2 * NT_USED_IDS_MAX)
		return false;
	more.id = calloc(more.cap, sizeof(*more.id));
	if (!more.id)
		return false;
	for (uint32_t i = 0; i < ids->cap; i++) {
		if (ids->id[i] != 0)
			more.id[index_of(&more, ids->id[i])] = ids->id[i];
	}
	more.count = ids->count;
	free(ids->id);
	*ids = more;
	return true;
}

bool nt_used_ids_knows(const struct nt_used_ids *ids, uint64_t id)
{
	return ids->cap > 0 && ids->id[index_of(ids, id)] == id;
}

bool nt_used_ids_add(struct nt_used_ids *ids, uint64_t id)
{
	if (2 * ids->count >= ids->cap && !grow_table(ids))
		return false;
	ids->count += ids->id[index_of(ids, id)] == 0;
	ids->id[index_of(ids, id)] = id;
	return true;
}

void nt_used_ids_free(struct nt_used_ids *ids)
{
	free(ids->id);
	*ids = (struct nt_used_ids){ .cap = 0 };
}
