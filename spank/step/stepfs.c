/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "spank/step/stepfs.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "contract/names.h"

/* Missing in older headers; the same on all machines. */
#define NR_OPEN_TREE 428
#define NR_MOVE_MOUNT 429
#define TREE_CLONE 1
#define FROM_EMPTY_PATH 4

#define STACK_MAX 64 /* mounts on one directory */

int nt_stepfs_mount(const char *path, int64_t bytes, int64_t files, struct nt_error *err)
{
	char options[96];

	snprintf(options, sizeof(options), "mode=0711,size=%" PRId64 ",nr_inodes=%" PRId64, bytes,
		 files);
	if (mount(NT_OPTION, path, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, options) == 0)
		return 0;
	return nt_error_set(err, "cannot mount the step's file system on %.150s: %m", path);
}

int nt_stepfs_clone(const char *path)
{
	return (int)syscall(NR_OPEN_TREE, AT_FDCWD, path,
			    TREE_CLONE | O_CLOEXEC | AT_SYMLINK_NOFOLLOW);
}

int nt_stepfs_attach(int clone_fd, const char *path)
{
	return (int)syscall(NR_MOVE_MOUNT, clone_fd, "", AT_FDCWD, path, FROM_EMPTY_PATH);
}

void nt_stepfs_detach(const char *path)
{
	for (int i = 0; i < STACK_MAX; i++) {
		if (umount2(path, MNT_DETACH | UMOUNT_NOFOLLOW) < 0)
			return;
	}
}
