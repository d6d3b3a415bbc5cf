/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* past.c - see past.h; a hash table with open addressing */
#include "pmix-sync/past.h"

#include <stdlib.h>

#define NT_PAST_MAX 65536u /* ids; a power of two. Half of the places stay free */

static uint32_t place_of(const struct nt_past *past, uint64_t id)
{
	uint32_t at = (uint32_t)((id * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (past->cap - 1);

	while (past->id[at] != 0 && past->id[at] != id)
		at = (at + 1) & (past->cap - 1);
	return at;
}

static bool grow(struct nt_past *past)
{
	struct nt_past more = { .cap = past->cap ? 2 * past->cap : 64 };

	if (more.cap > 2 * NT_PAST_MAX)
		return false;
	more.id = calloc(more.cap, sizeof(*more.id));
	if (!more.id)
		return false;
	for (uint32_t i = 0; i < past->cap; i++) {
		if (past->id[i] != 0)
			more.id[place_of(&more, past->id[i])] = past->id[i];
	}
	more.count = past->count;
	free(past->id);
	*past = more;
	return true;
}

bool nt_past_knows(const struct nt_past *past, uint64_t id)
{
	return past->cap > 0 && past->id[place_of(past, id)] == id;
}

bool nt_past_add(struct nt_past *past, uint64_t id)
{
	if (2 * past->count >= past->cap && !grow(past))
		return false;
	past->count += past->id[place_of(past, id)] == 0;
	past->id[place_of(past, id)] = id;
	return true;
}

void nt_past_free(struct nt_past *past)
{
	free(past->id);
	*past = (struct nt_past){ .cap = 0 };
}
