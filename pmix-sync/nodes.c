/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "pmix-sync/nodes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Give the next `each` tasks to each of `nodes` nodes from `first` on. Returns the next task. */
static uint32_t deal_tasks(struct nt_nodes *n, uint32_t task, unsigned first, unsigned nodes,
			   unsigned each)
{
	if (first >= n->tasks || nodes > n->tasks - first || each > n->tasks)
		return n->tasks + 1;
	for (unsigned t = 0; t < nodes * each && task < n->tasks; t++) {
		uint32_t node = first + t / each;

		if (node >= n->nodes)
			n->nodes = node + 1;
		if (!n->name[node][0]) {
			snprintf(n->name[node], sizeof(n->name[0]), "node %u", node);
			n->first[node] = task;
		}
		n->node_of[task++] = node;
	}
	return task;
}

static int read_map(struct nt_nodes *n, const char *map)
{
	uint32_t task = 0;

	if (strncmp(map, "(vector", 7) != 0)
		return -1;
	map += 7;
	for (;;) {
		unsigned first, nodes, each;
		int used = 0; /* stays if the closing bracket is missing */

		if (sscanf(map, " ,(%u,%u,%u)%n", &first, &nodes, &each, &used) < 3)
			break;
		if (used == 0)
			return -1;
		task = deal_tasks(n, task, first, nodes, each);
		map += used;
	}
	return task == n->tasks ? 0 : -1;
}

/* If nodes were not filled in order, the communicator is never agreed on. */
static int read_counts(struct nt_nodes *n, const char *counts)
{
	uint32_t task = 0, node = 0;

	while (*counts) {
		unsigned each, times = 1;
		int used = 0;

		if (sscanf(counts, "%u%n(x%u)%n", &each, &used, &times, &used) < 1 || times == 0)
			return -1;
		task = deal_tasks(n, task, node, times, each);
		node += times;
		counts += used;
		if (*counts == ',')
			counts++;
	}
	return task == n->tasks ? 0 : -1;
}

int nt_nodes_read(struct nt_nodes *n, uint32_t tasks, const char *map, const char *counts)
{
	*n = (struct nt_nodes){ .tasks = tasks };
	n->node_of = calloc(tasks, sizeof(*n->node_of));
	n->first = calloc(tasks, sizeof(*n->first));
	n->name = calloc(tasks, sizeof(*n->name));
	if (!n->node_of || !n->first || !n->name)
		return -1;
	if (map)
		return read_map(n, map);
	return counts ? read_counts(n, counts) : -1;
}

void nt_nodes_name(struct nt_nodes *n, const char *list)
{
	const char *name = list;

	for (uint32_t i = 0; name && i < n->nodes; i++) {
		size_t length = strcspn(name, ",");

		if (length > 0 && length < sizeof(n->name[0]))
			snprintf(n->name[i], sizeof(n->name[0]), "%.*s", (int)length, name);
		name = name[length] ? name + length + 1 : NULL;
	}
}

void nt_nodes_free(struct nt_nodes *n)
{
	free(n->node_of);
	free(n->first);
	free(n->name);
	*n = (struct nt_nodes){ .tasks = 0 };
}
