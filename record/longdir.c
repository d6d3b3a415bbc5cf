/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "record/longdir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "lib/array.h"
#include "lib/compare.h"
#include "lib/dirstream.h"
#include "lib/file.h"

#define LEAST_BYTES 4096 /* block and inode of a small file */
#define DIR_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
#define PARTS_MAX 16384 /* of a job, that are listed */
#define STALE_S 3600 /* after that, nobody still writes it */

/* ---- to write there */

static bool is_own(int fd)
{
	struct stat status;

	return fstat(fd, &status) == 0 && status.st_uid == geteuid();
}

/* A user may name a link, or a shared directory. */
static int open_users(const char *path, bool parents)
{
	return open(path, parents ? DIR_FLAGS & ~O_NOFOLLOW : DIR_FLAGS);
}

int nt_long_open(const char *path, bool parents, struct nt_error *err)
{
	int fd = open_users(path, parents);

	if (fd < 0 && errno == ENOENT) {
		if (parents && nt_directories_make(path, err) < 0)
			return -1;
		if (!parents && mkdir(path, 0700) < 0 && errno != EEXIST)
			return nt_error_set(err, "%.150s cannot be made: %m", path);
		fd = open_users(path, parents);
	}
	if (fd < 0)
		return nt_error_set(err, "%.150s: %s", path,
				    errno == ENOTDIR || errno == ELOOP ? "it is no directory"
								       : strerror(errno));
	if (parents || is_own(fd))
		return fd;
	close(fd);
	return nt_error_set(err, "%.150s belongs to another user", path);
}

int nt_long_open_job(int fd, const char *name, bool *made, struct nt_error *err)
{
	int job_fd;

	*made = mkdirat(fd, name, 0700) == 0;
	if (!*made && errno != EEXIST)
		return nt_error_set(err, "%.100s cannot be made: %m", name);
	job_fd = openat(fd, name, DIR_FLAGS);
	if (job_fd >= 0 && is_own(job_fd))
		return job_fd;
	if (job_fd < 0)
		return nt_error_set(err, "%.100s cannot be used as a directory: %m", name);
	close(job_fd);
	return nt_error_set(err, "%.100s belongs to another user", name);
}

/* ---- what goes */

struct entry {
	char name[NT_LONG_NAME_MAX];
	int64_t time_ns, bytes;
};

struct entries {
	struct entry *items;
	size_t count;
	int64_t bytes;
};

/* Size and age of what is to be listed; false: it is not. */
typedef bool measure_entry(int fd, const char *name, struct entry *out);

static void list(struct entries *out, int fd, measure_entry *measure, size_t most)
{
	DIR *directory = nt_dirstream_open(fd);
	const struct dirent *file;
	struct entry entry, *added;

	*out = (struct entries){ .count = 0 };
	while (directory && (file = readdir(directory)) != NULL && out->count < most) {
		if (!measure(fd, file->d_name, &entry))
			continue;
		added = nt_array_add(&out->items, &out->count, SIZE_MAX, sizeof(*added));
		if (!added)
			break;
		*added = entry;
		snprintf(added->name, sizeof(added->name), "%.*s", NT_LONG_NAME_MAX - 1,
			 file->d_name);
		out->bytes += entry.bytes;
	}
	if (directory)
		closedir(directory);
}

static int64_t time_of(const struct stat *status)
{
	return (int64_t)status->st_mtim.tv_sec * 1000000000 + status->st_mtim.tv_nsec;
}

static bool is_unfinished(const char *name)
{
	size_t bytes = strlen(name);

	return name[0] == '.' && bytes > 4 && strcmp(name + bytes - 4, ".tmp") == 0;
}

/* Also removes leftovers of killed writers. */
static bool measure_part(int job_fd, const char *name, struct entry *out)
{
	struct stat status;

	if (!(is_unfinished(name) || nt_long_part_is(name)) ||
	    fstatat(job_fd, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return false;
	if (is_unfinished(name)) {
		if (time(NULL) - status.st_mtime > STALE_S)
			(void)unlinkat(job_fd, name, 0);
		return false;
	}
	out->bytes = status.st_size > LEAST_BYTES ? status.st_size : LEAST_BYTES;
	out->time_ns = time_of(&status);
	return true;
}

/* CLUSTER.JOBID */
static bool is_job(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && dot > name && dot[1] && strspn(dot + 1, "0123456789") == strlen(dot + 1) &&
	       strlen(name) < NT_LONG_NAME_MAX;
}

static bool measure_job(int fd, const char *name, struct entry *out)
{
	int job_fd = is_job(name) ? openat(fd, name, DIR_FLAGS) : -1;
	struct entries found;
	struct stat status;
	bool own;

	if (job_fd < 0)
		return false;
	own = is_own(job_fd) && fstat(job_fd, &status) == 0;
	if (own) {
		list(&found, job_fd, measure_part, PARTS_MAX);
		out->bytes = found.bytes;
		out->time_ns = time_of(&status);
		free(found.items);
	}
	close(job_fd);
	return own;
}

static int newest_first(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;

	NT_COMPARE(b->time_ns, a->time_ns);
	return 0;
}

struct kind {
	measure_entry *measure;
	int64_t (*take_away)(int fd, const char *name);
	size_t most; /* that are listed */
};

/* Removes the oldest until the rest has at most max_bytes; not keep. */
static int64_t trim(int fd, const struct kind *kind, const char *keep, int64_t max_bytes)
{
	struct entries found;
	int64_t bytes = 0, gone = 0;

	list(&found, fd, kind->measure, kind->most);
	if (found.count == kind->most && found.bytes / 4 * 3 < max_bytes)
		max_bytes = found.bytes / 4 * 3;
	for (size_t i = 0; i < found.count; i++) {
		if (strcmp(found.items[i].name, keep) == 0)
			found.items[i].time_ns = INT64_MAX;
	}
	if (found.count > 0)
		qsort(found.items, found.count, sizeof(found.items[0]), newest_first);
	for (size_t i = 0; i < found.count; i++) {
		bytes += found.items[i].bytes;
		if (bytes > max_bytes && strcmp(found.items[i].name, keep) != 0)
			gone += kind->take_away(fd, found.items[i].name);
	}
	free(found.items);
	return gone;
}

static int64_t remove_part(int job_fd, const char *name)
{
	return unlinkat(job_fd, name, 0) == 0;
}

static const struct kind parts = { measure_part, remove_part, PARTS_MAX };

static int64_t remove_job(int fd, const char *name)
{
	int job_fd = openat(fd, name, DIR_FLAGS);
	int64_t gone;

	if (job_fd < 0)
		return 0;
	gone = trim(job_fd, &parts, "", 0);
	close(job_fd);
	(void)unlinkat(fd, name, AT_REMOVEDIR);
	return gone;
}

static const struct kind jobs = { measure_job, remove_job, NT_LONG_JOBS_MAX };

int64_t nt_long_trim(int fd, const char *name, const char *keep, int64_t max_bytes)
{
	int64_t gone = trim(fd, &jobs, name, max_bytes);
	int job_fd = openat(fd, name, DIR_FLAGS);

	if (job_fd < 0)
		return gone;
	gone += trim(job_fd, &parts, keep, max_bytes);
	close(job_fd);
	return gone;
}
