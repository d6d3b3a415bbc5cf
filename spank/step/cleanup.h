/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* cleanup.h - remove leftovers of steps from the run directory
 *
 * Runs in nt-recordd, outside all steps. Leftovers come from killed slurmstepds and from steps
 * without a file system of their own that could not be removed at once. Mounts are detached first;
 * then a user's files are removed with that user's privileges, for at most NT_CLEANUP_ONE_MS. What
 * remains is renamed, reported once, and tried again when slurmd starts.
 *
 * Threads:  a single-threaded process; only one such process works at a time.
 * Memory:   the caller's.
 * Errors:   -1 and *err where the run directory cannot be used.
 * Units:    milliseconds.
 */
#ifndef NT_CLEANUP_H
#define NT_CLEANUP_H

#include <stdbool.h>
#include "lib/error.h"

#define NT_CLEANUP_ONE_MS 10000 /* one leftover */
#define NT_CLEANUP_ALL_MS 60000 /* one run */
#define NT_CLEANUP_EVERY_S 60 /* at most so often, by steps that end */
#define NT_CLEANUP_STALE_S 60 /* a directory is locked long before it is this old */

/* again: retry leftovers that could not be removed before. say: called once for each leftover that
 * cannot be removed. */
int nt_cleanup(const char *rundir, bool again, void (*say)(const char *text), struct nt_error *err);

/* Empty a user's directory on a detached file system (nt_step_clear) with its owner's privileges.
 * Failures are not reported. */
void nt_cleanup_users(int fd);

/* Is a run due? True if there are directories and the last run was long enough ago. Costs two
 * system calls. */
bool nt_cleanup_is_due(int rundir_fd);

#endif
