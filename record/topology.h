/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* topology.h - what NCCL found on a node when a communicator was created: graphs, GPUs and NICs
 *
 * A line of a node's part of the long form (long.h):
 *
 *	{"topology":{ NT_TOPOLOGY_FIELDS,
 *	   "graphs":[{ NT_GRAPH_FIELDS, "paths":[{"in":0,"gpus":[0,3,2,1],"out":0}, ...] }, ...],
 *	   "gpus":[{ NT_GPU_FIELDS }, ...], "nics":[{ NT_NIC_FIELDS }, ...]}}
 *
 * A graph is how the channels of an algorithm run through the node: a path for each channel, with
 * the order of the GPUs and, between nodes, the NICs at its ends. It is what this node found; NCCL
 * uses on all nodes what the node with the least found (ncclTopoPostset and before,
 * src/init.cc:1155@v2.28.9-1).
 *
 * Threads:  pure functions, any thread.
 * Memory:   values.
 * Errors:   read: -1 and *err; the target is then unspecified.
 * Units:    as in NCCL: gbs is GB/s (10^9 bytes) of a channel, mbps Mbit/s, gts GT/s.
 */
#ifndef NT_RECORD_TOPOLOGY_H
#define NT_RECORD_TOPOLOGY_H

#include "lib/error.h"
#include "lib/json-scanner.h"
#include "record/field.h"

struct json_object;

#define NT_GRAPHS_MAX 5
#define NT_PATHS_MAX 64 /* MAXCHANNELS */
#define NT_PATH_GPUS 72 /* of an NVLink domain */
#define NT_TOPOLOGY_GPUS 128
#define NT_TOPOLOGY_NICS 128

#define NT_TOPOLOGY_GRAPHS "graphs"
#define NT_TOPOLOGY_GPU_LIST "gpus"
#define NT_TOPOLOGY_NIC_LIST "nics"
#define NT_GRAPH_PATHS "paths"
#define NT_PATH_IN "in"
#define NT_PATH_OUT "out"
#define NT_GRAPH_RING "ring"
#define NT_GRAPH_TREE "tree"

/* clang-format off */
#define NT_TOPOLOGY_FIELDS(X) \
	X(TEXT, "id", id, 40, NT_MUST, "", "of the communicator") \
	X(COUNT, "rank", rank, 0, NT_MUST, "", "that wrote it") \
	X(COUNT, "ranks", ranks, 0, NT_MUST, "", "") \
	X(COUNT, "nodes", nodes, 0, NT_MAY, "", "") \
	X(TEXT, "no_graphs", no_graphs, 120, NT_MAY, "", "why there are none") \
	X(TEXT, "no_devices", no_devices, 120, NT_MAY, "", "and why no GPUs and NICs") \
	X(TALLY, "left_out", left_out, 0, NT_MAY, "", "what had no room")

#define NT_GRAPH_FIELDS(X) \
	X(TEXT, "name", name, 16, NT_MUST, "", "ring, tree, collnet_chain, nvls, collnet_direct") \
	X(COUNT, "pattern", pattern, 0, NT_MAY, "", "NCCL's number") \
	X(COUNT, "channels", channels, 0, NT_MUST, "", "") \
	X(TIME, "intra_gbs", intra_gbs, 3, NT_MAY, "", "of a channel, inside the node") \
	X(TIME, "inter_gbs", inter_gbs, 3, NT_MAY, "", "and to others") \
	X(TIME, "inter_us", inter_us, 3, NT_MAY, "", "latency that the network tells") \
	X(TEXT, "intra", intra, 8, NT_MAY, "", "farthest kind of path: NVL, PIX, PXB, SYS") \
	X(TEXT, "inter", inter, 8, NT_MAY, "", "") \
	X(TALLY, "cross_nic", cross_nic, 0, NT_MAY, "", "rings may change NICs between nodes") \
	X(TALLY, "same_channels", same_channels, 0, NT_MAY, "", "all have one path")

#define NT_GPU_FIELDS(X) \
	X(COUNT, "dev", dev, 0, NT_MUST, "", "") \
	X(COUNT, "rank", rank, 0, NT_MAY, "", "") \
	X(TEXT, "pci", pci, 24, NT_MAY, "", "") \
	X(COUNT, "sm", sm, 0, NT_MAY, "", "compute capability, 90") \
	X(COUNT, "nvlinks", nvlinks, 0, NT_MAY, "", "that are up") \
	X(TALLY, "c2c", c2c, 0, NT_MAY, "", "links to the processor") \
	X(COUNT, "gdr", gdr, 0, NT_MAY, "", "1: NICs can reach its memory") \
	X(TIME, "pcie_gts", pcie_gts, 1, NT_MAY, "", "of a lane") \
	X(COUNT, "pcie_lanes", pcie_lanes, 0, NT_MAY, "", "") \
	X(COUNT, "numa", numa, 0, NT_MAY, "", "")

#define NT_NIC_FIELDS(X) \
	X(COUNT, "dev", dev, 0, NT_MUST, "", "") \
	X(TEXT, "name", name, 64, NT_MAY, "", "") \
	X(TEXT, "pci", pci, 24, NT_MAY, "", "") \
	X(COUNT, "port", port, 0, NT_MAY, "", "") \
	X(COUNT, "mbps", mbps, 0, NT_MAY, "", "") \
	X(COUNT, "gdr", gdr, 0, NT_MAY, "", "") \
	X(TALLY, "coll", coll, 0, NT_MAY, "", "1: it reduces in the network") \
	X(TIME, "pcie_gts", pcie_gts, 1, NT_MAY, "", "") \
	X(COUNT, "pcie_lanes", pcie_lanes, 0, NT_MAY, "", "") \
	X(COUNT, "numa", numa, 0, NT_MAY, "", "")
/* clang-format on */

struct nt_graph_path {
	int64_t in, out; /* NICs; -1: none */
	size_t count;
	int32_t gpu[NT_PATH_GPUS];
};

struct nt_graph {
	NT_GRAPH_FIELDS(NT_FIELD_MEMBER)
	size_t path_count;
	struct nt_graph_path path[NT_PATHS_MAX]; /* not read back */
};

struct nt_gpu {
	NT_GPU_FIELDS(NT_FIELD_MEMBER)
};

struct nt_nic {
	NT_NIC_FIELDS(NT_FIELD_MEMBER)
};

struct nt_topology {
	NT_TOPOLOGY_FIELDS(NT_FIELD_MEMBER)
	size_t graph_count, gpu_count, nic_count;
	struct nt_graph graph[NT_GRAPHS_MAX];
	struct nt_gpu gpu[NT_TOPOLOGY_GPUS];
	struct nt_nic nic[NT_TOPOLOGY_NICS];
};

extern const struct nt_fields nt_topology_fields, nt_graph_fields, nt_gpu_fields, nt_nic_fields;

void nt_topology_clear(struct nt_topology *topology);

/* Formats the value of the line, at most NT_RANK_RECORD_MAX bytes; what has no room is counted in
 * it. Returns the length. */
size_t nt_topology_format(const struct nt_topology *topology, char *out, size_t out_bytes);

/* Reads a line's value, strictly and without the paths. */
int nt_topology_read(struct nt_topology *topology, struct json_object *value, struct nt_error *err);

/* Adds the figures of a line's value for a node and step. An error in it becomes its trouble. */
struct nt_summary;
void nt_topology_add(struct nt_summary *summary, size_t step, const char *node,
		     struct nt_text value);

/* NULL if there is none. */
const struct nt_graph *nt_topology_graph(const struct nt_topology *topology, const char *name);

#endif
