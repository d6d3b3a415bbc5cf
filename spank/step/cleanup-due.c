/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The part of cleanup.h that slurmstepd uses. */
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include "contract/names.h"
#include "spank/step/cleanup.h"

bool nt_cleanup_is_due(int rundir_fd)
{
	struct stat status;
	time_t age_s;

	/* Most file systems count the directories in it as links: 2 means none. */
	if (fstat(rundir_fd, &status) < 0 || status.st_nlink == 2)
		return false;
	if (fstatat(rundir_fd, NT_CLEANUP_FILE, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return true;
	age_s = time(NULL) - status.st_mtime;
	return age_s < 0 || age_s >= NT_CLEANUP_EVERY_S;
}
