/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* nodes.h - which tasks of a step run on which node, from a task's environment
 *
 * Threads:  pure functions.
 * Memory:   the value owns its lists; nt_nodes_free releases them.
 * Errors:   -1: no memory, or the text does not cover every task.
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

/* From the first that is not NULL. map: the process mapping, "(vector,(first node,nodes,tasks on
 * each),...)"; counts: Slurm's tasks per node, "4(x2),3", which fill node after node. */
int nt_nodes_read(struct nt_nodes *nodes, uint32_t tasks, const char *map, const char *counts);
/* "n1,n2" in the order of the mapping; NULL is fine. */
void nt_nodes_name(struct nt_nodes *nodes, const char *list);
void nt_nodes_free(struct nt_nodes *nodes);

#endif
