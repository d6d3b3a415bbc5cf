/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime directory of a step. */
#include "spank/step.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define ENTRIES_MAX 65536 /* what the end of a step may spend on a user's files */
#define OTHERS_MAX 4096 /* directories of other steps looked at when one begins */
#define STALE_MAX 2 /* ... of which so many are taken away */
#define STALE_S 60 /* a directory is locked long before it is this old */
#define COMPONENT_MAX 999 /* Slurm has at most 128 */
#define DIR_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

void nt_step_name(uint32_t step, uint32_t component, char out[NT_STEP_NAME_MAX])
{
	if (step == NT_STEP_BATCH)
		snprintf(out, NT_STEP_NAME_MAX, "batch");
	else if (component <= COMPONENT_MAX)
		snprintf(out, NT_STEP_NAME_MAX, "%" PRIu32 "+%" PRIu32, step, component);
	else
		snprintf(out, NT_STEP_NAME_MAX, "%" PRIu32, step);
}

uint32_t nt_step_component(const char *title, uint32_t job, uint32_t step)
{
	const char *digits;
	unsigned long component;
	char wanted[40];
	char *end;

	snprintf(wanted, sizeof(wanted), "[%" PRIu32 ".%" PRIu32 "+", job, step);
	digits = strstr(title, wanted);
	if (!digits || digits[strlen(wanted)] < '0' || digits[strlen(wanted)] > '9')
		return NT_STEP_WHOLE;
	component = strtoul(digits + strlen(wanted), &end, 10);
	return *end == ']' && component <= COMPONENT_MAX ? (uint32_t)component : NT_STEP_WHOLE;
}

/* A directory that others can write, or a link to one, could lead root anywhere. */
static int check_owner(int fd, const char *path, struct nt_error *err)
{
	struct stat status;

	if (fstat(fd, &status) < 0)
		return nt_error_set(err, "%.150s: %m", path);
	if (status.st_uid != geteuid())
		return nt_error_set(err, "%.150s belongs to user %u (want %u)", path, status.st_uid,
				    geteuid());
	if (status.st_mode & (S_IWGRP | S_IWOTH))
		return nt_error_set(err, "%.150s may be written by others (mode %04o)", path,
				    (unsigned)status.st_mode & 07777);
	return 0;
}

int nt_rundir_open(const char *rundir, struct nt_error *err)
{
	bool made = mkdir(rundir, 0755) == 0;
	int fd;

	if (!made && errno != EEXIST)
		return nt_error_set(err, "cannot make %.150s: %m", rundir);
	fd = open(rundir, DIR_FLAGS);
	if (fd < 0)
		return nt_error_set(err, "cannot open %.150s: %m", rundir);
	/* The daemon's umask does not count. */
	if (made && fchmod(fd, 0755) < 0)
		nt_error_set(err, "%.150s: %m", rundir);
	else if (check_owner(fd, rundir, err) == 0)
		return fd;
	close(fd);
	return -1;
}

void nt_step_dir_init(struct nt_step_dir *dir)
{
	memset(dir, 0, sizeof(*dir));
	dir->parent_fd = dir->fd = -1;
}

/* Take away what one name stands for: files and links, or an empty directory. */
static bool remove_entry(int fd, const char *name)
{
	if (unlinkat(fd, name, 0) == 0 || errno == ENOENT)
		return true;
	return unlinkat(fd, name, AT_REMOVEDIR) == 0 || errno == ENOENT;
}

/* fd stays open. The number of entries that had to stay. */
static size_t empty(int fd)
{
	int copy = openat(fd, ".", DIR_FLAGS);
	DIR *directory = copy >= 0 ? fdopendir(copy) : NULL;
	const struct dirent *entry;
	size_t seen = 0;
	size_t left = 0;

	if (!directory) {
		if (copy >= 0)
			close(copy);
		return 1;
	}
	while (seen < ENTRIES_MAX && (entry = readdir(directory)) != NULL) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		seen++;
		left += !remove_entry(fd, entry->d_name);
	}
	closedir(directory);
	return left;
}

static void close_both(struct nt_step_dir *dir)
{
	if (dir->fd >= 0)
		close(dir->fd);
	if (dir->parent_fd >= 0)
		close(dir->parent_fd);
	dir->fd = dir->parent_fd = -1;
}

static int remove_open(struct nt_step_dir *dir, struct nt_error *err)
{
	size_t left = 0;

	/* The user's last processes may still write: once more, then it is theirs. */
	for (int i = 0; i < 2; i++) {
		left = empty(dir->fd);
		if (unlinkat(dir->parent_fd, dir->name, AT_REMOVEDIR) == 0)
			return 0;
	}
	return nt_error_set(err, "cannot remove %.150s, %zu entries had to stay: %m", dir->path,
			    left);
}

/* Of a step with the same name that was not ended in order, or of a run of the job before it was
 * requeued. */
static int remove_old(struct nt_step_dir *dir, struct nt_error *err)
{
	int rc;

	dir->fd = openat(dir->parent_fd, dir->name, DIR_FLAGS);
	if (dir->fd < 0)
		return nt_error_set(err, "%.150s is in the way: %m", dir->path);
	rc = remove_open(dir, err);
	close(dir->fd);
	dir->fd = -1;
	return rc;
}

/* A slurmstepd that was killed has left its directory; the lock it held is gone. */
static bool remove_stale(struct nt_step_dir *old)
{
	struct nt_error err;
	struct stat status;
	bool stale;

	old->fd = openat(old->parent_fd, old->name, DIR_FLAGS);
	if (old->fd < 0)
		return false;
	stale = fstat(old->fd, &status) == 0 && time(NULL) - status.st_mtime >= STALE_S &&
		flock(old->fd, LOCK_EX | LOCK_NB) == 0;
	if (stale)
		(void)remove_open(old, &err);
	close(old->fd);
	return stale;
}

/* Few at a time: the step waits. */
static void tidy_up(const struct nt_step_dir *dir)
{
	int copy = openat(dir->parent_fd, ".", DIR_FLAGS);
	DIR *directory = copy >= 0 ? fdopendir(copy) : NULL;
	const struct dirent *entry;
	unsigned seen = 0, removed = 0;

	if (!directory) {
		if (copy >= 0)
			close(copy);
		return;
	}
	while (seen++ < OTHERS_MAX && removed < STALE_MAX && (entry = readdir(directory)) != NULL) {
		struct nt_step_dir old = { .parent_fd = dir->parent_fd };

		/* Node, job, step; the plain files beside them have no second dot. */
		if (entry->d_name[0] == '.' ||
		    strchr(entry->d_name, '.') == strrchr(entry->d_name, '.') ||
		    strcmp(entry->d_name, dir->name) == 0)
			continue;
		snprintf(old.path, sizeof(old.path), "%s", entry->d_name);
		old.name = old.path;
		removed += remove_stale(&old);
	}
	closedir(directory);
}

static int make_open(struct nt_step_dir *dir, struct nt_error *err)
{
	int rc = mkdirat(dir->parent_fd, dir->name, 0700);

	if (rc < 0 && errno == EEXIST) {
		if (remove_old(dir, err) < 0)
			return -1;
		rc = mkdirat(dir->parent_fd, dir->name, 0700);
	}
	if (rc < 0)
		return nt_error_set(err, "cannot make %.150s: %m", dir->path);
	dir->fd = openat(dir->parent_fd, dir->name, DIR_FLAGS);
	if (dir->fd < 0)
		return nt_error_set(err, "cannot open %.150s: %m", dir->path);
	/* For tidy_up() of other steps, as long as this process lives. */
	(void)flock(dir->fd, LOCK_EX | LOCK_NB);
	return 0;
}

/* The name becomes part of a path and of a comma-separated list. */
static bool is_plain(const char *text)
{
	for (const char *c = text; *c; c++) {
		if (*c <= 0x20 || *c >= 0x7f || *c == '/' || *c == ',')
			return false;
	}
	return text[0] && text[0] != '.';
}

int nt_step_make(struct nt_step_dir *dir, const char *rundir, const char *node, uint32_t job,
		 uint32_t step, struct nt_error *err)
{
	char name[NT_STEP_NAME_MAX];
	int n;

	nt_step_dir_init(dir);
	nt_step_name(step, NT_STEP_WHOLE, name);
	if (!is_plain(node))
		return nt_error_set(err, "no directory for a node named '%.60s'", node);
	n = snprintf(dir->path, sizeof(dir->path), "%s/%s.%" PRIu32 ".%s", rundir, node, job, name);
	if (n < 0 || (size_t)n >= sizeof(dir->path))
		return nt_error_set(err, "%.100s/%.60s...: too long a path", rundir, node);
	dir->name = strrchr(dir->path, '/') + 1;
	dir->parent_fd = nt_rundir_open(rundir, err);
	if (dir->parent_fd < 0)
		return -1;
	tidy_up(dir);
	if (make_open(dir, err) == 0)
		return 0;
	close_both(dir);
	return -1;
}

int nt_step_give(struct nt_step_dir *dir, uid_t uid, gid_t gid, struct nt_error *err)
{
	if (fchmod(dir->fd, 0700) == 0 && fchown(dir->fd, uid, gid) == 0)
		return 0;
	nt_error_set(err, "cannot give %.150s to user %u: %m", dir->path, uid);
	unlinkat(dir->parent_fd, dir->name, AT_REMOVEDIR);
	close_both(dir);
	return -1;
}

int nt_step_remove(struct nt_step_dir *dir, struct nt_error *err)
{
	int rc = 0;

	if (dir->fd >= 0)
		rc = remove_open(dir, err);
	close_both(dir);
	return rc;
}
