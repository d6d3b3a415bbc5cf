/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The environment of a step's tasks. */
#include "spank/step/env.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const struct plugin_variable {
	const char *name, *chained;
	uint32_t not_loaded;
} variables[] = {
	{ NT_ENV_NCCL_TUNER, NT_ENV_CHAINED_TUNER, NT_FLAG_NO_TUNER },
	{ NT_ENV_NCCL_PROFILER, NT_ENV_CHAINED_PROFILER, NT_FLAG_NO_PROFILER },
};

#define VARIABLES (sizeof(variables) / sizeof(variables[0]))

const char *nt_task_env_get(const struct nt_task_env *env, const char *name, char *out,
			    size_t out_bytes)
{
	int rc = env->get(env->context, name, out, out_bytes);

	if (rc > 0)
		snprintf(out, out_bytes, "%s", NT_ENV_LONG);
	return rc >= 0 ? out : NULL;
}

void nt_task_env_set(const struct nt_task_env *env, const char *name, const char *value)
{
	env->set(env->context, name, value);
}

void nt_task_env_unset(const struct nt_task_env *env, const char *name)
{
	char byte[1];

	if (env->get(env->context, name, byte, sizeof(byte)) >= 0)
		env->unset(env->context, name);
}

static bool is_set(const char *value)
{
	return value && value[0];
}

static bool is_none(const char *value)
{
	return is_set(value) && strcasecmp(value, "none") == 0;
}

/* The user wants no plugin, or one whose name we cannot repeat. */
static bool stays(const char *value)
{
	return is_none(value) || (is_set(value) && strcmp(value, NT_ENV_LONG) == 0);
}

uint32_t nt_env_flags(const struct nt_task_env *env)
{
	char value[NT_PATH_MAX];
	uint32_t flags = 0;

	for (size_t i = 0; i < VARIABLES; i++) {
		if (stays(nt_task_env_get(env, variables[i].name, value, sizeof(value))))
			flags |= variables[i].not_loaded;
	}
	if (is_set(nt_task_env_get(env, "NCCL_ALGO", value, sizeof(value))))
		flags |= NT_FLAG_USER_ALGO;
	if (is_set(nt_task_env_get(env, "NCCL_PROTO", value, sizeof(value))))
		flags |= NT_FLAG_USER_PROTO;
	return flags;
}

static void load_ours(const struct nt_task_env *env, const struct plugin_variable *variable,
		      const char *value, const char *chained, const char *plugin)
{
	if (!value || strcmp(value, plugin) != 0) {
		if (is_set(value))
			nt_task_env_set(env, variable->chained, value);
		else if (!is_none(chained)) /* of an earlier step */
			nt_task_env_unset(env, variable->chained);
	}
	nt_task_env_set(env, variable->name, plugin);
}

static void load_theirs(const struct nt_task_env *env, const struct plugin_variable *variable,
			const char *value, const char *chained, const char *plugin)
{
	const bool ours = value && strcmp(value, plugin) == 0;

	if (ours && is_set(chained) && !stays(chained))
		nt_task_env_set(env, variable->name, chained);
	else if (ours)
		nt_task_env_unset(env, variable->name);
	if (ours || is_set(value) || !is_none(chained))
		nt_task_env_unset(env, variable->chained);
}

/* The plugin variables go last: without a policy the plugin stays idle. */
void nt_env_tune(const struct nt_task_env *env, const char *plugin, const char *policy)
{
	char value[NT_PATH_MAX], chained[NT_PATH_MAX];

	if (policy)
		nt_task_env_set(env, NT_ENV_POLICY, policy);
	else
		nt_task_env_unset(env, NT_ENV_POLICY);
	for (size_t i = 0; i < VARIABLES; i++) {
		const struct plugin_variable *v = &variables[i];
		const char *own = nt_task_env_get(env, v->name, value, sizeof(value));
		const char *next = nt_task_env_get(env, v->chained, chained, sizeof(chained));

		if (policy && !stays(own))
			load_ours(env, v, own, next, plugin);
		else
			load_theirs(env, v, own, next, plugin);
	}
}
