/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* shm-fd.h - a node's shared memory that no rank can cut short
 *
 * A file in a directory of the user's can be truncated by any process of the user's, and every rank
 * that has it mapped then dies by SIGBUS. So slurmstepd makes the shared memory: memory with a name
 * and no directory (memfd), of the shared memory's size, sealed against shrinking and growing.
 * Tasks inherit it, and are told a path that the processes they start can open too, also where
 * those were started with all other descriptors closed.
 *
 * Threads:  one at a time.
 * Memory:   one descriptor, the caller's. Pages count as memory of the control group of whoever
 *           touches them first, so of the job.
 * Errors:   -1 and *err; ranks then use a file in the step's directory.
 * Host:     /proc/<pid>/fd may be opened by processes of the same user, as long as the task can be
 *           looked at (is dumpable) and lives, in the same /proc.
 */
#ifndef NT_SHM_FD_H
#define NT_SHM_FD_H

#include <stdint.h>
#include <sys/types.h>
#include "lib/error.h"

#define NT_SHM_FD_PATH 48 /* "/proc/<pid>/fd/<number>", with its NUL */

/* The shared memory of a step, the user's, closed on exec. */
int nt_shm_fd_make(uid_t uid, gid_t gid, const char *node, uint32_t job, uint32_t step,
		   struct nt_error *err);

/* In a task before its exec: leave it open there, and say where. */
int nt_shm_fd_leave(int fd, char path[NT_SHM_FD_PATH]);

#endif
