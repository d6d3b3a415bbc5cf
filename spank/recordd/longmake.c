/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "spank/recordd/longmake.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "contract/names.h"

#define DIR_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)

static bool is_ours_alone(int fd)
{
	struct stat status;

	return fstat(fd, &status) == 0 && status.st_uid == geteuid() &&
	       !(status.st_mode & (S_IWGRP | S_IWOTH));
}

/* A directory of root's was made by a process that was killed before it gave it away. */
static int give(int fd, const char *name, uint32_t uid, uint32_t gid)
{
	int user_fd = openat(fd, name, DIR_FLAGS);
	struct stat status;
	int rc;

	if (user_fd < 0)
		return -1;
	rc = fstat(user_fd, &status);
	if (rc == 0 && status.st_uid == geteuid())
		rc = fchown(user_fd, uid, gid);
	close(user_fd);
	return rc;
}

static int make(int fd, const char *name, uint32_t uid, uint32_t gid)
{
	bool made = mkdirat(fd, name, 0700) == 0;
	int problem;

	if (!made && errno != EEXIST)
		return -1;
	if (give(fd, name, uid, gid) == 0)
		return 0;
	problem = errno;
	if (made)
		(void)unlinkat(fd, name, AT_REMOVEDIR);
	errno = problem;
	return -1;
}

int nt_longmake(const char *path, uint32_t uid, uint32_t gid, struct nt_error *err)
{
	const char *slash = strrchr(path, '/');
	char parent[NT_PATH_MAX];
	int rc = 0;
	int fd;

	if (!slash || slash == path || (size_t)(slash - path) >= sizeof(parent))
		return nt_error_set(err, "%.150s is not a directory below record_dir", path);
	memcpy(parent, path, (size_t)(slash - path));
	parent[slash - path] = '\0';
	fd = open(parent, DIR_FLAGS);
	if (fd < 0)
		return nt_error_set(err, "%.150s: %m", parent);
	if (is_ours_alone(fd) && make(fd, slash + 1, uid, gid) < 0)
		rc = nt_error_set(err, "%.150s cannot be made: %m", path);
	close(fd);
	return rc;
}
