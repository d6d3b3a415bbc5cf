/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* stepfs.h - the file system of a step
 *
 * A tmpfs with limits on bytes and files, nosuid, nodev and noexec. Its pages count as memory of
 * the control group that writes them first, which is the job's. Detaching it removes everything in
 * it and everything that is mounted on it.
 *
 * Threads:  any.
 * Errors:   -1 and *err.
 * Host:     CAP_SYS_ADMIN, in the mount namespace of slurmd.
 */
#ifndef NT_STEPFS_H
#define NT_STEPFS_H

#include <stdint.h>
#include "lib/error.h"

/* path and its parent are root's. */
int nt_stepfs_mount(const char *path, int64_t bytes, int64_t files, struct nt_error *err);

/* A descriptor of the same file system, without a path, closed on exec; -1 before Linux 5.2. */
int nt_stepfs_clone(const char *path);
/* In another mount namespace: mount it on path. */
int nt_stepfs_attach(int clone_fd, const char *path);

/* Detach what is mounted on path, even if it is in use or does not respond. Does nothing if nothing
 * is mounted. Only the last component of path may be a user's. */
void nt_stepfs_detach(const char *path);

#endif
