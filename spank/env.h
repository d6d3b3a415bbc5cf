/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* env.h - which variables of a step's tasks are set and unset
 *
 * Our plugin replaces the user's plugins and loads them itself, by the names in
 * NCCL_TUNE_CHAINED_*; an untuned step gets the user's own names back. "none", and a value that is
 * too long for the name of a plugin, is not changed. A plugin variable that has our own path comes
 * from the step around this one (from the batch script, for the sruns in it). NCCL_TUNE_POLICY is
 * always set by us.
 *
 * Threads:  pure functions, any thread.
 */
#ifndef NT_ENV_H
#define NT_ENV_H

#include <stdbool.h>
#include <stdint.h>
#include "spank/profile-env.h"

/* What the step's environment holds; NULL where a variable is not set. */
struct nt_env {
	const char *tuner, *profiler, *algo, *proto, *policy;
	const char *chained_tuner, *chained_profiler;
};

enum nt_env_change { NT_ENV_KEEP, NT_ENV_SET, NT_ENV_UNSET };

/* One of NCCL's plugin variables and its NCCL_TUNE_CHAINED_ variable. The values are for
 * NT_ENV_SET: those of struct nt_env, or the plugin's path. */
struct nt_env_plugin {
	enum nt_env_change change, chained_change;
	const char *value, *chained_value;
};

struct nt_env_plan {
	struct nt_env_plugin tuner, profiler;
	enum nt_env_change policy;
	uint32_t flags; /* NT_PLACE_* */
};

/* tuned: this step's tasks are to load plugin. */
struct nt_env_plan nt_env_decide(const struct nt_env *env, const char *plugin, bool tuned);

#endif
