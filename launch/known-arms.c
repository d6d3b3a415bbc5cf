/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/known-arms.h"

#include <string.h>
#include "contract/coll.h"

/* What the arm takes less of a call than NCCL's choice; 0: not known, or nothing. */
static uint64_t gain_ns(const struct nt_known_key *key)
{
	const double ns = (key->untuned.median_us - key->best.median_us) * 1e3;

	if (key->arm == NT_ARM_BASELINE || !(key->best.median_us > 0) || !(ns >= 1))
		return 0;
	return ns < (double)NT_WARM_GAIN_MAX ? (uint64_t)ns : NT_WARM_GAIN_MAX;
}

/* The newer decides. A step that used the arm without measuring it leaves the gain as it was. */
static void replace(struct nt_known_arm *known, const struct nt_known_arm *arm)
{
	const bool newer = nt_entry_newer(arm->entry, known->entry);
	const struct nt_known_arm other = newer ? *known : *arm;

	if (newer)
		*known = *arm;
	if (known->key.gain_ns == 0 && known->key.arm == other.key.arm)
		known->key.gain_ns = other.key.gain_ns;
}

static void add_arm(struct nt_known_arms *arms, const struct nt_known_arm *arm)
{
	for (unsigned i = 0; i < arms->count; i++) {
		if (nt_warm_order(&arms->arm[i].key, &arm->key) == 0) {
			replace(&arms->arm[i], arm);
			return;
		}
	}
	if (arms->count < NT_KNOWN_ARMS)
		arms->arm[arms->count++] = *arm;
}

static void add_key(struct nt_known_arms *arms, const struct nt_memory_entry *entry,
		    const struct nt_known_key *key)
{
	struct nt_known_arm arm = { .entry = entry,
				    .worth = (double)key->calls * (double)(key->bytes + 4096) };

	if (!nt_kind_tunable(key->coll))
		return;
	arm.key.ranks = key->ranks > 0 ? key->ranks : entry->where.nodes * entry->where.per_node;
	arm.key.nodes = key->ranks > 0 ? key->nodes : entry->where.nodes;
	arm.key.coll = key->coll;
	arm.key.arm = key->arm;
	arm.key.gain_ns = gain_ns(key);
	arm.key.bytes = nt_band_floor(nt_band(key->bytes));
	add_arm(arms, &arm);
}

void nt_known_arms_add(struct nt_known_arms *arms, const struct nt_memory *memory,
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
