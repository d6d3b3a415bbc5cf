/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* path.h - parse paths in the site's configuration
 *
 * Threads:  pure functions, any thread.
 * Memory:   the caller's.
 * Errors:   -1 and *err has the value and what is accepted.
 */
#ifndef NT_PATH_H
#define NT_PATH_H

#include "lib/error.h"
#include "contract/names.h"

/* An absolute path that may stand in comma-separated lists and on command lines. */
int nt_conf_path(char out[NT_PATH_MAX], const char *value, struct nt_error *err);
/* ... of a directory, which becomes a part of longer ones. */
int nt_conf_directory(char out[NT_PATH_MAX], const char *value, struct nt_error *err);

#endif
