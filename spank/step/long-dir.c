/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "spank/step/long-dir.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "launch/memory-dir.h"
#include "launch/record-dir.h"

#define RUN_MAX 100000

/* NT_ENV_LONG is not an absolute path, and so refused as one. */
static const char *get(const struct nt_task_env *env, const char *name, char out[NT_PATH_MAX])
{
	return nt_task_env_get(env, name, out, NT_PATH_MAX);
}

/* From the ticket, otherwise as srun finds it. */
static void find_memory(const struct nt_task_env *env, const char *memory, char out[NT_PATH_MAX])
{
	char own[NT_PATH_MAX], state[NT_PATH_MAX], home[NT_PATH_MAX];

	if (memory[0])
		snprintf(out, NT_PATH_MAX, "%s", memory);
	else
		(void)nt_memory_directory_of(out, get(env, NT_ENV_MEMORY, own),
					     get(env, "XDG_STATE_HOME", state),
					     get(env, "HOME", home), NULL);
}

static uint32_t restarts(const struct nt_task_env *env)
{
	char text[NT_PATH_MAX];
	const char *value = get(env, "SLURM_RESTART_COUNT", text);
	unsigned long count = value ? strtoul(value, NULL, 10) : 0;

	return count < RUN_MAX ? (uint32_t)count : RUN_MAX;
}

void nt_long_dir_find(struct nt_arguments *arguments, const struct nt_task_env *env,
		      const struct nt_conf *conf, const char *memory)
{
	char own[NT_PATH_MAX], found[NT_PATH_MAX];
	const struct nt_records_asked asked = {
		.own = get(env, NT_ENV_RECORD_DIR, own),
		.site = conf->record_dir,
		.uid = arguments->uid,
		.memory = found,
	};
	struct nt_records records;
	struct nt_error err;

	arguments->run = restarts(env);
	arguments->long_mib = conf->record_mib;
	arguments->long_parents = 1;
	snprintf(arguments->long_dir, sizeof(arguments->long_dir), "-");
	if (conf->record_mib == 0 || (asked.own && strcmp(asked.own, NT_RECORDS_NONE) == 0))
		return;
	find_memory(env, memory, found);
	if (nt_records_choose(&records, &asked, &err) < 0) {
		snprintf(arguments->long_dir, sizeof(arguments->long_dir), "%.200s", err.text);
		return;
	}
	arguments->long_parents = records.parents;
	snprintf(arguments->long_dir, sizeof(arguments->long_dir), "%s", records.path);
}
