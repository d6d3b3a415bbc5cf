/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "spank/rundir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include "contract/names.h"

/* A directory that others can write to, or a link to one, could lead root anywhere. */
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

static int open_own(const char *path, mode_t mode, struct nt_error *err)
{
	bool made = mkdir(path, mode) == 0;
	int fd;

	if (!made && errno != EEXIST)
		return nt_error_set(err, "cannot make %.150s: %m", path);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return nt_error_set(err, "cannot open %.150s: %m", path);
	/* Whatever the daemon's umask is. */
	if (made && fchmod(fd, mode) < 0)
		nt_error_set(err, "%.150s: %m", path);
	else if (check_owner(fd, path, err) == 0)
		return fd;
	close(fd);
	return -1;
}

int nt_rundir_open(const char *rundir, struct nt_error *err)
{
	return open_own(rundir, 0755, err);
}

int nt_rundir_open_own(const char *rundir, const char *name)
{
	char path[2 * NT_PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", rundir, name);
	return open_own(path, 0700, NULL);
}
