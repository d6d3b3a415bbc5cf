/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* tidy.h - remove what steps have left in the run directory
 *
 * By nt-recordd, a process of its own beside all steps: what a killed slurmstepd has left, and what
 * the end of a step without a file system of its own could not remove at once. Mounts go first,
 * then a user's files, with that user's rights and for NT_TIDY_ONE_MS at most. What is left after
 * that is renamed, told once, and tried again when slurmd starts.
 *
 * Threads:  a single-threaded process; one such process at a time does anything.
 * Memory:   the caller's.
 * Errors:   -1 and *err where the run directory cannot be used.
 * Units:    milliseconds.
 */
#ifndef NT_TIDY_H
#define NT_TIDY_H

#include <stdbool.h>
#include "contract/error.h"

#define NT_TIDY_ONE_MS 10000 /* one leftover */
#define NT_TIDY_ALL_MS 60000 /* one run */
#define NT_TIDY_EVERY_S 60 /* at most so often, by steps that end */
#define NT_TIDY_STALE_S 60 /* a directory is locked long before it is this old */

/* again: also what could not be removed before. say: what could not, once for each. */
int nt_tidy(const char *rundir, bool again, void (*say)(const char *text), struct nt_error *err);

/* Whether it is time for a run: there are directories, and the last run was a while ago. Two system
 * calls. */
bool nt_tidy_is_due(int rundir_fd);

#endif
