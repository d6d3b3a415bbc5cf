/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* task-env.h - this process's environment in place of that of a step's tasks
 *
 * Include after cmocka.h. A test fails that unsets what is not set.
 */
#ifndef NT_TESTS_TASK_ENV_H
#define NT_TESTS_TASK_ENV_H

#include <stdio.h>
#include <stdlib.h>
#include "spank/step/env.h"

static int get(void *context, const char *name, char *out, size_t out_bytes)
{
	const char *value = getenv(name);

	(void)context;
	if (!value)
		return -1;
	return snprintf(out, out_bytes, "%s", value) >= (int)out_bytes;
}

static void set(void *context, const char *name, const char *value)
{
	(void)context;
	assert_int_equal(setenv(name, value, 1), 0);
}

static void unset(void *context, const char *name)
{
	(void)context;
	assert_non_null(getenv(name));
	unsetenv(name);
}

static const struct nt_task_env env = { get, set, unset, NULL };

static inline const char *value_of(const char *name)
{
	const char *value = getenv(name);

	return value ? value : "(unset)";
}

#endif
