/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* shm-fd.h - a node's shared memory that no rank can truncate
 *
 * Any process of the user can truncate a file in the user's directory; every rank that has it
 * mapped is then killed by SIGBUS. So slurmstepd creates the shared memory: anonymous memory
 * (memfd) of the right size, sealed against shrinking and growing. Tasks inherit the descriptor,
 * and get a path that the processes they start can open, too, even if these were started with all
 * other descriptors closed.
 *
 * Threads:  one at a time.
 * Memory:   one descriptor, the caller's. Pages count as memory of the control group that touches
 *           them first, which is the job's.
 * Errors:   -1 and *err; ranks then use a file in the step's directory.
 * Host:     processes of the same user in the same /proc may open /proc/<pid>/fd while the task
 *           lives and is dumpable.
 */
#ifndef NT_SHM_FD_H
#define NT_SHM_FD_H

#include <stdint.h>
#include <sys/types.h>
#include "lib/error.h"

#define NT_SHM_FD_PATH 48 /* "/proc/<pid>/fd/<number>", with its NUL */

/* Create it for the user; closed on exec. */
int nt_shm_fd_make(uid_t uid, gid_t gid, const char *node, uint32_t job, uint32_t step,
		   struct nt_error *err);

/* In a task before its exec: keep it open, under this path. */
int nt_shm_fd_leave(int fd, char path[NT_SHM_FD_PATH]);

#endif
