/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* file.h - read and write whole files of a bounded size
 *
 * Threads:  any.
 * Memory:   the caller frees *text; an uncounted NUL follows.
 * Errors:   -1, errno and *err, which names the file. EFBIG: it is larger than the limit; EPERM:
 *           flags do not allow it.
 * Units:    bytes.
 */
#ifndef NT_FILE_H
#define NT_FILE_H

#include <stddef.h>
#include <sys/types.h>
#include "lib/error.h"

#define NT_FILE_ROOT_ONLY 1u /* refuse a file that others than root own or can write */
#define NT_FILE_NO_LINK 2u /* refuse a symbolic link */

/* Makes missing directories of the path, for this user alone. */
int nt_directories_make(const char *path, struct nt_error *err);

/* A regular file in directory dir (or AT_FDCWD). */
int nt_file_read_at(int dir, const char *name, unsigned flags, size_t largest, char **text,
		    size_t *bytes, struct nt_error *err);

/* A file that a user named: also a pipe; "-" is stdin. */
int nt_file_read(const char *path, size_t largest, char **text, size_t *bytes,
		 struct nt_error *err);

/* From an open file, which stays open; name is for the error. */
int nt_file_read_fd(int fd, const char *name, size_t largest, char **text, size_t *bytes,
		    struct nt_error *err);

/* Writes to ".NAME.<random>.tmp", syncs it to disk, and renames it. A crash leaves the old file or
 * the new one, and at worst a *.tmp. */
int nt_file_replace(int dir, const char *name, const void *data, size_t bytes, mode_t mode,
		    struct nt_error *err);
/* Without syncing: after a crash of the machine it may be empty or missing. */
int nt_file_put(int dir, const char *name, const void *data, size_t bytes, mode_t mode,
		struct nt_error *err);

#endif
