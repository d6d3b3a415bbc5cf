/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Out of the step's control groups. */
#include "spank/cgroup.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ROOT "/sys/fs/cgroup"

/* "4:memory:/slurm/uid_1/job_2/step_0" or
 * "0::/system.slice/slurmstepd.scope/job_2/step_0/slurm". */
int nt_cgroup_outside(const char *root, const char *line, char *out, size_t out_bytes)
{
	const char *controllers = strchr(line, ':');
	const char *path = controllers ? strchr(controllers + 1, ':') : NULL;
	const char *end;
	int version, controllers_bytes, n;

	if (!path)
		return -1;
	controllers++;
	controllers_bytes = (int)(path - controllers);
	path++;
	version = controllers_bytes == 0 ? 2 : 1;
	end = strstr(path, version == 2 ? "/job_" : "/uid_");
	if (!end || !strstr(end, "/step_"))
		return -1;
	if (version == 2)
		n = snprintf(out, out_bytes, "%s%.*s/system", root, (int)(end - path), path);
	else
		n = snprintf(out, out_bytes, "%s/%.*s%.*s", root, controllers_bytes, controllers,
			     (int)(end - path), path);
	return n > 0 && (size_t)n < out_bytes ? 0 : -1;
}

static int join(const char *directory)
{
	char path[1100];
	int fd;
	ssize_t n;

	snprintf(path, sizeof(path), "%s/cgroup.procs", directory);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	n = write(fd, "0", 1);
	close(fd);
	return n == 1 ? 0 : -1;
}

void nt_cgroup_leave(void)
{
	FILE *groups = fopen("/proc/self/cgroup", "re");
	char line[1024];
	char directory[1024];

	if (!groups)
		return;
	while (fgets(line, sizeof(line), groups)) {
		/* The root is where slurmstepd itself goes at its end; it takes processes in
		 * both versions. */
		if (nt_cgroup_outside(ROOT, line, directory, sizeof(directory)) == 0 &&
		    join(directory) < 0)
			(void)join(ROOT);
	}
	fclose(groups);
}
