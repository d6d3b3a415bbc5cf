/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* spawn.h - start a helper that is not a child of the daemon
 *
 * slurmstepd reaps every child and takes it for a task. So an intermediate process starts the
 * helper and ends at once; it is waited for here. The helper gets its own session, an environment
 * of three variables, no blocked or ignored signals, /dev/null for the standard streams, one
 * descriptor, and nothing else of the daemon. It has left the cgroups of the daemon's job
 * before it is executed (cgroup.h).
 *
 * Threads:  the daemon may have other threads; between fork and exec only functions that are safe
 *           then are called.
 * Errors:   -1 and *err: there is no helper. If the program cannot be executed, only the other end
 *           of fd shows it.
 * Units:    it takes NT_SPAWN_MS at most.
 */
#ifndef NT_SPAWN_H
#define NT_SPAWN_H

#include "lib/error.h"

#define NT_SPAWN_FD 3 /* what fd is in the helper */
#define NT_SPAWN_MS 600 /* moving a process to another cgroup may take long */

/* Start "PROGRAM WORD ARGUMENT" (recordd/main.c) and do not wait for it. conf is the path of
 * slurm.conf; NULL: libslurm searches for it. fd -1: /dev/null. */
int nt_spawn_program(const char *program, const char *word, const char *argument, const char *conf,
		     int fd, struct nt_error *err);

/* After fork: no signal is blocked, and each does what it does by default. */
void nt_spawn_reset_signals(void);

#endif
