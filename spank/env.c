/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The environment of a step's tasks. */
#include "spank/env.h"

#include <stddef.h>
#include <string.h>
#include "contract/policy.h"

static enum nt_env_change decide_plugin(const char *value, const char *plugin, bool tuned)
{
	bool ours = value && strcmp(value, plugin) == 0;

	if (value && value[0] && !ours)
		return NT_ENV_KEEP;
	if (tuned)
		return NT_ENV_SET;
	return ours ? NT_ENV_UNSET : NT_ENV_KEEP;
}

static bool is_set(const char *value)
{
	return value && value[0];
}

struct nt_env_plan nt_env_decide(const struct nt_env *env, const char *plugin, bool tuned)
{
	struct nt_env_plan plan = { 0 };

	plan.tuner = decide_plugin(env->tuner, plugin, tuned);
	plan.profiler = decide_plugin(env->profiler, plugin, tuned);
	if (tuned) {
		plan.flags |= plan.tuner == NT_ENV_KEEP ? NT_PLACE_NO_TUNER : 0;
		plan.flags |= plan.profiler == NT_ENV_KEEP ? NT_PLACE_NO_PROFILER : 0;
		plan.flags |= is_set(env->algo) ? NT_PLACE_USER_ALGO : 0;
		plan.flags |= is_set(env->proto) ? NT_PLACE_USER_PROTO : 0;
	}
	if (plan.tuner == NT_ENV_SET || plan.profiler == NT_ENV_SET)
		plan.policy = NT_ENV_SET;
	else
		plan.policy = env->policy ? NT_ENV_UNSET : NT_ENV_KEEP;
	return plan;
}
