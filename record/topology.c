/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "record/topology.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "record/job-summary.h"
#include "record/read.h"

#define DEPTH 6 /* topology, graphs, graph, paths, path, gpus */
#define SEEN_MAX 65536 /* of a job; more are left out */

#define TOPOLOGY_ROW(...) NT_FIELD_ROW(struct nt_topology, __VA_ARGS__)
#define GRAPH_ROW(...) NT_FIELD_ROW(struct nt_graph, __VA_ARGS__)
#define GPU_ROW(...) NT_FIELD_ROW(struct nt_gpu, __VA_ARGS__)
#define NIC_ROW(...) NT_FIELD_ROW(struct nt_nic, __VA_ARGS__)

const struct nt_fields nt_topology_fields = NT_FIELDS(NT_TOPOLOGY_FIELDS(TOPOLOGY_ROW));
const struct nt_fields nt_graph_fields = NT_FIELDS(NT_GRAPH_FIELDS(GRAPH_ROW));
const struct nt_fields nt_gpu_fields = NT_FIELDS(NT_GPU_FIELDS(GPU_ROW));
const struct nt_fields nt_nic_fields = NT_FIELDS(NT_NIC_FIELDS(NIC_ROW));

void nt_topology_clear(struct nt_topology *topology)
{
	memset(topology, 0, sizeof(*topology));
	nt_fields_clear(&nt_topology_fields, topology);
}

/* ---- write */

static void put_path(struct nt_json_writer *put, const struct nt_graph_path *path)
{
	nt_json_put_open(put, NULL, '{');
	if (path->in >= 0)
		nt_json_put_count(put, NT_PATH_IN, (uint64_t)path->in);
	nt_json_put_open(put, NT_TOPOLOGY_GPU_LIST, '[');
	for (size_t i = 0; i < path->count; i++)
		nt_json_put_count(put, NULL, (uint64_t)path->gpu[i]);
	nt_json_put_close(put);
	if (path->out >= 0)
		nt_json_put_count(put, NT_PATH_OUT, (uint64_t)path->out);
	nt_json_put_close(put);
}

static void put_graph(struct nt_json_writer *put, const struct nt_graph *graph)
{
	nt_json_put_open(put, NULL, '{');
	nt_fields_put(put, &nt_graph_fields, graph);
	nt_json_put_open(put, NT_GRAPH_PATHS, '[');
	for (size_t i = 0; i < graph->path_count; i++)
		put_path(put, &graph->path[i]);
	nt_json_put_close(put);
	nt_json_put_close(put);
}

static void put_list(struct nt_json_writer *put, const char *name, const struct nt_fields *fields,
		     const void *items, size_t count, size_t item_bytes)
{
	nt_json_put_open(put, name, '[');
	for (size_t i = 0; i < count; i++) {
		nt_json_put_open(put, NULL, '{');
		nt_fields_put(put, fields, (const char *)items + i * item_bytes);
		nt_json_put_close(put);
	}
	nt_json_put_close(put);
}

size_t nt_topology_format(const struct nt_topology *topology, char *out, size_t out_bytes)
{
	struct nt_json_writer put;

	nt_json_put_begin(&put, out, out_bytes, DEPTH);
	nt_json_put_open(&put, NULL, '{');
	nt_fields_put(&put, &nt_topology_fields, topology);
	put_list(&put, NT_TOPOLOGY_GPU_LIST, &nt_gpu_fields, topology->gpu, topology->gpu_count,
		 sizeof(topology->gpu[0]));
	put_list(&put, NT_TOPOLOGY_NIC_LIST, &nt_nic_fields, topology->nic, topology->nic_count,
		 sizeof(topology->nic[0]));
	nt_json_put_open(&put, NT_TOPOLOGY_GRAPHS, '[');
	for (size_t i = 0; i < topology->graph_count; i++)
		put_graph(&put, &topology->graph[i]);
	nt_json_put_close(&put);
	nt_json_put_close(&put);
	return put.used;
}

const struct nt_graph *nt_topology_graph(const struct nt_topology *topology, const char *name)
{
	for (size_t i = 0; i < topology->graph_count; i++) {
		if (strcmp(topology->graph[i].name, name) == 0)
			return &topology->graph[i];
	}
	return NULL;
}

/* ---- read */

/* A list of at most max objects. */
struct list {
	const char *name;
	const struct nt_fields *fields;
	char *items;
	size_t item_bytes, max;
	size_t *count;
};

static int read_item(const struct list *list, json_object *value, struct nt_error *err)
{
	void *item = list->items + *list->count * list->item_bytes;

	if (!json_object_is_type(value, json_type_object))
		return nt_error_set(err, "%s: not a list of objects", list->name);
	nt_fields_clear(list->fields, item);
	if (nt_fields_read(list->fields, value, item, NT_READ_TO_SHOW, err) < 0)
		return -1;
	(*list->count)++;
	return 0;
}

static int read_list(const struct list *list, json_object *object, struct nt_error *err)
{
	json_object *array;

	if (!json_object_object_get_ex(object, list->name, &array))
		return 0;
	if (!json_object_is_type(array, json_type_array))
		return nt_error_set(err, "%s: not a list", list->name);
	if (json_object_array_length(array) > list->max)
		return nt_error_set(err, "%s: more than %zu", list->name, list->max);
	for (size_t i = 0; i < json_object_array_length(array); i++) {
		if (read_item(list, json_object_array_get_idx(array, i), err) < 0)
			return -1;
	}
	return 0;
}

int nt_topology_read(struct nt_topology *topology, json_object *value, struct nt_error *err)
{
	const struct list lists[] = {
		{ NT_TOPOLOGY_GRAPHS, &nt_graph_fields, (char *)topology->graph,
		  sizeof(topology->graph[0]), NT_GRAPHS_MAX, &topology->graph_count },
		{ NT_TOPOLOGY_GPU_LIST, &nt_gpu_fields, (char *)topology->gpu,
		  sizeof(topology->gpu[0]), NT_TOPOLOGY_GPUS, &topology->gpu_count },
		{ NT_TOPOLOGY_NIC_LIST, &nt_nic_fields, (char *)topology->nic,
		  sizeof(topology->nic[0]), NT_TOPOLOGY_NICS, &topology->nic_count },
	};

	nt_topology_clear(topology);
	if (!json_object_is_type(value, json_type_object))
		return nt_error_set(err, "topology: not an object");
	if (nt_fields_read(&nt_topology_fields, value, topology, NT_READ_TO_SHOW, err) < 0)
		return -1;
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		if (read_list(&lists[i], value, err) < 0)
			return -1;
	}
	return 0;
}

/* ---- the figures of a summary */

static void take_graph(struct nt_links *links, const struct nt_graph *graph)
{
	if (!graph)
		return;
	links->channels = graph->channels;
	links->intra_gbs = graph->intra_gbs;
	links->inter_gbs = graph->inter_gbs;
	memcpy(links->intra, graph->intra, sizeof(links->intra));
	memcpy(links->inter, graph->inter, sizeof(links->inter));
}

/* -1, unknown, of one is unknown of all. */
static int64_t fewer(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static void take_gpus(struct nt_topology_seen *seen, const struct nt_topology *topology)
{
	for (size_t i = 0; i < topology->gpu_count; i++) {
		const struct nt_gpu *gpu = &topology->gpu[i];

		seen->nvlinks = i ? fewer(seen->nvlinks, gpu->nvlinks) : gpu->nvlinks;
		seen->gpu_lanes = i ? fewer(seen->gpu_lanes, gpu->pcie_lanes) : gpu->pcie_lanes;
		seen->gpu_gts = i ? fmin(seen->gpu_gts, gpu->pcie_gts) : gpu->pcie_gts;
	}
	seen->gpus = (int64_t)topology->gpu_count;
}

static void take_nics(struct nt_topology_seen *seen, const struct nt_topology *topology)
{
	for (size_t i = 0; i < topology->nic_count; i++) {
		const struct nt_nic *nic = &topology->nic[i];

		seen->nic_mbps = i ? fewer(seen->nic_mbps, nic->mbps) : nic->mbps;
		seen->nics_mbps = (i ? seen->nics_mbps : 0) + (nic->mbps > 0 ? nic->mbps : 0);
	}
	seen->nics = (int64_t)topology->nic_count;
}

static void note_topology(struct nt_topology_seen *seen, const struct nt_topology *topology)
{
	memcpy(seen->id, topology->id, sizeof(seen->id));
	seen->ranks = (uint32_t)topology->ranks;
	seen->nodes = topology->nodes > 0 ? (uint32_t)topology->nodes : 0;
	take_graph(&seen->ring, nt_topology_graph(topology, NT_GRAPH_RING));
	take_graph(&seen->tree, nt_topology_graph(topology, NT_GRAPH_TREE));
	if (!topology->no_devices[0]) {
		take_gpus(seen, topology);
		take_nics(seen, topology);
	}
	snprintf(seen->trouble, sizeof(seen->trouble), "%s",
		 topology->no_graphs[0] ? topology->no_graphs : topology->no_devices);
}

static struct nt_topology_seen *add(struct nt_summary *summary, size_t step, const char *node)
{
	struct nt_topology_seen *seen = NT_SUMMARY_ADD(summary, topologies, topology_count);

	if (!seen)
		return NULL;
	seen->step = step;
	seen->gpus = seen->nics = seen->nvlinks = seen->gpu_lanes = -1;
	seen->nic_mbps = seen->nics_mbps = -1;
	seen->gpu_gts = NAN;
	seen->ring.intra_gbs = seen->ring.inter_gbs = NAN;
	seen->tree.intra_gbs = seen->tree.inter_gbs = NAN;
	snprintf(seen->node, sizeof(seen->node), "%s", node);
	return seen;
}

void nt_topology_add(struct nt_summary *summary, size_t step, const char *node,
		     struct nt_text value)
{
	struct nt_topology *topology = malloc(sizeof(*topology));
	struct nt_topology_seen *seen = NULL;
	json_object *object = NULL;
	struct nt_error err = { "" };

	summary->no_memory |= !topology;
	if (summary->topology_count < SEEN_MAX && topology)
		seen = add(summary, step, node);
	if (seen && nt_json_parse(value.at, value.bytes, &object, &err) == 0 &&
	    nt_topology_read(topology, object, &err) == 0)
		note_topology(seen, topology);
	else if (seen)
		snprintf(seen->trouble, sizeof(seen->trouble), "%.119s", err.text);
	json_object_put(object);
	free(topology);
}
