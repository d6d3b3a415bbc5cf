/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"
#include "lib/compare.h"
#include "launch/program.h"

void nt_memory_init(struct nt_memory *memory)
{
	memset(memory, 0, sizeof(*memory));
}

void nt_memory_fini(struct nt_memory *memory)
{
	for (size_t i = 0; i < memory->entries; i++)
		nt_entry_fini(&memory->entry[i]);
	free(memory->entry);
	free(memory->host);
	nt_memory_init(memory);
}

int nt_memory_add_take(struct nt_memory *memory, struct nt_memory_entry *entry,
		       struct nt_error *err)
{
	/* More than may stay: entries arrive in no order, so tidying chooses. */
	struct nt_memory_entry *added = nt_array_add(&memory->entry, &memory->entries,
						     4 * (size_t)NT_MEMORY_ENTRIES, sizeof(*added));

	if (added == NULL) {
		nt_entry_fini(entry);
		return nt_error_set(err, "no room for more entries");
	}
	*added = *entry;
	nt_entry_init(entry);
	return 0;
}

int nt_memory_add_host(struct nt_memory *memory, const char *name, uint64_t fingerprint,
		       int64_t when_s, struct nt_error *err)
{
	struct nt_host *host;

	if (!nt_program_valid(name, NT_HOST_NAME))
		return nt_error_set(err, "bad host name");
	host = nt_array_add(&memory->host, &memory->hosts, 4 * (size_t)NT_MEMORY_HOSTS,
			    sizeof(*host));
	if (host == NULL)
		return nt_error_set(err, "no room for more hosts");
	snprintf(host->name, sizeof(host->name), "%s", name);
	host->fingerprint = fingerprint;
	host->when_s = when_s;
	return 0;
}

/* A date more than a day ahead is invalid. */
static bool is_old(const struct nt_memory_entry *entry, int64_t now_s)
{
	return now_s - entry->when_s >= NT_MEMORY_AGE_S || entry->when_s > now_s + 86400;
}

static int by_id(const void *left, const void *right)
{
	const struct nt_memory_entry *a = left, *b = right;
	int order = strcmp(a->id, b->id);

	if (order != 0)
		return order;
	NT_COMPARE(a->added_us, b->added_us);
	return 0;
}

static int by_place(const void *left, const void *right)
{
	const struct nt_memory_entry *a = left, *b = right;
	int order;

	NT_COMPARE(a->where.fingerprint, b->where.fingerprint);
	NT_COMPARE(a->where.fabric, b->where.fabric);
	NT_COMPARE(a->where.nodes, b->where.nodes);
	NT_COMPARE(a->where.per_node, b->where.per_node);
	order = strcmp(a->profile, b->profile);
	if (order != 0)
		return order;
	NT_COMPARE(a->when_s, b->when_s);
	return strcmp(a->id, b->id);
}

static int by_age(const void *left, const void *right)
{
	const struct nt_memory_entry *a = left, *b = right;

	NT_COMPARE(b->wrong, a->wrong); /* kept for good */
	NT_COMPARE(b->when_s, a->when_s);
	return strcmp(a->id, b->id);
}

static int by_name(const void *left, const void *right)
{
	const struct nt_host *a = left, *b = right;
	int order = strcmp(a->name, b->name);

	if (order != 0)
		return order;
	NT_COMPARE(b->when_s, a->when_s);
	NT_COMPARE(a->fingerprint, b->fingerprint);
	return 0;
}

static void sort(void *array, size_t count, size_t size, int (*order)(const void *, const void *))
{
	if (count > 1)
		qsort(array, count, size, order);
}

/* Keeps entries that are not too old, wrong results of any age, and of each id
 * the one added last. */
static void drop_entries(struct nt_memory *memory, int64_t now_s)
{
	size_t kept = 0;

	sort(memory->entry, memory->entries, sizeof(*memory->entry), by_id);
	for (size_t i = 0; i < memory->entries; i++) {
		struct nt_memory_entry *entry = &memory->entry[i];
		bool twice = i + 1 < memory->entries && strcmp(entry->id, entry[1].id) == 0;

		if (twice || (!entry->wrong && is_old(entry, now_s)))
			nt_entry_fini(entry);
		else
			memory->entry[kept++] = *entry;
	}
	memory->entries = kept;
}

int nt_memory_drop(struct nt_memory *memory, const struct nt_which *which)
{
	const size_t before = memory->entries;
	size_t kept = 0;

	for (size_t i = 0; i < before; i++) {
		struct nt_memory_entry *entry = &memory->entry[i];

		if ((which->fingerprint == 0 || which->fingerprint == entry->where.fingerprint) &&
		    (!which->profile || strcmp(which->profile, entry->profile) == 0))
			nt_entry_fini(entry);
		else
			memory->entry[kept++] = *entry;
	}
	memory->entries = kept;
	return (int)(before - kept);
}

static void drop_oldest(struct nt_memory *memory)
{
	sort(memory->entry, memory->entries, sizeof(*memory->entry), by_age);
	while (memory->entries > NT_MEMORY_ENTRIES)
		nt_entry_fini(&memory->entry[--memory->entries]);
}

static void drop_hosts(struct nt_memory *memory, int64_t now_s)
{
	size_t kept = 0;

	sort(memory->host, memory->hosts, sizeof(*memory->host), by_name);
	for (size_t i = 0; i < memory->hosts; i++) {
		const struct nt_host *host = &memory->host[i];

		if (kept > 0 && strcmp(host->name, memory->host[kept - 1].name) == 0)
			continue;
		if (now_s - host->when_s < NT_MEMORY_AGE_S && kept < NT_MEMORY_HOSTS)
			memory->host[kept++] = *host;
	}
	memory->hosts = kept;
}

void nt_memory_sort(struct nt_memory *memory, int64_t now_s)
{
	drop_entries(memory, now_s);
	drop_oldest(memory);
	sort(memory->entry, memory->entries, sizeof(*memory->entry), by_place);
	drop_hosts(memory, now_s);
}

uint64_t nt_memory_host(const struct nt_memory *memory, const char *name)
{
	const struct nt_host *newest = NULL;

	for (size_t i = 0; i < memory->hosts; i++) {
		const struct nt_host *host = &memory->host[i];

		if (strcmp(host->name, name) == 0 &&
		    (newest == NULL || host->when_s > newest->when_s))
			newest = host;
	}
	return newest != NULL ? newest->fingerprint : 0;
}
