/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* spawn.h - start a helper that is nobody's child
 *
 * slurmstepd reaps every child it has and takes each for a task, so the helper is started by an
 * intermediate process that ends at once and is waited for here. It gets its own session, an
 * environment of three variables, no signal blocked or ignored, /dev/null for the standard streams,
 * one descriptor, and nothing else of the daemon's. It is out of the control groups of the
 * daemon's job before it exists (cgroup.h).
 *
 * Threads:  the daemon may have others; between fork and exec only what is safe then is called.
 * Errors:   -1 and *err: there is no helper; that the program could not be executed is seen at the
 *           other end of fd only.
 * Units:    it takes NT_SPAWN_MS at most.
 */
#ifndef NT_SPAWN_H
#define NT_SPAWN_H

#include "lib/error.h"

#define NT_SPAWN_FD 3 /* what fd is in the helper */
#define NT_SPAWN_MS 600 /* the kernel may take its time to move a process */

/* PROGRAM WORD ARGUMENT. conf is the path of slurm.conf; NULL: libslurm looks for it. fd -1:
 * /dev/null. */
int nt_spawn(const char *program, const char *word, const char *argument, const char *conf, int fd,
	     struct nt_error *err);

#endif
