/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "profiles/measure/trial-calls.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "lib/append.h"
#include "lib/size.h"

#define WORTH 0.01 /* share of the cost that a collective or a size must have */
#define BYTES_LEAST 4
#define BYTES_MOST ((uint64_t)1 << 30)

void nt_trial_calls_standard(struct nt_trial_calls *calls)
{
	*calls = (struct nt_trial_calls){
		.colls = 1,
		.coll = { NT_ALLREDUCE },
		.sizes = 6,
		.bytes = { 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20 },
	};
}

/* The cost of one call; if no time is known, by its bytes as at 1 GB/s. */
static double cost_us(const struct nt_known_key *key)
{
	const struct nt_quantiles *us = nt_key_times(key);

	return us->samples > 0 ? us->median_us : 50 + (double)key->bytes / 1000;
}

struct share {
	uint64_t what; /* a collective, or bytes */
	double cost;
};

static void add_share(struct share *shares, unsigned *count, uint64_t what, double cost)
{
	for (unsigned i = 0; i < *count; i++) {
		if (shares[i].what == what) {
			shares[i].cost += cost;
			return;
		}
	}
	shares[(*count)++] = (struct share){ what, cost };
}

static int by_cost(const void *left, const void *right)
{
	const struct share *a = left, *b = right;

	return a->cost > b->cost ? -1 : a->cost < b->cost;
}

static int by_bytes(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

/* Sorts by cost, the most expensive first; returns how many, at most room, are worth it. */
static unsigned dearest(struct share *shares, unsigned count, unsigned room, double all)
{
	unsigned kept = 0;

	qsort(shares, count, sizeof(shares[0]), by_cost);
	while (kept < count && kept < room && shares[kept].cost >= WORTH * all)
		kept++;
	return kept;
}

/* The most expensive shape of smaller communicators that the benchmark can create. */
static void find_split(const struct nt_memory_entry *entry, double all,
		       struct nt_trial_calls *calls)
{
	const struct nt_where *where = &entry->where;
	struct share shapes[NT_ENTRY_KEYS];
	unsigned count = 0;

	for (unsigned i = 0; i < entry->keys; i++) {
		struct nt_comm_shape shape = nt_key_shape(&entry->key[i], where);
		bool inside = shape.nodes == 1 && shape.ranks > 0 &&
			      where->per_node % shape.ranks == 0;
		bool across = shape.nodes == where->nodes && shape.ranks == where->nodes;

		if (shape.ranks > 1 && (inside || across))
			add_share(shapes, &count, (uint64_t)shape.nodes << 32 | shape.ranks,
				  (double)entry->key[i].calls * cost_us(&entry->key[i]));
	}
	if (dearest(shapes, count, 1, all) == 0)
		return;
	if (shapes[0].what >> 32 == 1)
		snprintf(calls->split, sizeof(calls->split), "block:%" PRIu32,
			 (uint32_t)shapes[0].what);
	else
		snprintf(calls->split, sizeof(calls->split), "stride:%" PRIu32, where->per_node);
}

bool nt_trial_calls_send(const struct nt_trial_calls *calls)
{
	for (unsigned i = 0; i < calls->colls; i++)
		if (!nt_kind_tunable(calls->coll[i]))
			return true;
	return false;
}

bool nt_trial_calls_of(const struct nt_memory_entry *entry, struct nt_trial_calls *calls)
{
	struct share colls[NT_KINDS + 1], sizes[NT_ENTRY_KEYS];
	unsigned coll_count = 0, size_count = 0;
	double all = 0;

	memset(calls, 0, sizeof(*calls));
	for (unsigned i = 0; i < entry->keys; i++) {
		const struct nt_known_key *key = &entry->key[i];
		double cost = (double)key->calls * cost_us(key);
		uint64_t bytes = key->bytes / 4 * 4;

		if (key->calls == 0 || key->coll < 0 || key->coll >= NT_KINDS ||
		    bytes < BYTES_LEAST || bytes > BYTES_MOST)
			continue;
		add_share(colls, &coll_count, (uint64_t)nt_mix_kind(key->coll), cost);
		add_share(sizes, &size_count, bytes, cost);
		all += cost;
	}
	calls->colls = dearest(colls, coll_count, NT_TRIAL_CALLS_COLLS, all);
	calls->sizes = dearest(sizes, size_count, NT_TRIAL_CALLS_SIZES, all);
	for (unsigned i = 0; i < calls->colls; i++)
		calls->coll[i] = (int)colls[i].what;
	for (unsigned i = 0; i < calls->sizes; i++)
		calls->bytes[i] = sizes[i].what;
	qsort(calls->bytes, calls->sizes, sizeof(calls->bytes[0]), by_bytes);
	find_split(entry, all, calls);
	return calls->colls > 0 && calls->sizes > 0;
}

int nt_trial_calls_parse(struct nt_trial_calls *calls, const char *sizes, struct nt_error *err)
{
	int count;

	nt_trial_calls_standard(calls);
	count = nt_sizes_parse(sizes, calls->bytes, NT_TRIAL_CALLS_SIZES);
	for (int i = 0; i < count; i++) {
		if (calls->bytes[i] < BYTES_LEAST || calls->bytes[i] > BYTES_MOST ||
		    calls->bytes[i] % 4 != 0)
			count = -1;
	}
	if (count < 0)
		return nt_error_set(err,
				    "bad sizes '%.60s' (want 1 to %d, as in 64K,1M,16M, each a "
				    "multiple of 4 up to 1G)",
				    sizes, NT_TRIAL_CALLS_SIZES);
	calls->sizes = (unsigned)count;
	qsort(calls->bytes, calls->sizes, sizeof(calls->bytes[0]), by_bytes);
	return 0;
}

const char *nt_trial_calls_colls_text(const struct nt_trial_calls *calls, char *out,
				      size_t out_bytes)
{
	out[0] = '\0';
	for (unsigned i = 0; i < calls->colls; i++)
		nt_append(out, out_bytes, "%s%s", i ? "," : "", nt_coll_name(calls->coll[i]));
	for (char *c = out; *c != '\0'; c++)
		*c = (char)tolower((unsigned char)*c);
	return out;
}

const char *nt_trial_calls_sizes_text(const struct nt_trial_calls *calls, char *out,
				      size_t out_bytes)
{
	out[0] = '\0';
	for (unsigned i = 0; i < calls->sizes; i++)
		nt_append(out, out_bytes, "%s%" PRIu64, i ? "," : "", calls->bytes[i]);
	return out;
}

static bool has_calls(const struct nt_memory_entry *entry)
{
	struct nt_trial_calls calls;

	return entry->origin == NT_ORIGIN_JOB && nt_trial_calls_of(entry, &calls);
}

const struct nt_memory_entry *nt_trial_calls_entry(const struct nt_memory *memory, uint32_t job,
						   uint64_t fingerprint, uint32_t nodes,
						   uint32_t per_node)
{
	const struct nt_memory_entry *own = NULL, *any = NULL;

	for (size_t i = 0; i < memory->entries; i++) {
		const struct nt_memory_entry *entry = &memory->entry[i];

		if (!has_calls(entry))
			continue;
		if (entry->job == job && nt_entry_newer(entry, own))
			own = entry;
		if (fingerprint != 0 && entry->where.fingerprint == fingerprint &&
		    entry->where.nodes == nodes && entry->where.per_node == per_node &&
		    nt_entry_newer(entry, any))
			any = entry;
	}
	return own != NULL ? own : any;
}
