/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "pmix-sync/shm-file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "contract/shm-layout.h"
#include "contract/names.h"

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

static void name_file(char path[NT_PATH_MAX + 32], const char *dir)
{
	snprintf(path, NT_PATH_MAX + 32, "%.*s/%s.%u", NT_PATH_MAX, dir, NT_SHM_FILE,
		 NT_SHM_LAYOUT);
}

int nt_shm_file_open(const char *dir, struct nt_reason *why)
{
	char path[NT_PATH_MAX + 32];
	int fd;

	name_file(path, dir);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return nt_reason_setf(why, NT_REASON_SHM_OPEN, "%.100s:%s", path, strerror(errno));
	return fd;
}

/* Descriptor numbers are reused: does it have slurmstepd's name? */
static int check_name(int fd, const char *node, uint32_t job, uint32_t step)
{
	char want[192], path[48], have[192];
	ssize_t n;

	snprintf(want, sizeof(want), "/memfd:" NT_SHM_SEALED " ", NT_SHM_LAYOUT, node, job, step);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	n = readlink(path, have, sizeof(have) - 1);
	if (n < 0)
		return -1;
	have[n] = '\0';
	return strncmp(have, want, strlen(want)) == 0 ? 0 : -1;
}

static int open_one(const char *path, const char *node, uint32_t job, uint32_t step,
		    struct nt_reason *why)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	int seals;

	if (fd < 0)
		return nt_reason_setf(why, NT_REASON_SHM_OPEN, "%.100s:%s", path, strerror(errno));
	seals = fcntl(fd, F_GET_SEALS);
	if (seals >= 0 && (seals & SEALS) == SEALS && fstat(fd, &st) == 0 &&
	    st.st_size == (off_t)sizeof(struct nt_shm) && check_name(fd, node, job, step) == 0)
		return fd;
	close(fd);
	return nt_reason_setf(why, NT_REASON_SHM_FILE, "%s", path);
}

int nt_shm_file_open_sealed(const char *path, const char *node, uint32_t job, uint32_t step,
			    struct nt_reason *why)
{
	struct nt_reason second;
	char inherited[64];
	int fd;

	if (strncmp(path, "/proc/", 6) != 0)
		return nt_reason_setf(why, NT_REASON_SHM_FILE, "%s", path);
	fd = open_one(path, node, job, step, why);
	if (fd >= 0)
		return fd;
	/* In another user namespace than its task's, a process may not read that file. */
	snprintf(inherited, sizeof(inherited), "/proc/self/fd/%.20s", strrchr(path, '/') + 1);
	return open_one(inherited, node, job, step, &second);
}

void nt_shm_file_mark(const char *dir)
{
	char path[NT_PATH_MAX + 32];
	int fd;

	name_file(path, dir);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd >= 0)
		close(fd);
}
