/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The environment of a step's tasks. */
#include "spank/env.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>
#include "contract/policy.h"

static bool is_set(const char *value)
{
	return value && value[0];
}

static bool is_none(const char *value)
{
	return is_set(value) && strcasecmp(value, "none") == 0;
}

/* What ours is to leave alone: the user wants no plugin, or something that we cannot repeat. */
static bool stays(const char *value)
{
	return is_none(value) || (is_set(value) && strcmp(value, NT_ENV_LONG) == 0);
}

static struct nt_env_plugin leave(const char *value, const char *chained, bool ours)
{
	struct nt_env_plugin out = { .chained_change = chained ? NT_ENV_UNSET : NT_ENV_KEEP };

	if (ours) {
		out.change = is_set(chained) && !stays(chained) ? NT_ENV_SET : NT_ENV_UNSET;
		out.value = out.change == NT_ENV_SET ? chained : NULL;
	} else if (!is_set(value) && is_none(chained)) {
		out.chained_change = NT_ENV_KEEP;
	}
	return out;
}

static struct nt_env_plugin decide_plugin(const char *value, const char *chained,
					  const char *plugin, bool tuned)
{
	bool ours = value && strcmp(value, plugin) == 0;
	struct nt_env_plugin out = { .change = NT_ENV_SET, .value = plugin };

	if (!tuned || (!ours && stays(value)))
		return leave(value, chained, ours);
	if (is_set(value) && !ours) {
		out.chained_change = NT_ENV_SET;
		out.chained_value = value;
	} else if (chained && !ours && !is_none(chained)) {
		out.chained_change = NT_ENV_UNSET; /* of another time */
	}
	return out;
}

struct nt_env_plan nt_env_decide(const struct nt_env *env, const char *plugin, bool tuned)
{
	struct nt_env_plan plan = { .policy = NT_ENV_KEEP };

	plan.tuner = decide_plugin(env->tuner, env->chained_tuner, plugin, tuned);
	plan.profiler = decide_plugin(env->profiler, env->chained_profiler, plugin, tuned);
	if (tuned) {
		plan.flags |= plan.tuner.change == NT_ENV_KEEP ? NT_PLACE_NO_TUNER : 0;
		plan.flags |= plan.profiler.change == NT_ENV_KEEP ? NT_PLACE_NO_PROFILER : 0;
		plan.flags |= is_set(env->algo) ? NT_PLACE_USER_ALGO : 0;
		plan.flags |= is_set(env->proto) ? NT_PLACE_USER_PROTO : 0;
	}
	if (tuned && (plan.tuner.change == NT_ENV_SET || plan.profiler.change == NT_ENV_SET))
		plan.policy = NT_ENV_SET;
	else if (env->policy)
		plan.policy = NT_ENV_UNSET;
	return plan;
}
