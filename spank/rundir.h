/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* rundir.h - the node's run directory: it belongs to the daemon, and nobody else may write to it
 *
 * Threads:  any.
 * Memory:   a file descriptor, the caller's.
 * Errors:   -1 and *err.
 */
#ifndef NT_RUNDIR_H
#define NT_RUNDIR_H

#include "lib/error.h"

/* Create it if its parent exists, and open it; fails unless only the daemon can write to it. */
int nt_rundir_open(const char *rundir, struct nt_error *err);
/* The same for a directory in it that others cannot enter; -1: without a reason. */
int nt_rundir_open_own(const char *rundir, const char *name);

#endif
