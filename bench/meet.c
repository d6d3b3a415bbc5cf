/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/meet.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "lib/file.h"

#define POLL_MS 5

static int path_of(const struct nt_meet *m, const char *name, char *out, struct nt_error *err)
{
	int n = snprintf(out, PATH_MAX, "%s/nccl-tune-bench.%s.%s", m->dir, m->run, name);

	if (n < 0 || n >= PATH_MAX)
		return nt_error_set(err, "path too long: %s", m->dir);
	return 0;
}

int nt_meet_put(const struct nt_meet *meet, const char *name, const void *data, size_t bytes,
		struct nt_error *err)
{
	char path[PATH_MAX];

	if (path_of(meet, name, path, err) < 0)
		return -1;
	return nt_file_replace(AT_FDCWD, path, data, bytes, 0600, err);
}

static int read_all(const char *path, void *data, size_t bytes, struct nt_error *err)
{
	size_t got;
	char *text;

	if (nt_file_read_at(AT_FDCWD, path, 0, bytes, &text, &got, err) < 0)
		return -1;
	if (got == bytes)
		memcpy(data, text, bytes);
	free(text);
	return got == bytes ? 0 : nt_error_set(err, "%s: %zu bytes of %zu", path, got, bytes);
}

int nt_meet_get(const struct nt_meet *meet, const char *name, void *data, size_t bytes,
		int timeout_s, struct nt_error *err)
{
	const struct timespec poll = { .tv_nsec = POLL_MS * 1000000L };
	char path[PATH_MAX];

	if (path_of(meet, name, path, err) < 0)
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

	if (path_of(meet, name, path, NULL) == 0)
		unlink(path);
}

static int get_part(const struct nt_meet *m, const char *name, char *part, size_t bytes,
		    int timeout_s, struct nt_error *err)
{
	const int rc = nt_meet_get(m, name, part, bytes, timeout_s, err);

	nt_meet_remove(m, name);
	return rc;
}

int nt_meet_gather(const struct nt_meet *meet, const char *name, char **parts, size_t bytes,
		   int timeout_s, struct nt_error *err)
{
	char of_rank[64], *all;

	snprintf(of_rank, sizeof(of_rank), "%s.%d", name, meet->rank);
	if (meet->rank != 0)
		return nt_meet_put(meet, of_rank, *parts, bytes, err);
	all = realloc(*parts, (size_t)meet->ranks * bytes);
	if (!all)
		return nt_error_set(err, "no memory for %d times %zu bytes", meet->ranks, bytes);
	*parts = all;
	for (int r = 1; r < meet->ranks; r++) {
		snprintf(of_rank, sizeof(of_rank), "%s.%d", name, r);
		if (get_part(meet, of_rank, all + (size_t)r * bytes, bytes, timeout_s, err) < 0)
			return -1;
	}
	return 0;
}
