/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/meeting.h"

#include <dirent.h>
#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "lib/file.h"

#define PREFIX "meet."
#define OLD_S 86400 /* no calibration takes that long */

void nt_meeting_remove(const char *path)
{
	DIR *dir = path[0] ? opendir(path) : NULL;
	struct dirent *entry;

	while (dir && (entry = readdir(dir)) != NULL)
		unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
	if (path[0])
		rmdir(path);
}

static void remove_old(const char *directory)
{
	char pattern[NT_PATH_MAX];
	glob_t found = { 0 };
	struct stat status;

	snprintf(pattern, sizeof(pattern), "%s/" PREFIX "*", directory);
	if (glob(pattern, GLOB_NOSORT, NULL, &found) == 0)
		for (size_t i = 0; i < found.gl_pathc; i++)
			if (lstat(found.gl_pathv[i], &status) == 0 && S_ISDIR(status.st_mode) &&
			    status.st_mtime < time(NULL) - OLD_S)
				nt_meeting_remove(found.gl_pathv[i]);
	globfree(&found);
}

int nt_meeting_make(const char *directory, uint32_t job, char path[NT_PATH_MAX],
		    struct nt_error *err)
{
	int length;

	if (nt_directories_make(directory, err) < 0)
		return -1;
	remove_old(directory);
	length = snprintf(path, NT_PATH_MAX, "%s/" PREFIX "%" PRIu32 ".XXXXXX", directory, job);
	if (length < NT_PATH_MAX && mkdtemp(path))
		return 0;
	path[0] = '\0';
	return length < NT_PATH_MAX ? nt_error_set(err, "%.100s: %m", directory)
				    : nt_error_set(err, "the memory's path is too long");
}
