/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Whole files, bounded. */
#include "record/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int nt_file_read_fd(int fd, const char *name, size_t max_bytes, char **text, size_t *text_bytes,
		    struct nt_error *err)
{
	size_t room = 0;
	size_t bytes = 0;
	char *data = NULL;
	ssize_t got;

	do {
		if (bytes + 1 >= room) {
			char *grown;

			room = room ? 2 * room : 8192;
			grown = realloc(data, room);
			if (!grown) {
				free(data);
				return nt_error_set(err, "%.100s: no memory", name);
			}
			data = grown;
		}
		got = read(fd, data + bytes, room - bytes - 1);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 || bytes + (size_t)got > max_bytes) {
			if (got < 0)
				nt_error_set(err, "%.100s: %m", name);
			else
				nt_error_set(err, "%.100s: larger than %zu bytes", name, max_bytes);
			free(data);
			errno = got < 0 ? errno : EFBIG;
			return -1;
		}
		bytes += (size_t)got;
	} while (got != 0);
	data[bytes] = '\0';
	*text = data;
	*text_bytes = bytes;
	return 0;
}

int nt_file_read(const char *path, size_t max_bytes, char **text, size_t *text_bytes,
		 struct nt_error *err)
{
	int fd;
	int rc;

	if (strcmp(path, "-") == 0)
		return nt_file_read_fd(STDIN_FILENO, "standard input", max_bytes, text, text_bytes,
				       err);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return nt_error_set(err, "%.100s: %m", path);
	rc = nt_file_read_fd(fd, path, max_bytes, text, text_bytes, err);
	close(fd);
	return rc;
}
