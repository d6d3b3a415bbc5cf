/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Default paths. */
#include "report/model/launch-paths.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "lib/file.h"
#include "launch/memory-dir.h"

#define SHIPPED NT_DATADIR "/profiles.conf"
#define SITE NT_SYSCONFDIR "/nccl-tune/profiles.conf"
#define SITE_MEMORY NT_SYSCONFDIR "/nccl-tune/memory.jsonl"

int nt_launch_paths_profiles(const struct nt_launch_paths *paths, struct nt_profiles *out,
			     struct nt_error *err)
{
	nt_profiles_init(out);
	if (paths->profiles)
		return nt_profiles_read(out, paths->profiles, 0, err);
	if (nt_profiles_read(out, SHIPPED, 0, err) < 0)
		return -1;
	if (access(SITE, F_OK) < 0 && errno == ENOENT)
		return 0;
	return nt_profiles_read(out, SITE, NT_FILE_ROOT_ONLY, err);
}

int nt_launch_paths_memory(const struct nt_launch_paths *paths, char out[NT_PATH_MAX],
			   struct nt_error *err)
{
	if (!paths->memory)
		return nt_memory_directory(out, err);
	if (!nt_memory_path_valid(paths->memory))
		return nt_error_set(err, "bad directory '%.80s' (want an absolute path)",
				    paths->memory);
	snprintf(out, NT_PATH_MAX, "%s", paths->memory);
	return 0;
}

int nt_launch_paths_read_site(const struct nt_launch_paths *paths, struct nt_memory *memory,
			      int64_t now_s, struct nt_error *err)
{
	const char *path = paths->site_memory ? paths->site_memory : SITE_MEMORY;

	if (!paths->site_memory && access(path, F_OK) < 0 && errno == ENOENT)
		return 0;
	if (nt_memory_read_file(memory, path, paths->site_memory ? 0 : NT_FILE_ROOT_ONLY, err) < 0)
		return -1;
	nt_memory_sort(memory, now_s);
	return 0;
}

const char *nt_path_beside(const char *program, char out[NT_PATH_MAX])
{
	char self[NT_PATH_MAX];
	ssize_t bytes = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	if (bytes <= 0)
		return program;
	self[bytes] = '\0';
	slash = strrchr(self, '/');
	if (!slash || snprintf(out, NT_PATH_MAX, "%.*s/%s", (int)(slash - self), self, program) >=
			      NT_PATH_MAX)
		return program;
	return out;
}
