/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "record/topology.h"

#include <string.h>
#include "record/read.h"

#define DEPTH 6 /* topology, graphs, graph, paths, path, gpus */

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
