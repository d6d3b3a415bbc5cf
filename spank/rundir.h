/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* rundir.h - the node's run directory: the daemon's, and nobody else may write it
 *
 * Threads:  any.
 * Memory:   a file descriptor, the caller's.
 * Errors:   -1 and *err.
 */
#ifndef NT_RUNDIR_H
#define NT_RUNDIR_H

#include "lib/error.h"

/* Make it if its parent exists, and open it; fails unless it is the daemon's alone. */
int nt_rundir_open(const char *rundir, struct nt_error *err);
/* The same for a directory in it, which others may not even pass; -1 alone. */
int nt_rundir_open_own(const char *rundir, const char *name);

#endif
