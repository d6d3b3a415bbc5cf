/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "spank/step/safe-open.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "contract/names.h"

/* <linux/openat2.h> is missing on older systems; the number and the structure are the same on all
 * machines. */
#ifndef SYS_openat2
#define SYS_openat2 437
#endif
#define NO_XDEV 0x01
#define NO_SYMLINKS 0x04
#define BENEATH 0x08

struct how {
	uint64_t flags, mode, resolve;
};

/* The mount that fd is on, as the kernel knows it: the file system is not asked. -1: unknown. */
static long mount_of(int fd)
{
	char path[48], line[128];
	long number = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	file = fopen(path, "re");
	if (!file)
		return -1;
	while (number < 0 && fgets(line, sizeof(line), file)) {
		if (strncmp(line, "mnt_id:", 7) == 0)
			number = strtol(line + 7, NULL, 10);
	}
	fclose(file);
	return number;
}

/* Replaces an O_PATH descriptor by one with these flags, of the same file. */
static int reopen(int fd, int flags)
{
	char path[48];
	int reopened;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	reopened = open(path, flags | O_CLOEXEC);
	close(fd);
	return reopened;
}

static bool is_component(const char *name)
{
	if (!strchr(name, '/') && strcmp(name, "..") != 0)
		return true;
	errno = EINVAL;
	return false;
}

int nt_safe_open_old(int dir_fd, const char *name, int flags)
{
	long inside;
	int fd;

	if (!is_component(name))
		return -1;
	fd = openat(dir_fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC | (flags & O_DIRECTORY));
	if (fd < 0)
		return -1;
	inside = mount_of(fd);
	if (inside < 0 || inside != mount_of(dir_fd)) {
		close(fd);
		errno = EXDEV;
		return -1;
	}
	return flags & O_PATH ? fd : reopen(fd, flags);
}

int nt_safe_open(int dir_fd, const char *name, int flags)
{
	const struct how how = {
		.flags = (uint64_t)(flags | O_CLOEXEC | O_NOFOLLOW),
		.resolve = NO_XDEV | NO_SYMLINKS | BENEATH,
	};
	long fd;

	if (!is_component(name))
		return -1;
	fd = syscall(SYS_openat2, dir_fd, name, &how, sizeof(how));
	if (fd >= 0 || (errno != ENOSYS && errno != EPERM))
		return (int)fd;
	return nt_safe_open_old(dir_fd, name, flags);
}

int nt_safe_open_path(const char *path, int flags)
{
	const char *slash = strrchr(path, '/');
	char parent[NT_PATH_MAX];
	int parent_fd, fd, saved;

	if (!slash || slash == path || (size_t)(slash - path) >= sizeof(parent)) {
		errno = EINVAL;
		return -1;
	}
	memcpy(parent, path, (size_t)(slash - path));
	parent[slash - path] = '\0';
	parent_fd = open(parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (parent_fd < 0)
		return -1;
	fd = nt_safe_open(parent_fd, slash + 1, flags);
	saved = errno;
	close(parent_fd);
	errno = saved;
	return fd;
}
