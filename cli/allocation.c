/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/allocation.h"

#include <stdlib.h>
#include "lib/number.h"

#define NODES_MAX (1 << 20)
#define TASKS_MAX 4096

/* The number at the start of a variable: "4", or "4(x2)", or "4,2". 0 if there is none. */
static uint64_t number_in(const char *name, uint64_t most)
{
	const char *text = getenv(name);
	uint64_t value;
	const char *end = text ? nt_number_read(text, most, &value) : NULL;

	return end && (*end == '\0' || *end == '(' || *end == ',') ? value : 0;
}

static uint32_t tasks_a_node(uint32_t nodes)
{
	uint64_t tasks = number_in("SLURM_NTASKS_PER_NODE", TASKS_MAX);

	if (tasks == 0)
		tasks = number_in("SLURM_NTASKS", (uint64_t)NODES_MAX * TASKS_MAX) / nodes;
	return tasks > 0 && tasks <= TASKS_MAX ? (uint32_t)tasks : 1;
}

int nt_allocation_read(struct nt_allocation *allocation, const char *hosts, uint32_t nodes,
		       uint32_t per_node, struct nt_error *err)
{
	if (!hosts)
		hosts = getenv("SLURM_JOB_NODELIST");
	allocation->job = (uint32_t)number_in("SLURM_JOB_ID", UINT32_MAX);
	if (allocation->job == 0)
		return nt_error_set(err, "not in a Slurm job: run it in an sbatch script or an "
					 "salloc shell");
	allocation->nodes = nodes ? nodes : (uint32_t)number_in("SLURM_JOB_NUM_NODES", NODES_MAX);
	if (allocation->nodes == 0)
		return nt_error_set(err, "SLURM_JOB_NUM_NODES is not set: use --nodes N");
	allocation->per_node = per_node ? per_node : tasks_a_node(allocation->nodes);
	allocation->hosts = hosts ? hosts : "";
	return 0;
}
