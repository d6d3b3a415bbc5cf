/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* meet.c - a few bytes from one process to others, through files */
#include "bench/meet.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define POLL_MS 5

static int path_of(const struct nt_meet *m, const char *name, const char *suffix, char *out,
		   struct nt_error *err)
{
	int n = snprintf(out, PATH_MAX, "%s/nccl-tune-bench.%s.%s%s", m->dir, m->run, name, suffix);

	if (n < 0 || n >= PATH_MAX)
		return nt_error_set(err, "too long a path: %s", m->dir);
	return 0;
}

static int write_all(int fd, const char *data, size_t bytes)
{
	while (bytes > 0) {
		ssize_t n = write(fd, data, bytes);

		if (n < 0 && errno != EINTR)
			return -1;
		if (n > 0) {
			data += n;
			bytes -= (size_t)n;
		}
	}
	return 0;
}

int nt_meet_put(const struct nt_meet *meet, const char *name, const void *data, size_t bytes,
		struct nt_error *err)
{
	char path[PATH_MAX], temporary[PATH_MAX];
	int fd, rc;

	if (path_of(meet, name, "", path, err) < 0 ||
	    path_of(meet, name, ".tmp", temporary, err) < 0)
		return -1;
	fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return nt_error_set(err, "%s: %s", temporary, strerror(errno));
	rc = write_all(fd, data, bytes);
	if (rc == 0)
		rc = fsync(fd);
	if (close(fd) < 0)
		rc = -1;
	if (rc == 0)
		rc = rename(temporary, path);
	if (rc < 0)
		return nt_error_set(err, "%s: %s", path, strerror(errno));
	return 0;
}

static int read_all(const char *path, char *data, size_t bytes, struct nt_error *err)
{
	size_t got = 0;
	ssize_t n = 1;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return nt_error_set(err, "%s: %s", path, strerror(errno));
	while (got < bytes && n > 0) {
		n = read(fd, data + got, bytes - got);
		if (n < 0 && errno == EINTR)
			n = 1;
		else if (n > 0)
			got += (size_t)n;
	}
	close(fd);
	if (got < bytes)
		return nt_error_set(err, "%s: %zu bytes of %zu", path, got, bytes);
	return 0;
}

int nt_meet_get(const struct nt_meet *meet, const char *name, void *data, size_t bytes,
		int timeout_s, struct nt_error *err)
{
	const struct timespec poll = { .tv_nsec = POLL_MS * 1000000L };
	char path[PATH_MAX];

	if (path_of(meet, name, "", path, err) < 0)
		return -1;
	for (int polls = timeout_s * (1000 / POLL_MS); polls > 0; polls--) {
		if (access(path, R_OK) == 0)
			return read_all(path, data, bytes, err);
		nanosleep(&poll, NULL);
	}
	return nt_error_set(err, "%s: not there after %d s", path, timeout_s);
}

void nt_meet_remove(const struct nt_meet *meet, const char *name)
{
	char path[PATH_MAX];

	if (path_of(meet, name, "", path, NULL) == 0)
		unlink(path);
}
