/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/calibrate-step.h"

#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "lib/child.h"
#include "lib/clock.h"
#include "lib/file.h"
#include "lib/number.h"
#include "lib/printable.h"

#define NODES_MAX (1 << 20)
#define TASKS_MAX 4096
#define PREFIX "meet."
#define OLD_S 86400 /* no calibration takes that long */
#define TAIL_BYTES 4096 /* of srun's output */

/* ---- the job */

/* The number at the start of a variable: "4", or "4(x2)", or "4,2". 0 if there is none. */
static uint64_t number_in(const char *name, uint64_t most)
{
	const char *text = getenv(name);
	uint64_t value;
	const char *end = text ? nt_number_read(text, most, &value) : NULL;

	return end && (*end == '\0' || *end == '(' || *end == ',') ? value : 0;
}

static uint32_t tasks_a_node(uint32_t nodes)
{
	uint64_t tasks = number_in("SLURM_NTASKS_PER_NODE", TASKS_MAX);

	if (tasks == 0)
		tasks = number_in("SLURM_NTASKS", (uint64_t)NODES_MAX * TASKS_MAX) / nodes;
	return tasks > 0 && tasks <= TASKS_MAX ? (uint32_t)tasks : 1;
}

int nt_allocation_read(struct nt_allocation *allocation, uint32_t nodes, struct nt_error *err)
{
	allocation->job = (uint32_t)number_in("SLURM_JOB_ID", UINT32_MAX);
	if (allocation->job == 0)
		return nt_error_set(err, "not in a Slurm job: run it in an sbatch script or an "
					 "salloc shell");
	allocation->nodes = nodes ? nodes : (uint32_t)number_in("SLURM_JOB_NUM_NODES", NODES_MAX);
	if (allocation->nodes == 0)
		return nt_error_set(err, "SLURM_JOB_NUM_NODES is not set: use --nodes N");
	allocation->per_node = tasks_a_node(allocation->nodes);
	return 0;
}

/* ---- where ranks meet */

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

/* ---- srun */

/* In the child; what srun says is its output. */
static int become(void *argument, int out_fd)
{
	char *const *argv = argument;
	const int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	/* A killed srun leaves its step running. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	signal(SIGPIPE, SIG_DFL);
	if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(out_fd, 2) < 0)
		return 127;
	execvp(argv[0], argv);
	dprintf(2, "%s: %m\n", argv[0]);
	return 127;
}

struct tail {
	char text[TAIL_BYTES];
	size_t bytes;
};

/* Keeps the end. */
static int keep(void *argument, const char *data, size_t bytes, struct nt_error *err)
{
	struct tail *tail = argument;
	const size_t most = bytes < sizeof(tail->text) ? bytes : sizeof(tail->text);
	const size_t room = sizeof(tail->text) - most;
	const size_t kept = tail->bytes < room ? tail->bytes : room;

	(void)err;
	memmove(tail->text, tail->text + tail->bytes - kept, kept);
	memcpy(tail->text + kept, data + bytes - most, most);
	tail->bytes = kept + most;
	return 0;
}

static bool begins(const char *line, size_t bytes, const char *with)
{
	return bytes >= strlen(with) && memcmp(line, with, strlen(with)) == 0;
}

/* The program's last line. If there is none, Slurm's first line, because Slurm then reports the end
 * of every task. */
static void take_complaint(const struct tail *tail, char *out, size_t out_bytes)
{
	const char *line = tail->text, *end = line + tail->bytes;

	out[0] = '\0';
	while (line < end) {
		const char *newline = memchr(line, '\n', (size_t)(end - line));
		const size_t bytes = (size_t)((newline ? newline : end) - line);
		const bool slurm = begins(line, bytes, "srun: ") ||
				   begins(line, bytes, "slurmstepd") ||
				   begins(line, bytes, "Try \"srun");

		if (bytes > 0 && (!slurm || out[0] == '\0'))
			nt_printable_copy(out, out_bytes, line, bytes);
		line += bytes + 1;
	}
}

int nt_step_run(char *const argv[], double limit_s, struct nt_error *err)
{
	struct tail tail = { .bytes = 0 };
	const struct nt_child_bounds bounds = {
		.deadline_ms = nt_clock_ms() + (int64_t)(1000 * limit_s),
		.take = keep,
		.argument = &tail,
	};
	struct nt_child child;
	char complaint[150];
	int rc = nt_child_call(&child, become, (void *)(uintptr_t)argv, &bounds, err);

	take_complaint(&tail, complaint, sizeof(complaint));
	if (rc == 0 && child.status != 0)
		rc = nt_error_set(err, "its step failed: %s", complaint);
	nt_child_fini(&child);
	return rc;
}
