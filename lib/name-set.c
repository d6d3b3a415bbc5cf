/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* name-set.c - an array of names, and a hash table that is at most half full */
#include "lib/name-set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/hash.h"

void nt_names_init(struct nt_names *names, size_t max)
{
	memset(names, 0, sizeof(*names));
	names->max = max;
}

void nt_names_fini(struct nt_names *names)
{
	free(names->name);
	free(names->slot);
	nt_names_init(names, names->max);
}

static size_t hash_of(const char *name)
{
	uint64_t hash = nt_hash64(NT_HASH64, name, strnlen(name, NT_NAME_BYTES - 1));

	return (size_t)(hash ^ hash >> 32);
}

/* The slot with the name, or the empty slot for it. */
static uint32_t *slot_of(const struct nt_names *names, const char *name)
{
	size_t i = hash_of(name) & (names->slots - 1);

	while (names->slot[i] != 0 &&
	       strncmp(names->name[names->slot[i] - 1], name, NT_NAME_BYTES - 1) != 0)
		i = (i + 1) & (names->slots - 1);
	return &names->slot[i];
}

int nt_names_find(const struct nt_names *names, const char *name)
{
	return names->slots > 0 ? (int)*slot_of(names, name) - 1 : -1;
}

static int grow_table(struct nt_names *names)
{
	size_t slots = names->slots ? 2 * names->slots : 16;
	uint32_t *slot = calloc(slots, sizeof(*slot));
	void *name = reallocarray(names->name, slots / 2, sizeof(names->name[0]));

	if (name)
		names->name = name;
	if (!slot || !name) {
		free(slot);
		return -1;
	}
	free(names->slot);
	names->slot = slot;
	names->slots = slots;
	for (size_t i = 0; i < names->count; i++)
		*slot_of(names, names->name[i]) = (uint32_t)i + 1;
	return 0;
}

int nt_names_add(struct nt_names *names, const char *name)
{
	int found = nt_names_find(names, name);

	if (found >= 0)
		return found;
	if (names->count >= names->max ||
	    (2 * names->count >= names->slots && grow_table(names) < 0))
		return -1;
	snprintf(names->name[names->count], NT_NAME_BYTES, "%s", name);
	*slot_of(names, name) = (uint32_t)names->count + 1;
	return (int)names->count++;
}

int nt_names_item(struct nt_names *names, const char *name, void *items, size_t item_bytes)
{
	void **array = items;
	int number = nt_names_find(names, name);
	char *grown;

	if (number >= 0)
		return number;
	grown = reallocarray(*array, names->count + 1, item_bytes);
	if (!grown)
		return -1;
	*array = grown;
	memset(grown + names->count * item_bytes, 0, item_bytes);
	return nt_names_add(names, name);
}
