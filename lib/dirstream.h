/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* dirstream.h - read a directory that is already open
 *
 * Threads:  any.
 * Memory:   the caller closes the stream with closedir().
 * Errors:   NULL and errno.
 */
#ifndef NT_DIRSTREAM_H
#define NT_DIRSTREAM_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* Takes fd, or closes it; fd -1: NULL, and errno is kept. */
static inline DIR *nt_dirstream_take(int fd)
{
	DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
	int saved = errno;

	if (!directory && fd >= 0)
		close(fd);
	errno = saved;
	return directory;
}

/* From its beginning; fd stays the caller's, its position unchanged. */
static inline DIR *nt_dirstream_open(int fd)
{
	return nt_dirstream_take(openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

#endif
