/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* nodes.h - which tasks of a step run on which of its nodes, as told at the start of every task
 *
 * Threads:  pure functions.
 * Memory:   the value owns its lists; nt_nodes_free gives them back.
 * Errors:   -1: out of memory, or a text that does not tell of every task.
 */
#ifndef NT_SYNC_NODES_H
#define NT_SYNC_NODES_H

#include <stdint.h>

struct nt_nodes {
	uint32_t tasks, nodes;
	uint32_t *node_of; /* by task */
	uint32_t *first; /* by node: its lowest task */
	char (*name)[64]; /* by node; "node 3" until named */
};

/* map: the process mapping, "(vector,(first node,nodes,tasks on each),...)"; counts: "4(x2),3",
 * tasks per node in Slurm's words, taken to fill node after node. The first of the two that is
 * not NULL is read. */
int nt_nodes_read(struct nt_nodes *nodes, uint32_t tasks, const char *map, const char *counts);
/* "n1,n2" in the order of the mapping; NULL is fine */
void nt_nodes_name(struct nt_nodes *nodes, const char *list);
void nt_nodes_free(struct nt_nodes *nodes);

#endif
