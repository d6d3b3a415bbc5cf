/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The environment of a step's tasks, through Slurm. */
#include "spank/task.h"

#include <stdio.h>
#include <slurm/slurm.h>
#include "spank/env.h"
#include "spank/say.h"

struct values {
	char tuner[NT_PATH_MAX], profiler[NT_PATH_MAX], algo[16], proto[16], policy[16];
	char chained_tuner[NT_PATH_MAX], chained_profiler[NT_PATH_MAX];
};

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
		slurm_error(NT_LOG "cannot set %s: %s", name, spank_strerror(rc));
}

static void unset(void *spank, const char *name)
{
	spank_err_t rc = spank_unsetenv(spank, name);

	if (rc != ESPANK_SUCCESS)
		slurm_error(NT_LOG "cannot unset %s: %s", name, spank_strerror(rc));
}

struct nt_task_env nt_task_env(spank_t spank)
{
	return (struct nt_task_env){ get, set, unset, spank };
}

/* What does not fit is set and not ours; only that counts. */
static struct nt_env read_env(spank_t spank, struct values *values)
{
	const struct nt_task_env env = nt_task_env(spank);

#define GET(name, value) nt_task_env_get(&env, name, (value), sizeof(value))
	return (struct nt_env){
		.tuner = GET(NT_ENV_NCCL_TUNER, values->tuner),
		.profiler = GET(NT_ENV_NCCL_PROFILER, values->profiler),
		.algo = GET("NCCL_ALGO", values->algo),
		.proto = GET("NCCL_PROTO", values->proto),
		.policy = GET(NT_ENV_POLICY, values->policy),
		.chained_tuner = GET(NT_ENV_CHAINED_TUNER, values->chained_tuner),
		.chained_profiler = GET(NT_ENV_CHAINED_PROFILER, values->chained_profiler),
	};
#undef GET
}

static void change_env(spank_t spank, const char *name, enum nt_env_change change,
		       const char *value)
{
	if (change == NT_ENV_SET)
		set(spank, name, value);
	else if (change == NT_ENV_UNSET)
		unset(spank, name);
}

/* The plugin variables go last: without a policy the plugin stays idle. */
void nt_task_tune(spank_t spank, const char *plugin, const struct nt_policy *policy,
		  struct nt_place *place, bool *tuned)
{
	struct values values;
	struct nt_env env = read_env(spank, &values);
	struct nt_env_plan plan = nt_env_decide(&env, plugin, *tuned);
	char text[NT_POLICY_MAX] = "";
	struct nt_error err;

	place->flags = plan.flags;
	if (plan.policy == NT_ENV_SET &&
	    nt_policy_format_task(policy, place, text, sizeof(text), &err) < 0) {
		slurm_error(NT_LOG "%s; the step runs untuned", err.text);
		*tuned = false;
		plan = nt_env_decide(&env, plugin, false);
	}
	change_env(spank, NT_ENV_POLICY, plan.policy, text);
	/* Of a step around this one; each task is told its own. */
	if (get(spank, NT_ENV_SHM, values.policy, sizeof(values.policy)) >= 0)
		unset(spank, NT_ENV_SHM);
	change_env(spank, NT_ENV_CHAINED_TUNER, plan.tuner.chained_change,
		   plan.tuner.chained_value);
	change_env(spank, NT_ENV_CHAINED_PROFILER, plan.profiler.chained_change,
		   plan.profiler.chained_value);
	change_env(spank, NT_ENV_NCCL_TUNER, plan.tuner.change, plan.tuner.value);
	change_env(spank, NT_ENV_NCCL_PROFILER, plan.profiler.change, plan.profiler.value);
}

void nt_task_shm(spank_t spank, const char *path)
{
	set(spank, NT_ENV_SHM, path);
}

void nt_task_word(spank_t spank, const char *name, const char *other, char *out, size_t out_bytes)
{
	if ((get(spank, name, out, out_bytes) == 0 && out[0]) ||
	    (get(spank, other, out, out_bytes) == 0 && out[0]))
		return;
	snprintf(out, out_bytes, "-");
}
