/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* select-arms.c - the remembered arms of a place */
#include <stdlib.h>
#include <string.h>
#include "profiles/select-input.h"

#define ARMS_MAX 2048

struct arm {
	struct nt_warm_key key;
	const struct nt_memory_entry *entry; /* its source */
	double worth; /* calls times bytes, to choose if there are too many */
};

struct arms {
	unsigned count;
	struct arm arm[ARMS_MAX];
};

static bool same(const struct nt_warm_key *a, const struct nt_warm_key *b)
{
	return a->ranks == b->ranks && a->nodes == b->nodes && a->coll == b->coll &&
	       a->bytes == b->bytes;
}

/* What the arm takes less of a call than NCCL's choice; 0: not known, or nothing. */
static uint64_t gain_ns(const struct nt_known_key *key)
{
	const double ns = (key->untuned.median_us - key->best.median_us) * 1e3;

	if (key->arm == NT_ARM_BASELINE || !(key->best.median_us > 0) || !(ns >= 1))
		return 0;
	return ns < (double)NT_WARM_GAIN_MAX ? (uint64_t)ns : NT_WARM_GAIN_MAX;
}

/* The newer decides. A step that used the arm without measuring it leaves the gain as it was. */
static void replace(struct arm *known, const struct arm *arm)
{
	const bool newer = nt_entry_newer(arm->entry, known->entry);
	const struct arm other = newer ? *known : *arm;

	if (newer)
		*known = *arm;
	if (known->key.gain_ns == 0 && known->key.arm == other.key.arm)
		known->key.gain_ns = other.key.gain_ns;
}

static void add_key(struct arms *arms, const struct nt_memory_entry *entry,
		    const struct nt_known_key *key)
{
	struct arm arm = { .entry = entry,
			   .worth = (double)key->calls * (double)(key->bytes + 4096) };

	if (!nt_kind_tunable(key->coll))
		return;
	arm.key.ranks = key->ranks > 0 ? key->ranks : entry->where.nodes * entry->where.per_node;
	arm.key.nodes = key->ranks > 0 ? key->nodes : entry->where.nodes;
	arm.key.coll = key->coll;
	arm.key.bytes = nt_band_floor(nt_band(key->bytes));
	arm.key.arm = key->arm;
	arm.key.gain_ns = gain_ns(key);
	for (unsigned i = 0; i < arms->count; i++) {
		struct arm *known = &arms->arm[i];

		if (!same(&known->key, &arm.key))
			continue;
		replace(known, &arm);
		return;
	}
	if (arms->count < ARMS_MAX)
		arms->arm[arms->count++] = arm;
}

static void add_memory(struct arms *arms, const struct nt_memory *memory,
		       const struct nt_where *where, const char *profile)
{
	for (size_t i = 0; i < memory->entries; i++) {
		const struct nt_memory_entry *entry = &memory->entry[i];

		if (!nt_where_same(&entry->where, where) || strcmp(entry->profile, profile) != 0)
			continue;
		for (unsigned j = 0; j < entry->keys; j++)
			if (nt_known_key_decided(&entry->key[j]))
				add_key(arms, entry, &entry->key[j]);
	}
}

static int by_worth(const void *left, const void *right)
{
	const struct arm *a = left, *b = right;

	return (a->worth < b->worth) - (a->worth > b->worth);
}

/* Too many for the text: those with the lowest worth are left out, an eighth at a time. */
static bool print_most(const struct arms *arms, struct nt_warm *warm)
{
	unsigned most = arms->count < NT_WARM_MAX ? arms->count : NT_WARM_MAX;

	for (; most > 0; most -= most / 8 + 1) {
		char text[NT_WARM_TEXT_MAX];

		warm->count = 0;
		for (unsigned i = 0; i < most; i++)
			(void)nt_warm_add(warm, &arms->arm[i].key, NULL);
		if (warm->count > 0 && nt_warm_print(warm, text, sizeof(text), NULL) == 0)
			return true;
	}
	return false;
}

bool nt_selection_warm(const struct nt_selection *selection, struct nt_warm *warm)
{
	const struct nt_where *where = &selection->launch.where;
	struct arms *arms;
	bool any = false;

	memset(warm, 0, sizeof(*warm));
	if (where->fingerprint == 0 || where->nccl == 0)
		return false;
	warm->nccl = where->nccl;
	warm->fabric = (int)where->fabric;
	warm->fingerprint = where->fingerprint;
	arms = calloc(1, sizeof(*arms));
	if (arms == NULL)
		return false;
	/* The site's memory counts for keys that the user's does not have. */
	add_memory(arms, &selection->memory[NT_LEVEL_USER], where, selection->choice.profile);
	if (arms->count == 0)
		add_memory(arms, &selection->memory[NT_LEVEL_SITE], where,
			   selection->choice.profile);
	qsort(arms->arm, arms->count, sizeof(arms->arm[0]), by_worth);
	any = print_most(arms, warm);
	free(arms);
	return any;
}
