/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "recordd/topologies.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "contract/names.h"
#include "lib/compare.h"
#include "recordd/dumpxml.h"

struct dump {
	char id[20];
	uint32_t rank, ranks, nodes;
	const struct nt_collected *graphs, *devices; /* NULL: there is none */
};

struct found {
	struct dump dump[NT_TOPOLOGIES_MAX];
	size_t count;
};

/* NT_TRAY_DUMP */
static bool parse_name(const char *name, struct dump *dump)
{
	int end = 0;

	*dump = (struct dump){ .rank = 0 };
	return sscanf(name, "%16[0-9a-f].%9" SCNu32 ".%9" SCNu32 ".%9" SCNu32 "%n", dump->id,
		      &dump->rank, &dump->ranks, &dump->nodes, &end) == 4 &&
	       !name[end] && strlen(dump->id) == 16;
}

/* The largest communicators first. */
static int by_ranks(const void *left, const void *right)
{
	const struct dump *a = left, *b = right;

	NT_COMPARE(b->ranks, a->ranks);
	NT_COMPARE(a->rank, b->rank);
	NT_COMPARE(a->nodes, b->nodes);
	return strcmp(a->id, b->id);
}

static void keep(struct found *found, const struct dump *dump)
{
	for (size_t i = 0; i < found->count; i++) {
		struct dump *kept = &found->dump[i];

		if (by_ranks(kept, dump) != 0)
			continue;
		kept->graphs = dump->graphs ? dump->graphs : kept->graphs;
		kept->devices = dump->devices ? dump->devices : kept->devices;
		return;
	}
	if (found->count < NT_TOPOLOGIES_MAX)
		found->dump[found->count++] = *dump;
	else if (by_ranks(dump, &found->dump[found->count - 1]) < 0)
		found->dump[found->count - 1] = *dump;
	qsort(found->dump, found->count, sizeof(found->dump[0]), by_ranks);
}

static void find_all(struct found *found, const struct nt_collected *items, size_t count)
{
	struct dump dump;

	for (size_t i = 0; i < count; i++) {
		const bool graphs = items[i].kind == NT_COLLECTED_GRAPHS;

		if ((!graphs && items[i].kind != NT_COLLECTED_DEVICES) ||
		    !parse_name(items[i].name, &dump))
			continue;
		dump.graphs = graphs ? &items[i] : NULL;
		dump.devices = graphs ? NULL : &items[i];
		keep(found, &dump);
	}
}

typedef int reader(struct nt_topology *topology, const char *text, size_t bytes,
		   struct nt_error *err);

/* why: "" if it was read. */
static void read_one(struct nt_topology *topology, reader *read, const struct nt_collected *item,
		     char why[120])
{
	struct nt_error err = { "there is none" };

	why[0] = '\0';
	if (item && !item->text)
		err = item->why;
	if (!item || !item->text || read(topology, item->text, item->bytes, &err) < 0)
		snprintf(why, 120, "%.119s", err.text);
}

static char *convert(struct nt_topology *topology, const struct dump *dump)
{
	char *text = malloc(NT_RANK_RECORD_MAX);

	if (!text)
		return NULL;
	nt_topology_clear(topology);
	memcpy(topology->id, dump->id, sizeof(dump->id));
	topology->rank = dump->rank;
	topology->ranks = dump->ranks;
	topology->nodes = dump->nodes;
	read_one(topology, nt_dump_read_graphs, dump->graphs, topology->no_graphs);
	read_one(topology, nt_dump_read_system, dump->devices, topology->no_devices);
	(void)nt_topology_format(topology, text, NT_RANK_RECORD_MAX);
	return text;
}

void nt_topologies_read(struct nt_topologies *topologies, const struct nt_collected *items,
			size_t count)
{
	struct nt_topology *topology = malloc(sizeof(*topology));
	struct found found = { .count = 0 };

	topologies->count = 0;
	find_all(&found, items, count);
	for (size_t i = 0; topology && i < found.count; i++) {
		char *text = convert(topology, &found.dump[i]);

		if (text)
			topologies->text[topologies->count++] = text;
	}
	free(topology);
}

void nt_topologies_fini(struct nt_topologies *topologies)
{
	for (size_t i = 0; i < topologies->count; i++)
		free(topologies->text[i]);
	topologies->count = 0;
}
