/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* user-env.h - the NCCL start-up variables that a user or the site has set
 *
 * They come from the environment and from the files that NCCL reads in its tasks: $NCCL_CONF_FILE
 * or ~/.nccl.conf, and /etc/nccl.conf. Only variables that a profile may set, or that NCCL reads
 * together with one of these, count. A variable that the surrounding step's launch profile set is
 * not the user's.
 *
 * Threads:  pure except for files.
 * Memory:   a value; nothing is allocated beyond a call. What does not fit is ignored.
 * Errors:   -1 and *err; a missing file sets nothing.
 */
#ifndef NT_LAUNCH_OWN_H
#define NT_LAUNCH_OWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/error.h"

#define NT_USER_ENV_MAX 32
#define NT_USER_ENV_NAME 40
#define NT_USER_ENV_VALUE 64
#define NT_USER_ENV_FILE_MAX 65536 /* bytes */
#define NT_USER_ENV_SITE_FILE "/etc/nccl.conf"

struct nt_user_env_variable {
	char name[NT_USER_ENV_NAME], value[NT_USER_ENV_VALUE]; /* the value is cut */
	bool from_file;
};

struct nt_user_env {
	unsigned count;
	struct nt_user_env_variable variable[NT_USER_ENV_MAX];
};

void nt_user_env_init(struct nt_user_env *env);
/* Add the environment's variables, except those that a profile has set by launched (the value of
 * NCCL_TUNE_LAUNCH; NULL: none). An empty value counts as unset, as in NCCL. */
void nt_user_env_environment(struct nt_user_env *env, char *const variables[],
			     const char *launched);
/* Adds NAME=VALUE lines. flags: lib/file.h's. */
int nt_user_env_file(struct nt_user_env *env, const char *path, unsigned flags,
		     struct nt_error *err);
/* The user's file that NCCL would read; "" if there can be none. */
void nt_user_env_user_file(char *out, size_t out_bytes);

bool nt_user_env_has(const struct nt_user_env *env, const char *name);
/* Equal if the same variables have the same values; 0 if there are none. */
uint32_t nt_user_env_hash(const struct nt_user_env *env);

/* Has a profile set the variable to this value, by the text of NCCL_TUNE_LAUNCH (NULL: none)? */
bool nt_variable_launched(const char *launched, const char *name, const char *value);

#endif
