/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* topology-env.h - have NCCL write what it sees of a step's nodes, where topology=on asks for it
 *
 * NCCL has a file for its graphs (rings, trees, their channels and speeds) and one for the node's
 * devices. Of a communicator one rank writes each, by its number, and the next communicator's
 * replaces it (src/graph/search.cc:1229, src/graph/topo.cc:1531 @v2.28.9-1); tuner/dumps.h keeps
 * them apart. Tasks of a node have files of their own, and the rank of the node's first task, so
 * that each node has those of the communicators that this rank is in.
 *
 * With a file for its devices NCCL looks for them together with the ranks of its node, or of an
 * NVLink domain, once more (src/init.cc:976): ranks of which only some had it would wait for each
 * other. So srun says it, and all of the step's tasks on all nodes get one, be it a name that
 * cannot be opened: NCCL goes on without. A file that the user has set is left alone.
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
#include "spank/profile-env.h"

#define NT_TOPOLOGY_NOWHERE "/dev/null/" NT_SYSTEM_PREFIX "none" /* a file that cannot be */

struct nt_topology_task {
	const char *dir; /* the step's directory; NULL: it has none, or nothing was asked for */
	bool alone; /* a batch script: what it starts has one environment */
	uint32_t task; /* Slurm's number in the step */
	uint32_t first; /* of the node's first task */
	uint32_t tasks; /* of the node */
};

/* The variables of a task. */
void nt_topology_set(const struct nt_task_env *env, const struct nt_topology_task *task);

#endif
