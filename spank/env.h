/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* env.h - which variables of a step's tasks are set and unset
 *
 * What the user has set for NCCL stays. A plugin variable that holds our own path comes from the
 * step around this one (the batch script's, for the sruns in it) and is ours to replace.
 * NCCL_TUNE_POLICY is ours in any case.
 *
 * Threads:  pure functions, any thread.
 */
#ifndef NT_ENV_H
#define NT_ENV_H

#include <stdbool.h>
#include <stdint.h>

/* What the step's environment holds; NULL where a variable is not set. */
struct nt_env {
	const char *tuner, *profiler, *algo, *proto, *policy;
};

enum nt_env_change { NT_ENV_KEEP, NT_ENV_SET, NT_ENV_UNSET };

struct nt_env_plan {
	enum nt_env_change tuner, profiler, policy;
	uint32_t flags; /* NT_PLACE_* */
};

/* tuned: this step's tasks are to load plugin. */
struct nt_env_plan nt_env_decide(const struct nt_env *env, const char *plugin, bool tuned);

#endif
