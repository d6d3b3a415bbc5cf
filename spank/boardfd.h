/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* boardfd.h - a node's board that no rank can cut short
 *
 * A file in a directory of the user's can be truncated by any process of the user's, and every rank
 * that has it mapped then dies by SIGBUS. So slurmstepd makes the board: memory with a name and no
 * directory (memfd), of the board's size, sealed against shrinking and growing. Tasks inherit it,
 * and are told a path that the processes they start can open too, also where those were started
 * with all other descriptors closed.
 *
 * Threads:  one at a time.
 * Memory:   one descriptor, the caller's. Pages count as memory of the control group of whoever
 *           touches them first, so of the job.
 * Errors:   -1 and *err; ranks then use a file in the step's directory.
 * Host:     /proc/<pid>/fd may be opened by processes of the same user, as long as the task can be
 *           looked at (is dumpable) and lives, in the same /proc.
 */
#ifndef NT_BOARDFD_H
#define NT_BOARDFD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "contract/error.h"

#define NT_BOARDFD_PATH 48 /* "/proc/<pid>/fd/<number>", with its NUL */

/* The board of a step, the user's, closed on exec. */
int nt_boardfd_make(uid_t uid, gid_t gid, const char *node, uint32_t job, uint32_t step,
		    struct nt_error *err);

/* In a task before its exec: leave it open there, and say where. */
int nt_boardfd_leave(int fd, char path[NT_BOARDFD_PATH]);

#endif
