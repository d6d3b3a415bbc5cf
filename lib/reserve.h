/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* reserve.h - allocate a part of a file, without the signal that a file too large brings
 *
 * Threads:  any.
 * Errors:   an error number, as posix_fallocate(); 0: done.
 */
#ifndef NT_RESERVE_H
#define NT_RESERVE_H

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/stat.h>

/* Beyond the process's limit Linux sends SIGXFSZ, unless the file is so large already. */
static inline int nt_reserve(int fd, size_t from, size_t until)
{
	struct rlimit limit;
	struct stat st;

	if (fstat(fd, &st) < 0 || getrlimit(RLIMIT_FSIZE, &limit) < 0)
		return errno;
	if (limit.rlim_cur != RLIM_INFINITY && until > limit.rlim_cur && (off_t)until > st.st_size)
		return EFBIG;
	return posix_fallocate(fd, (off_t)from, (off_t)(until - from));
}

#endif
