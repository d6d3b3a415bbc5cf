/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* cgroup.h - leave the control groups of the step that this process was started in
 *
 * slurmstepd waits a second for its step's group to be empty before it removes it, and leaves it
 * behind if it is not; the step's memory limit would count for us, too.
 *
 * Threads:  single-threaded programs.
 * Errors:   none: what cannot be left is not left.
 */
#ifndef NT_CGROUP_H
#define NT_CGROUP_H

#include <stddef.h>

/* The group to go to for a line of /proc/self/cgroup, as a directory below root; -1 where the
 * line names no step's group. Version 2: the group where Slurm itself puts processes that belong
 * to no job. Version 1: Slurm's own. */
int nt_cgroup_outside(const char *root, const char *line, char *out, size_t out_bytes);

void nt_cgroup_leave(void);

#endif
