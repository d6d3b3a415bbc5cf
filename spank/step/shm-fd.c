/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "spank/step/shm-fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/fsuid.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "contract/names.h"
#include "contract/tray-layout.h"

#ifndef MFD_NOEXEC_SEAL /* Linux 6.3, where sysctl vm.memfd_noexec may require it */
#define MFD_NOEXEC_SEAL 0x0008U
#endif
#define HIGH_FD 100 /* above those that scripts use by number */

int nt_shm_fd_make(uid_t uid, gid_t gid, const char *node, uint32_t job, uint32_t step,
		   struct nt_error *err)
{
	const unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
	char name[160];
	int fd;

	snprintf(name, sizeof(name), NT_SHM_SEALED, NT_SHM_LAYOUT, node, job, step);
	fd = memfd_create(name, flags | MFD_NOEXEC_SEAL);
	if (fd < 0 && errno == EINVAL)
		fd = memfd_create(name, flags);
	if (fd < 0)
		return nt_error_set(err, "memfd_create: %m");
	if (ftruncate(fd, (off_t)NT_SHM_BYTES) == 0 &&
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0 &&
	    fchmod(fd, 0600) == 0 && fchown(fd, uid, gid) == 0)
		return fd;
	nt_error_set(err, "cannot seal shared memory: %m");
	close(fd);
	return -1;
}

uint64_t nt_shm_fd_changes(int fd)
{
	const off_t at = (off_t)(NT_TRAYS_AT + offsetof(struct nt_trays, changes));
	uint64_t changes;

	return pread(fd, &changes, sizeof(changes), at) == sizeof(changes) ? changes : 0;
}

void nt_shm_fd_clear(uid_t uid, const char *node, uint32_t job, uint32_t step)
{
	const uid_t own = geteuid();
	char path[160];

	snprintf(path, sizeof(path), NT_SHM_BESIDE, node, job, step);
	(void)setfsuid(uid);
	(void)unlink(path);
	(void)setfsuid(own);
}

int nt_shm_fd_leave(int fd, char path[NT_SHM_FD_PATH])
{
	int left = fcntl(fd, F_DUPFD, HIGH_FD);

	if (left < 0) /* the limit of descriptors is lower */
		left = fcntl(fd, F_DUPFD, 3);
	if (left < 0)
		return -1;
	snprintf(path, NT_SHM_FD_PATH, "/proc/%ld/fd/%d", (long)getpid(), left);
	return 0;
}

int nt_shm_fd_scratch(char path[NT_SHM_FD_PATH])
{
	const int fd = memfd_create("nccl-tune-dump", MFD_CLOEXEC);
	int rc;

	if (fd < 0)
		return -1;
	rc = nt_shm_fd_leave(fd, path);
	close(fd);
	return rc;
}
