/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* env.h - the environment of a step's tasks, and how it makes NCCL load our plugin
 *
 * Our plugin replaces the user's plugins and loads them itself, by the names in
 * NCCL_TUNE_CHAINED_*; an untuned step gets the user's own names back. "none", and a value that is
 * too long for the name of a plugin, is not changed. A plugin variable that has our own path comes
 * from the step around this one (from the batch script, for the sruns in it). NCCL_TUNE_POLICY is
 * always set by us.
 *
 * Threads:  one at a time.
 * Memory:   the caller's.
 * Errors:   those of the callbacks.
 */
#ifndef NT_ENV_H
#define NT_ENV_H

#include <stddef.h>
#include <stdint.h>
#include "contract/policy.h"

struct nt_task_env {
	/* 0: out has the value; 1: the value does not fit; -1: it is not set. */
	int (*get)(void *context, const char *name, char *out, size_t out_bytes);
	void (*set)(void *context, const char *name, const char *value);
	void (*unset)(void *context, const char *name);
	void *context;
};

#define NT_ENV_LONG "(long)" /* stands for a value that does not fit */
/* The value, in out; NT_ENV_LONG if it does not fit; NULL if it is not set. */
const char *nt_task_env_get(const struct nt_task_env *env, const char *name, char *out,
			    size_t out_bytes);
void nt_task_env_set(const struct nt_task_env *env, const char *name, const char *value);
/* If it is set. */
void nt_task_env_unset(const struct nt_task_env *env, const char *name);

#define NT_ENV_NOT_LOADED (NT_FLAG_NO_TUNER | NT_FLAG_NO_PROFILER)
/* NT_FLAG_*: what NCCL will not load, and what the user has chosen. */
uint32_t nt_env_flags(const struct nt_task_env *env);

/* Make the tasks load plugin, with this policy; NULL: make them load the user's own plugins. */
void nt_env_tune(const struct nt_task_env *env, const char *plugin, const char *policy);

#endif
