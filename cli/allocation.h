/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* allocation.h - the job that this process runs in, from Slurm's variables
 *
 * Threads:  the environment must not change meanwhile.
 * Memory:   values.
 * Errors:   -1 and *err: there is no job, or a variable is missing or invalid.
 */
#ifndef NT_ALLOCATION_H
#define NT_ALLOCATION_H

#include <stdint.h>
#include "lib/error.h"

struct nt_allocation {
	uint32_t job;
	uint32_t nodes, per_node; /* nodes, tasks on each */
	const char *hosts; /* a list of Slurm's, in the environment; "" if it is unknown */
};

/* hosts, nodes and per_node replace the job's if they are not NULL or 0. One task per node is
 * assumed if no variable says how many. */
int nt_allocation_read(struct nt_allocation *allocation, const char *hosts, uint32_t nodes,
		       uint32_t per_node, struct nt_error *err);

#endif
