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
#define NOWHERE "/dev/null" /* nothing below it can be opened */
#define GPUS_MAX 1024

struct dump_variables {
	const char *file, *rank, *prefix;
};

static const struct dump_variables graphs = { NT_ENV_GRAPH_FILE, NT_ENV_GRAPH_RANK,
					      NT_GRAPHS_PREFIX };
static const struct dump_variables devices = { NT_ENV_SYSTEM_FILE, NT_ENV_SYSTEM_RANK,
					       NT_SYSTEM_PREFIX };

static int get(const struct nt_task_env *env, const char *name, char *out, size_t out_bytes)
{
	const char *value = nt_task_env_get(env, name, out, out_bytes);

	return value && value[0] ? 0 : -1;
}

/* Set by us, for the step around this one. */
static bool is_ours(const char *value, const struct dump_variables *dump)
{
	const char *name = strrchr(value, '/');

	return name && strncmp(name + 1, dump->prefix, strlen(dump->prefix)) == 0;
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

/* dir NULL: no file. */
static void set_dump(const struct nt_task_env *env, const struct nt_topology_task *task,
		     const struct dump_variables *dump, const char *dir)
{
	char value[FILE_MAX], rank[16];
	bool set = get(env, dump->file, value, sizeof(value)) == 0;
	bool ours = set && is_ours(value, dump);

	if (set && !ours)
		return;
	if (!dir) {
		if (ours) {
			nt_task_env_unset(env, dump->file);
			nt_task_env_unset(env, dump->rank);
		}
		return;
	}
	snprintf(value, sizeof(value), "%s/%s%" PRIu32 "%s", dir, dump->prefix, task->task,
		 NT_DUMP_SUFFIX);
	nt_task_env_set(env, dump->file, value);
	if (!ours && get(env, dump->rank, value, sizeof(value)) == 0)
		return;
	snprintf(rank, sizeof(rank), "%" PRIu32, rank_that_writes(env, task));
	nt_task_env_set(env, dump->rank, rank);
}

void nt_topology_set(const struct nt_task_env *env, const struct nt_topology_task *task)
{
	char text[16];
	bool together = get(env, NT_ENV_TOPOLOGY, text, sizeof(text)) == 0;
	const char *dir = task->dir;

	set_dump(env, task, &graphs, dir);
	if (together && !dir)
		dir = NOWHERE;
	set_dump(env, task, &devices, together || task->alone ? dir : NULL);
	nt_task_env_unset(env, NT_ENV_TOPOLOGY);
}
