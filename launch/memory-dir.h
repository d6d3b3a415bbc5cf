/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* memory-dir.h - where a user's memory is
 *
 * $NCCL_TUNE_MEMORY; else nccl-tune/memory below $XDG_STATE_HOME, or below ~/.local/state. Absolute
 * paths only: it must not depend on the working directory. The directory need not exist.
 *
 * Threads:  any that may read the environment.
 * Memory:   the caller's.
 * Errors:   -1 and *err names the variable and what is accepted; out is then "".
 */
#ifndef NT_LAUNCH_DIRECTORY_H
#define NT_LAUNCH_DIRECTORY_H

#include <stdbool.h>
#include "lib/error.h"
#include "contract/names.h"

#define NT_ENV_MEMORY "NCCL_TUNE_MEMORY"

int nt_memory_directory(char out[NT_PATH_MAX], struct nt_error *err);
/* The same with the values of these variables; NULL: not set. */
int nt_memory_directory_of(char out[NT_PATH_MAX], const char *own, const char *state,
			   const char *home, struct nt_error *err);

/* Is the path valid: absolute, shorter than NT_PATH_MAX bytes, without ';' and control
 * characters? */
bool nt_memory_path_valid(const char *path);

#endif
