/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* safe-open.h - open an entry of a directory, unless it is mounted or a link
 *
 * Users may mount file systems of their own (FUSE) on their entries of a step's directory. A
 * process that accesses one waits for the user's program, which may never answer, and not even
 * SIGKILL ends that wait. Therefore nothing that others could have mounted is entered, nor are its
 * attributes read.
 *
 * Threads:  any.
 * Memory:   a file descriptor, the caller's.
 * Errors:   -1 and errno; EXDEV: something is mounted there, ELOOP: it is a link.
 * Host:     openat2() from Linux 5.6 on; earlier, and if it is filtered, the same by O_PATH and the
 *           mount's number in /proc/self/fdinfo.
 */
#ifndef NT_SAFE_OPEN_H
#define NT_SAFE_OPEN_H

/* name is one component: no slash. flags as open() takes them; nothing is created. O_CLOEXEC and
 * O_NOFOLLOW are added. */
int nt_safe_open(int dir_fd, const char *name, int flags);

/* The same without openat2(). */
int nt_safe_open_old(int dir_fd, const char *name, int flags);

/* The same for a path of which only the last component may be a user's. */
int nt_safe_open_path(const char *path, int flags);

#endif
