/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* topology-compare.h - compare what NCCL found on a step's nodes
 *
 * Only the largest communicator is compared: all nodes are part of it.
 *
 * Threads:  pure functions, any thread.
 * Memory:   nt_nodes_fini frees the list; what it points to is the summary's.
 * Errors:   -1 and *err when memory runs out.
 */
#ifndef NT_REPORT_TOPOLOGY_H
#define NT_REPORT_TOPOLOGY_H

#include <stdio.h>
#include "lib/error.h"
#include "record/job-summary.h"

#define NT_NODES_MEASURES 7 /* that nodes are compared by */

struct nt_node_table {
	const struct nt_topology_seen **item; /* of one communicator */
	size_t count;
	double usual[NT_NODES_MEASURES]; /* what at least half of them have; NAN: not known */
};

/* The nodes of a step; count 0: NCCL wrote nothing. */
int nt_nodes_find(struct nt_node_table *nodes, const struct nt_summary *summary, size_t step,
		  struct nt_error *err);
void nt_nodes_fini(struct nt_node_table *nodes);

#define NT_LACK_TEXT 420

/* What node which has less of than most others: "rings of 8 channels of 12 GB/s instead of 16 of
 * 24; ..."; "" if nothing. Returns out. */
const char *nt_nodes_lack(const struct nt_node_table *nodes, size_t which, char out[NT_LACK_TEXT]);

/* "the 16 ranks across 2 nodes (dp)" of the list's communicator. */
const char *nt_nodes_words(const struct nt_node_table *nodes, const struct nt_summary *summary,
			   char *out, size_t out_bytes);

/* Its communicator; NULL: unknown. */
const struct nt_comm_seen *nt_topology_comm(const struct nt_summary *summary,
					    const struct nt_topology_seen *seen);

/* Bandwidth of all its rings in GB/s, between nodes or inside the only one. NAN: unknown. */
double nt_topology_ring_gbs(const struct nt_topology_seen *seen);

/* A table of each step's nodes; nothing if NCCL wrote nothing. */
int nt_topology_print(FILE *out, const struct nt_summary *summary, struct nt_error *err);

#endif
