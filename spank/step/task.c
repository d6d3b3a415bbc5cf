/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The environment of a step's tasks, through Slurm. */
#include "spank/step/task.h"

#include <slurm/slurm.h>
#include "spank/say.h"

static int get(void *spank, const char *name, char *out, size_t out_bytes)
{
	spank_err_t rc = spank_getenv(spank, name, out, (int)out_bytes);

	if (rc == ESPANK_NOSPACE)
		return 1;
	return rc == ESPANK_SUCCESS ? 0 : -1;
}

static void set(void *spank, const char *name, const char *value)
{
	spank_err_t rc = spank_setenv(spank, name, value, 1);

	if (rc != ESPANK_SUCCESS)
		slurm_error("cannot set %s: %s", name, spank_strerror(rc));
}

static void unset(void *spank, const char *name)
{
	spank_err_t rc = spank_unsetenv(spank, name);

	if (rc != ESPANK_SUCCESS)
		slurm_error("cannot unset %s: %s", name, spank_strerror(rc));
}

struct nt_task_env nt_task_env(spank_t spank)
{
	return (struct nt_task_env){ get, set, unset, spank };
}

void nt_task_tune(spank_t spank, const char *plugin, const struct nt_policy *policy,
		  struct nt_node_step *node_step, bool *tuned)
{
	const struct nt_task_env env = nt_task_env(spank);
	char text[NT_POLICY_MAX];
	bool loads;
	struct nt_error err;

	node_step->flags = *tuned ? nt_env_flags(&env) : 0;
	loads = *tuned && (node_step->flags & NT_ENV_NOT_LOADED) != NT_ENV_NOT_LOADED;
	if (loads && nt_policy_format_task(policy, node_step, text, sizeof(text), &err) < 0) {
		slurm_error("%s; the step runs untuned", err.text);
		*tuned = loads = false;
	}
	nt_env_tune(&env, plugin, loads ? text : NULL);
}
