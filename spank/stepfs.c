/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* stepfs.c - see stepfs.h */
#include "spank/stepfs.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/mount.h>
#include "contract/names.h"

#define STACK_MAX 64 /* mounts on one directory, one over the other */

int nt_stepfs_mount(const char *path, int64_t bytes, int64_t files, struct nt_error *err)
{
	char options[96];

	snprintf(options, sizeof(options), "mode=0711,size=%" PRId64 ",nr_inodes=%" PRId64, bytes,
		 files);
	if (mount(NT_OPTION, path, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, options) == 0)
		return 0;
	return nt_error_set(err, "cannot mount a file system of the step's own on %.150s: %m",
			    path);
}

void nt_stepfs_detach(const char *path)
{
	for (int i = 0; i < STACK_MAX; i++) {
		if (umount2(path, MNT_DETACH | UMOUNT_NOFOLLOW) < 0)
			return;
	}
}
