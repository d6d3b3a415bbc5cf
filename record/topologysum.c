/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The figures of a summary. */
#include "record/topology.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "record/read.h"
#include "record/job-summary.h"

#define SEEN_MAX 65536 /* of a job; more are left out */

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

static void take(struct nt_topology_seen *seen, const struct nt_topology *topology)
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
		take(seen, topology);
	else if (seen)
		snprintf(seen->trouble, sizeof(seen->trouble), "%.119s", err.text);
	json_object_put(object);
	free(topology);
}
