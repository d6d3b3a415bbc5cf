/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* dirstream.h - read a directory that is open already
 *
 * Threads:  any.
 * Memory:   the stream, the caller's: closedir().
 * Errors:   NULL and errno.
 */
#ifndef NT_DIRSTREAM_H
#define NT_DIRSTREAM_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* From its beginning; fd stays the caller's, and its position as it is. */
static inline DIR *nt_dirstream_open(int fd)
{
	int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *directory = copy >= 0 ? fdopendir(copy) : NULL;
	int saved = errno;

	if (!directory && copy >= 0)
		close(copy);
	errno = saved;
	return directory;
}

#endif
