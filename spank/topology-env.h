/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* topology-env.h - with topology=on, make NCCL write what it finds on a step's nodes
 *
 * NCCL writes one file for its graphs (rings, trees, their channels and speeds) and one for the
 * node's devices. For each communicator one rank writes them, selected by its number, and the next
 * communicator's files replace them (src/graph/search.cc:1229, src/graph/topo.cc:1531 @v2.28.9-1);
 * tuner/dumps.h leaves them in the node's memory. Each task of a node has its own files, in memory,
 * and the number of the rank is that of the node's first task, so each node has the dumps of the
 * communicators of this rank.
 *
 * With a file for devices, the ranks of a node, or of an NVLink domain, detect these together once
 * more (src/init.cc:976): if only some ranks had the variable, they would wait for each other. So
 * srun decides, and all tasks of the step on all nodes get the variable, if necessary with a name
 * that cannot be opened, which NCCL ignores. A file that the user has set is not changed.
 *
 * Threads:  one at a time.
 * Memory:   values.
 * Errors:   none.
 */
#ifndef NT_TOPOLOGY_ENV_H
#define NT_TOPOLOGY_ENV_H

#include <stdbool.h>
#include <stdint.h>
#include "contract/names.h"
#include "spank/step/env.h"

#define NT_TOPOLOGY_NOWHERE "/dev/null/nccl-tune" /* cannot be opened */

struct nt_topology_task {
	const char *graphs, *devices; /* its files; NULL: it has none, or none are wanted */
	bool alone; /* a batch script: all that it starts has its environment */
	uint32_t first; /* of the node's first task */
	uint32_t tasks; /* of the node */
};

/* The variables of a task. */
void nt_topology_set(const struct nt_task_env *env, const struct nt_topology_task *task);

#endif
