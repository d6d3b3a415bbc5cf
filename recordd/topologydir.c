/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "recordd/topologydir.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "contract/names.h"
#include "lib/compare.h"
#include "lib/dirstream.h"
#include "spank/step/safe-open.h"
#include "recordd/collect.h"
#include "recordd/dumpxml.h"

#define NAMES_MAX 8192
#define TAIL_MAX 96

struct dump {
	char tail[TAIL_MAX]; /* of both files' names, after the prefix */
	char id[20];
	uint32_t rank, ranks, nodes;
};

struct found {
	struct dump dump[NT_TOPOLOGIES_MAX];
	size_t count;
};

/* <id>.<rank>.<ranks>.<nodes>.xml after either prefix (tuner/dumps.c). */
static bool parse_name(const char *name, struct dump *dump)
{
	const size_t bytes = sizeof(NT_GRAPHS_PREFIX) - 1;
	int end = 0;

	_Static_assert(sizeof(NT_GRAPHS_PREFIX) == sizeof(NT_SYSTEM_PREFIX), "one length");
	if (strncmp(name, NT_GRAPHS_PREFIX, bytes) != 0 &&
	    strncmp(name, NT_SYSTEM_PREFIX, bytes) != 0)
		return false;
	if (strlen(name + bytes) >= sizeof(dump->tail) ||
	    sscanf(name + bytes, "%16[0-9a-f].%9" SCNu32 ".%9" SCNu32 ".%9" SCNu32 ".xml%n",
		   dump->id, &dump->rank, &dump->ranks, &dump->nodes, &end) != 4 ||
	    end == 0 || name[bytes + (size_t)end] || strlen(dump->id) != 16)
		return false;
	snprintf(dump->tail, sizeof(dump->tail), "%s", name + bytes);
	return true;
}

/* The largest communicators first. */
static int by_ranks(const void *left, const void *right)
{
	const struct dump *a = left, *b = right;

	NT_COMPARE(b->ranks, a->ranks);
	return strcmp(a->tail, b->tail);
}

static void keep(struct found *found, const struct dump *dump)
{
	for (size_t i = 0; i < found->count; i++) {
		if (strcmp(found->dump[i].tail, dump->tail) == 0)
			return; /* the other file of the two */
	}
	if (found->count < NT_TOPOLOGIES_MAX)
		found->dump[found->count++] = *dump;
	else if (by_ranks(dump, &found->dump[found->count - 1]) < 0)
		found->dump[found->count - 1] = *dump;
	qsort(found->dump, found->count, sizeof(found->dump[0]), by_ranks);
}

static void find_all(struct found *found, DIR *directory)
{
	const struct dirent *entry;
	struct dump dump;

	for (size_t i = 0; i < NAMES_MAX && (entry = readdir(directory)) != NULL; i++) {
		if (parse_name(entry->d_name, &dump))
			keep(found, &dump);
	}
}

typedef int reader(struct nt_topology *topology, const char *text, size_t bytes,
		   struct nt_error *err);

/* why: "" if it was read. */
static void read_one(struct nt_topology *topology, reader *read, int dir_fd, const char *prefix,
		     const char *tail, char why[120])
{
	char name[sizeof(NT_GRAPHS_PREFIX) + TAIL_MAX];
	size_t bytes = 0;
	struct nt_error err;
	char *text = NULL;

	why[0] = '\0';
	snprintf(name, sizeof(name), "%s%s", prefix, tail);
	if (nt_collect_file(dir_fd, name, NT_DUMP_BYTES, &text, &bytes, &err) < 0 ||
	    read(topology, text, bytes, &err) < 0)
		snprintf(why, 120, "%.119s", err.text);
	free(text);
}

static char *convert(struct nt_topology *topology, int dir_fd, const struct dump *dump)
{
	char *text = malloc(NT_RANK_RECORD_MAX);

	if (!text)
		return NULL;
	nt_topology_clear(topology);
	memcpy(topology->id, dump->id, sizeof(dump->id));
	topology->rank = dump->rank;
	topology->ranks = dump->ranks;
	topology->nodes = dump->nodes;
	read_one(topology, nt_dump_read_graphs, dir_fd, NT_GRAPHS_PREFIX, dump->tail,
		 topology->no_graphs);
	read_one(topology, nt_dump_read_system, dir_fd, NT_SYSTEM_PREFIX, dump->tail,
		 topology->no_devices);
	(void)nt_topology_format(topology, text, NT_RANK_RECORD_MAX);
	return text;
}

static void convert_all(struct nt_topologies *topologies, int dir_fd, const struct found *found)
{
	struct nt_topology *topology = malloc(sizeof(*topology));

	for (size_t i = 0; topology && i < found->count; i++) {
		char *text = convert(topology, dir_fd, &found->dump[i]);

		if (text)
			topologies->text[topologies->count++] = text;
	}
	free(topology);
}

void nt_topologies_read(struct nt_topologies *topologies, const char *path)
{
	struct found found = { .count = 0 };
	DIR *directory = nt_dirstream_take(nt_safe_open_path(path, O_RDONLY | O_DIRECTORY));

	topologies->count = 0;
	if (!directory)
		return;
	find_all(&found, directory);
	convert_all(topologies, dirfd(directory), &found);
	closedir(directory);
}

void nt_topologies_fini(struct nt_topologies *topologies)
{
	for (size_t i = 0; i < topologies->count; i++)
		free(topologies->text[i]);
	topologies->count = 0;
}
