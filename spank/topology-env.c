/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Variables that make NCCL write its topology. */
#include "spank/topology-env.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "contract/names.h"

#define FILE_MAX (NT_PATH_MAX + 64)
#define GPUS_MAX 1024

struct dump_variables {
	const char *file, *rank;
};

static const struct dump_variables graphs = { NT_ENV_GRAPH_FILE, NT_ENV_GRAPH_RANK };
static const struct dump_variables devices = { NT_ENV_SYSTEM_FILE, NT_ENV_SYSTEM_RANK };

static int get(const struct nt_task_env *env, const char *name, char *out, size_t out_bytes)
{
	const char *value = nt_task_env_get(env, name, out, out_bytes);

	return value && value[0] ? 0 : -1;
}

/* Set by us, for the step around this one: nobody names a descriptor of another process. */
static bool is_ours(const char *value)
{
	int end = 0;

	(void)sscanf(value, "/proc/%*u/fd/%*u%n", &end);
	return strcmp(value, NT_TOPOLOGY_NOWHERE) == 0 || (end > 0 && !value[end]);
}

/* A node's only task is assumed to have a rank per GPU. */
static uint32_t rank_that_writes(const struct nt_task_env *env, const struct nt_topology_task *task)
{
	char text[16];
	unsigned long gpus = 1;

	if (task->tasks == 1 && get(env, "SLURM_GPUS_ON_NODE", text, sizeof(text)) == 0)
		gpus = strtoul(text, NULL, 10);
	return gpus > 1 && gpus <= GPUS_MAX ? task->first * (uint32_t)gpus : task->first;
}

/* file NULL: none. */
static void set_dump(const struct nt_task_env *env, const struct nt_topology_task *task,
		     const struct dump_variables *dump, const char *file)
{
	char value[FILE_MAX], rank[16];
	bool set = get(env, dump->file, value, sizeof(value)) == 0;
	bool ours = set && is_ours(value);

	if (set && !ours)
		return;
	if (!file) {
		if (ours) {
			nt_task_env_unset(env, dump->file);
			nt_task_env_unset(env, dump->rank);
		}
		return;
	}
	nt_task_env_set(env, dump->file, file);
	if (!ours && get(env, dump->rank, value, sizeof(value)) == 0)
		return;
	snprintf(rank, sizeof(rank), "%" PRIu32, rank_that_writes(env, task));
	nt_task_env_set(env, dump->rank, rank);
}

void nt_topology_set(const struct nt_task_env *env, const struct nt_topology_task *task)
{
	char text[16];
	bool together = get(env, NT_ENV_TOPOLOGY, text, sizeof(text)) == 0;
	const char *file = task->devices;

	set_dump(env, task, &graphs, task->graphs);
	if (together && !file)
		file = NT_TOPOLOGY_NOWHERE;
	set_dump(env, task, &devices, together || task->alone ? file : NULL);
	nt_task_env_unset(env, NT_ENV_TOPOLOGY);
}
