/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "pmix-sync/shm-file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include "contract/names.h"
#include "contract/tray-layout.h"

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

/* Descriptor numbers are reused: does it have slurmstepd's name? */
static bool is_named(int fd, const struct nt_node_step *node_step)
{
	char want[192], path[48], have[192];
	ssize_t n;

	snprintf(want, sizeof(want), "/memfd:" NT_SHM_SEALED " ", NT_SHM_LAYOUT, node_step->node,
		 node_step->job, node_step->step);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	n = readlink(path, have, sizeof(have) - 1);
	if (n < 0)
		return false;
	have[n] = '\0';
	return strncmp(have, want, strlen(want)) == 0;
}

static bool is_sealed(int fd)
{
	const int seals = fcntl(fd, F_GET_SEALS);
	struct stat st;

	return seals >= 0 && (seals & SEALS) == SEALS && fstat(fd, &st) == 0 &&
	       st.st_size == (off_t)NT_SHM_BYTES;
}

static int open_sealed(const char *path, const struct nt_node_step *node_step,
		       struct nt_reason *why)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return nt_reason_setf(why, NT_REASON_SHM_OPEN, "%.100s:%s", path, strerror(errno));
	if (is_sealed(fd) && is_named(fd, node_step))
		return fd;
	close(fd);
	return nt_reason_setf(why, NT_REASON_SHM_FILE, "%s", path);
}

/* Beyond the process's limit it would get SIGXFSZ. */
static bool may_be_so_large(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
	       (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= NT_SHM_BYTES);
}

static int open_plain(const char *path, struct nt_reason *why)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	struct stat st;

	if (fd < 0)
		return nt_reason_setf(why, NT_REASON_SHM_OPEN, "%.100s:%s", path, strerror(errno));
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
	    (st.st_size == (off_t)NT_SHM_BYTES ||
	     (st.st_size == 0 && may_be_so_large() && ftruncate(fd, (off_t)NT_SHM_BYTES) == 0)))
		return fd;
	close(fd);
	return nt_reason_setf(why, NT_REASON_SHM_FILE, "%s", NT_SHM_FILE);
}

int nt_shm_file_open(const struct nt_node_step *node_step, struct nt_reason *why)
{
	struct nt_reason second;
	char inherited[64], beside[NT_PATH_MAX];
	int fd;

	if (strncmp(node_step->shm, "/proc/", 6) != 0)
		return open_plain(node_step->shm, why);
	fd = open_sealed(node_step->shm, node_step, why);
	if (fd >= 0)
		return fd;
	/* In another user namespace than its task's, a process may not read that file. */
	snprintf(inherited, sizeof(inherited), "/proc/self/fd/%.20s",
		 strrchr(node_step->shm, '/') + 1);
	fd = open_sealed(inherited, node_step, &second);
	if (fd >= 0)
		return fd;
	snprintf(beside, sizeof(beside), NT_SHM_BESIDE, node_step->node, node_step->job,
		 node_step->step);
	return open_plain(beside, &second);
}
