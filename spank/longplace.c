/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* longplace.c - see longplace.h */
#include "spank/longplace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "launch/directory.h"
#include "launch/records.h"

#define RUN_MAX 100000

/* One that does not fit is no path that could be used, and is said to be none. */
static const char *get(const struct nt_task_env *env, const char *name, char out[NT_PATH_MAX])
{
	int rc = env->get(env->context, name, out, NT_PATH_MAX);

	if (rc > 0)
		snprintf(out, NT_PATH_MAX, "(too long)");
	return rc >= 0 ? out : NULL;
}

/* As srun has found it; else as it would. */
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

void nt_longplace(struct nt_errand *errand, const struct nt_task_env *env,
		  const struct nt_conf *conf, const char *memory)
{
	char own[NT_PATH_MAX], found[NT_PATH_MAX];
	const struct nt_records_asked asked = {
		.own = get(env, NT_ENV_RECORD_DIR, own),
		.site = conf->record_dir,
		.uid = errand->uid,
		.memory = found,
	};
	struct nt_records records;
	struct nt_error err;

	errand->run = restarts(env);
	errand->long_mib = conf->record_mib;
	errand->long_parents = 1;
	snprintf(errand->long_dir, sizeof(errand->long_dir), "-");
	if (conf->record_mib == 0 || (asked.own && strcmp(asked.own, NT_RECORDS_NONE) == 0))
		return;
	find_memory(env, memory, found);
	if (nt_records_choose(&records, &asked, &err) < 0) {
		snprintf(errand->long_dir, sizeof(errand->long_dir), "%.200s", err.text);
		return;
	}
	errand->long_parents = records.parents;
	snprintf(errand->long_dir, sizeof(errand->long_dir), "%s", records.path);
}
