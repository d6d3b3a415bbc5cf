/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* shm-fd.h - the node's memory, which carries all between a step's processes and nt-recordd
 *
 * slurmstepd creates anonymous memory (memfd) of the right size (contract/tray-layout.h), sealed
 * against shrinking and growing: in a file that a process of the user can truncate, every rank that
 * has it mapped would be killed by SIGBUS. Tasks inherit the descriptor, and get a path that the
 * processes they start can open, too, even if these were started with all other descriptors closed.
 * nt-recordd gets a descriptor of its own (helper.h).
 *
 * Threads:  one at a time.
 * Memory:   one descriptor, the caller's. Pages count as memory of the cgroup that touches
 *           them first, which is the job's.
 * Errors:   -1 and *err.
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

/* Changes whenever a process claims a tray or leaves a text; 0: none has. A number to compare. */
uint64_t nt_shm_fd_changes(int fd);

/* Remove the file that stands in for it (NT_SHM_BESIDE), if it is the user's, with the user's
 * rights: only its name in /dev/shm is looked at. */
void nt_shm_fd_clear(uid_t uid, const char *node, uint32_t job, uint32_t step);

/* In a task before its exec: keep it open, under this path. */
int nt_shm_fd_leave(int fd, char path[NT_SHM_FD_PATH]);

/* In a task before its exec: a file in memory, under this path, into which NCCL can write. */
int nt_shm_fd_scratch(char path[NT_SHM_FD_PATH]);

#endif
