/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* file.h - whole files in and out: bounded when read, in place at once or not at all when written
 *
 * Threads:  any.
 * Memory:   what is read is the caller's to free().
 * Errors:   -1, *err and errno set.
 * Units:    bytes.
 */
#ifndef NT_LAUNCH_FILE_H
#define NT_LAUNCH_FILE_H

#include <stddef.h>
#include <sys/types.h>
#include "contract/error.h"

#define NT_LAUNCH_ROOT_ONLY 1u /* refuse a file that is not root's, or that others can write */
#define NT_LAUNCH_NO_LINK 2u /* refuse a symbolic link */

/* A regular file of at most largest bytes, relative to the directory dir (or AT_FDCWD), with a NUL
 * behind it that *bytes does not count. EFBIG if it is larger, EPERM if flags refuse it. */
int nt_launch_file_read(int dir, const char *name, unsigned flags, size_t largest, char **text,
			size_t *bytes, struct nt_error *err);

/* Writes to a name of its own, ".NAME.<random>.tmp", makes it safe on disk, and renames it to
 * name. A crash at any moment leaves the old file or the new one, and at worst a *.tmp. */
int nt_launch_file_replace(int dir, const char *name, const char *text, size_t bytes, mode_t mode,
			   struct nt_error *err);

#endif
