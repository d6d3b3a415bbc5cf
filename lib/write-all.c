/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/write-all.h"

#include <errno.h>
#include <unistd.h>

int nt_write_all(int fd, const void *data, size_t bytes)
{
	const char *at = data;

	while (bytes > 0) {
		ssize_t done = write(fd, at, bytes);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return -1;
		at += done;
		bytes -= (size_t)done;
	}
	return 0;
}
