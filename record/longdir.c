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
#include "lib/clock.h"
#include "lib/dirstream.h"
#include "lib/file.h"
#include "record/retention.h"

#define LEAST_BYTES 4096 /* block and inode of a small file */
#define DIR_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
#define PARTS_MAX 16384 /* of a job, at most */
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

/* ---- what there is of it */

struct stock {
	struct nt_kept_file *items; /* NULL: only their bytes are added up */
	char (*names)[NT_LONG_NAME_MAX];
	size_t count, max;
	int64_t bytes;
	bool whole; /* nothing was left out */
	int64_t deadline_ms;
};

static int stock_init(struct stock *stock, size_t max, int64_t deadline_ms)
{
	*stock = (struct stock){ .max = max, .whole = true, .deadline_ms = deadline_ms };
	stock->items = calloc(max, sizeof(stock->items[0]));
	stock->names = calloc(max, sizeof(stock->names[0]));
	return stock->items && stock->names ? 0 : -1;
}

static void stock_fini(struct stock *stock)
{
	free(stock->items);
	free(stock->names);
}

static void take_stock(struct stock *stock, const char *name, const struct stat *status,
		       int64_t bytes)
{
	char *copy;

	stock->bytes += bytes;
	if (!stock->items) {
		stock->count++;
		return;
	}
	copy = stock->names[stock->count];
	snprintf(copy, NT_LONG_NAME_MAX, "%s", name);
	stock->items[stock->count++] = (struct nt_kept_file){
		.name = copy,
		.uid = status->st_uid,
		.time_s = status->st_mtime,
		.bytes = bytes,
	};
}

static bool goes_on(struct stock *stock)
{
	if (stock->count < stock->max && nt_clock_ms() < stock->deadline_ms)
		return true;
	stock->whole = false;
	return false;
}

static bool is_unfinished(const char *name)
{
	size_t bytes = strlen(name);

	return name[0] == '.' && bytes > 4 && strcmp(name + bytes - 4, ".tmp") == 0;
}

/* Also removes leftovers of killed writers. */
static void list_parts(struct stock *stock, int job_fd)
{
	DIR *directory = nt_dirstream_open(job_fd);
	const struct dirent *entry;
	struct stat status;

	while (directory && (entry = readdir(directory)) != NULL && goes_on(stock)) {
		bool unfinished = is_unfinished(entry->d_name);

		if (!(unfinished || nt_long_part_is(entry->d_name)) ||
		    fstatat(job_fd, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (!unfinished)
			take_stock(stock, entry->d_name, &status,
				   status.st_size > LEAST_BYTES ? status.st_size : LEAST_BYTES);
		else if (time(NULL) - status.st_mtime > STALE_S)
			(void)unlinkat(job_fd, entry->d_name, 0);
	}
	if (directory)
		closedir(directory);
}

/* CLUSTER.JOBID */
static bool is_job(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && dot > name && dot[1] && strspn(dot + 1, "0123456789") == strlen(dot + 1) &&
	       strlen(name) < NT_LONG_NAME_MAX;
}

static int64_t bytes_of(int job_fd, int64_t deadline_ms)
{
	struct stock parts = { .max = PARTS_MAX, .deadline_ms = deadline_ms };

	list_parts(&parts, job_fd);
	return parts.bytes;
}

static void list_jobs(struct stock *jobs, int fd)
{
	DIR *directory = nt_dirstream_open(fd);
	const struct dirent *entry;
	struct stat status;

	while (directory && (entry = readdir(directory)) != NULL && goes_on(jobs)) {
		int job_fd = is_job(entry->d_name) ? openat(fd, entry->d_name, DIR_FLAGS) : -1;

		if (job_fd < 0)
			continue;
		if (is_own(job_fd) && fstat(job_fd, &status) == 0)
			take_stock(jobs, entry->d_name, &status,
				   bytes_of(job_fd, jobs->deadline_ms));
		close(job_fd);
	}
	if (directory)
		closedir(directory);
}

/* ---- what goes */

static int64_t choose(struct stock *stock, int64_t max_bytes)
{
	const struct nt_retention keep = {
		.files = SIZE_MAX,
		.user_files = SIZE_MAX,
		.bytes = max_bytes > 0 ? max_bytes : 1,
		.age_s = INT64_MAX / 2,
	};

	return nt_retention_choose(stock->items, stock->count, &keep, (int64_t)time(NULL));
}

/* keep NULL: removes all parts. */
static int64_t remove_parts(int job_fd, const char *keep, int64_t max_bytes, int64_t deadline_ms)
{
	struct stock parts;
	int64_t gone = 0;

	if (stock_init(&parts, PARTS_MAX, deadline_ms) == 0) {
		list_parts(&parts, job_fd);
		if (keep)
			(void)choose(&parts, max_bytes);
		for (size_t i = 0; i < parts.count; i++) {
			const struct nt_kept_file *part = &parts.items[i];

			if (!keep || (part->drop && strcmp(part->name, keep) != 0))
				gone += unlinkat(job_fd, part->name, 0) == 0;
		}
	}
	stock_fini(&parts);
	return gone;
}

static int64_t trim_job(int fd, const char *name, const char *keep, int64_t max_bytes,
			int64_t deadline_ms)
{
	int job_fd = openat(fd, name, DIR_FLAGS);
	int64_t gone;

	if (job_fd < 0)
		return 0;
	gone = remove_parts(job_fd, keep, max_bytes, deadline_ms);
	close(job_fd);
	if (!keep)
		(void)unlinkat(fd, name, AT_REMOVEDIR);
	return gone;
}

/* This job counts as the newest. */
static void favour(struct stock *jobs, const char *name)
{
	for (size_t i = 0; i < jobs->count; i++) {
		if (strcmp(jobs->items[i].name, name) == 0)
			jobs->items[i].time_s = INT64_MAX / 4;
	}
}

int64_t nt_long_trim(int fd, const char *name, const char *keep, int64_t max_bytes, int limit_ms)
{
	const int64_t until_ms = nt_clock_ms() + limit_ms;
	struct stock jobs;
	int64_t gone = 0;

	if (stock_init(&jobs, NT_LONG_JOBS_MAX, until_ms - limit_ms / 2) < 0) {
		stock_fini(&jobs);
		return 0;
	}
	list_jobs(&jobs, fd);
	favour(&jobs, name);
	if (!jobs.whole && jobs.count >= NT_LONG_JOBS_MAX / 4 && jobs.bytes / 4 * 3 < max_bytes)
		max_bytes = jobs.bytes / 4 * 3;
	(void)choose(&jobs, max_bytes);
	for (size_t i = 0; i < jobs.count && nt_clock_ms() < until_ms; i++) {
		const struct nt_kept_file *job = &jobs.items[i];
		bool ours = strcmp(job->name, name) == 0;

		if (job->drop)
			gone += trim_job(fd, job->name, ours ? keep : NULL, max_bytes, until_ms);
	}
	stock_fini(&jobs);
	return gone;
}
