/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "spank/step/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "lib/list.h"

#define LINE_BYTES 4096
#define PROCS "/cgroup.procs"

/* ---- the kernel's lines */

/* The component "/<word>N" of a path; NULL: there is none. */
static const char *component(const char *path, const char *word)
{
	size_t word_bytes = strlen(word);

	for (const char *at = strchr(path, '/'); at; at = strchr(at + 1, '/')) {
		const char *number = at + 1 + word_bytes;

		if (strncmp(at + 1, word, word_bytes) == 0 && strspn(number, "0123456789") > 0 &&
		    strchr("/", number[strspn(number, "0123456789")]))
			return at;
	}
	return NULL;
}

/* A line of a cgroup file, "4:memory:/slurm/uid_1/job_2/step_0" or
 * "0::/system.slice/slurmstepd.scope/job_2/step_0/slurm". */
struct cgroup_line {
	const char *controller; /* the first one; "" in version 2 */
	const char *path;
	size_t outside_bytes; /* of path, up to the job's part */
};

static bool parse_cgroup(char *line, struct cgroup_line *own)
{
	char *controllers = strchr(line, ':');
	char *path = controllers ? strchr(controllers + 1, ':') : NULL;
	const char *job;

	if (!path)
		return false;
	*path++ = '\0';
	path[strcspn(path, "\n")] = '\0';
	own->controller = controllers + 1;
	controllers[1 + strcspn(controllers + 1, ",")] = '\0';
	own->path = path;
	job = component(path, own->controller[0] ? "uid_" : "job_");
	if (!job || !component(job, "job_"))
		return false;
	own->outside_bytes = (size_t)(job - path);
	return true;
}

/* A line of mountinfo: is it a mount of the same hierarchy? *root is the mounted part of it. */
static bool parse_mount(char *line, const struct cgroup_line *own, char **root, char **point)
{
	char *rest = strstr(line, " - ");
	char type[16], options[1024];

	if (!rest || sscanf(rest, " - %15s %*s %1023s", type, options) != 2 ||
	    strcmp(type, own->controller[0] ? "cgroup" : "cgroup2") != 0 ||
	    (own->controller[0] &&
	     !nt_list_has(options, ',', own->controller, strlen(own->controller))))
		return false;
	*rest = '\0';
	for (int i = 0; i < 3; i++) {
		line = strchr(line, ' ');
		if (!line)
			return false;
		line++;
	}
	*root = strsep(&line, " ");
	*point = strsep(&line, " ");
	return *point != NULL;
}

/* ---- from lines to directories */

static bool is_below(const char *path, size_t path_bytes, const char *root, size_t root_bytes)
{
	return path_bytes >= root_bytes && memcmp(path, root, root_bytes) == 0 &&
	       strchr("/", path[root_bytes]);
}

/* false: it is not below that mount. */
static bool fill(struct nt_cgroup *cgroup, const struct cgroup_line *own, const char *root,
		 const char *point)
{
	size_t skip = strcmp(root, "/") == 0 ? 0 : strlen(root);
	int bytes[3];

	if (!is_below(own->path, own->outside_bytes, root, skip))
		return false;
	bytes[0] = snprintf(cgroup->now, sizeof(cgroup->now), "%s%s", point, own->path + skip);
	bytes[1] = snprintf(cgroup->outside, sizeof(cgroup->outside), "%s%.*s%s", point,
			    (int)(own->outside_bytes - skip), own->path + skip,
			    own->controller[0] ? "" : "/system");
	bytes[2] = snprintf(cgroup->root, sizeof(cgroup->root), "%s", point);
	for (int i = 0; i < 3; i++) {
		if (bytes[i] < 0 || bytes[i] >= NT_CGROUP_PATH)
			return false;
	}
	return true;
}

static int find_mount(const char *mounts, const struct cgroup_line *own, struct nt_cgroups *cgroups,
		      struct nt_error *err)
{
	FILE *file = fopen(mounts, "re");
	char line[LINE_BYTES];
	char *root, *point;
	bool found = false;

	if (!file)
		return nt_error_set(err, "%.100s: %m", mounts);
	if (cgroups->count == NT_CGROUP_MAX) {
		fclose(file);
		return nt_error_set(err, "more than %d cgroups of a job", NT_CGROUP_MAX);
	}
	while (!found && fgets(line, sizeof(line), file))
		found = parse_mount(line, own, &root, &point) &&
			fill(&cgroups->cgroup[cgroups->count], own, root, point);
	cgroups->count += found;
	fclose(file);
	return 0;
}

int nt_cgroup_find(const char *proc, const char *mounts, struct nt_cgroups *cgroups,
		   struct nt_error *err)
{
	char path[NT_CGROUP_PATH];
	char line[LINE_BYTES];
	struct cgroup_line own;
	FILE *file;
	int rc = 0;

	cgroups->count = 0;
	snprintf(path, sizeof(path), "%s/cgroup", proc);
	file = fopen(path, "re");
	if (!file) /* ENOENT: a kernel without cgroups */
		return errno == ENOENT ? 0 : nt_error_set(err, "%.100s: %m", path);
	while (rc == 0 && fgets(line, sizeof(line), file)) {
		if (parse_cgroup(line, &own))
			rc = find_mount(mounts, &own, cgroups, err);
	}
	fclose(file);
	return rc;
}

/* ---- moving, between fork and exec: only system calls */

/* pid as text, at the end of out. */
static const char *number(char out[16], pid_t pid)
{
	char *at = out + 15;

	*at = '\0';
	do {
		*--at = (char)('0' + pid % 10);
		pid /= 10;
	} while (pid > 0);
	return at;
}

static int move_process(const char *directory, size_t directory_bytes, pid_t pid)
{
	char path[NT_CGROUP_PATH + sizeof(PROCS)], digits[16];
	const char *text = number(digits, pid);
	ssize_t n;
	int fd;

	if (directory_bytes >= NT_CGROUP_PATH)
		return -1;
	memcpy(path, directory, directory_bytes);
	memcpy(path + directory_bytes, PROCS, sizeof(PROCS));
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	n = write(fd, text, strlen(text));
	close(fd);
	return n > 0 ? 0 : -1;
}

int nt_cgroup_leave(const struct nt_cgroups *cgroups, pid_t pid)
{
	int rc = 0;

	for (unsigned i = 0; i < cgroups->count; i++) {
		const struct nt_cgroup *cgroup = &cgroups->cgroup[i];

		if (move_process(cgroup->outside, strlen(cgroup->outside), pid) < 0 &&
		    move_process(cgroup->root, strlen(cgroup->root), pid) < 0)
			rc = -1;
	}
	return rc;
}

/* ---- the tasks' cgroups */

static bool is_shared(const struct nt_cgroup *cgroup, const struct nt_cgroups *with)
{
	for (unsigned i = 0; i < with->count; i++) {
		if (strcmp(cgroup->now, with->cgroup[i].now) == 0)
			return true;
	}
	return false;
}

void nt_cgroup_tasks(const struct nt_cgroups *task, const struct nt_cgroups *stepd,
		     char out[NT_CGROUP_TEXT])
{
	bool ended = false;
	size_t bytes = 0;

	for (unsigned i = 0; i < task->count; i++) {
		const struct nt_cgroup *cgroup = &task->cgroup[i];
		size_t size = NT_CGROUP_TEXT - bytes;

		if (!strstr(cgroup->now, "/step_") || strchr(cgroup->now, ':') ||
		    strlen(cgroup->now) + 2 > size)
			continue;
		ended = ended || !is_shared(cgroup, stepd);
		bytes += (size_t)snprintf(out + bytes, size, "%s%s", bytes > 0 ? ":" : "",
					  cgroup->now);
	}
	if (!ended)
		snprintf(out, NT_CGROUP_TEXT, "-");
}

void nt_cgroup_join(const char *text, pid_t pid)
{
	while (*text) {
		size_t bytes = strcspn(text, ":");

		if (text[0] == '/')
			(void)move_process(text, bytes, pid);
		text += bytes;
		text += *text == ':';
	}
}
