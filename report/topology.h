/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* topology.h - what NCCL found of a step's nodes, beside each other
 *
 * Of several communicators the largest is looked at: it is the one that all nodes have part in.
 *
 * Threads:  pure functions, any thread.
 * Memory:   nt_nodes_fini frees the list; what it points to is the summary's.
 * Errors:   -1 and *err when memory runs out.
 */
#ifndef NT_REPORT_TOPOLOGY_H
#define NT_REPORT_TOPOLOGY_H

#include <json.h>
#include <stdio.h>
#include "contract/error.h"
#include "record/summary.h"

#define NT_NODES_MEASURES 7 /* that nodes are compared by */

struct nt_nodes {
	const struct nt_topology_seen **item; /* of one communicator */
	size_t count;
	size_t others; /* of other communicators */
	double usual[NT_NODES_MEASURES]; /* what at least half of them have; NAN: not known */
};

/* Those of a step; count 0: NCCL has told nothing. */
int nt_nodes_find(struct nt_nodes *nodes, const struct nt_summary *summary, size_t step,
		  struct nt_error *err);
void nt_nodes_fini(struct nt_nodes *nodes);

#define NT_LACK_TEXT 420

/* In what node which has less than most of the others: "rings of 8 channels of 12 GB/s instead of
 * 16 of 24; ..."; "" where it has as much. Returns out. */
const char *nt_nodes_lack(const struct nt_nodes *nodes, size_t which, char out[NT_LACK_TEXT]);

/* "the 16 ranks across 2 nodes (dp)" of the list's communicator. */
const char *nt_nodes_words(const struct nt_nodes *nodes, const struct nt_summary *summary,
			   char *out, size_t out_bytes);

/* All of one as an object; NULL: no memory. */
json_object *nt_topology_value(const struct nt_topology_seen *seen);

/* A table of each step's nodes; nothing where NCCL has told nothing. */
int nt_topology_print(FILE *out, const struct nt_summary *summary, struct nt_error *err);

#endif
