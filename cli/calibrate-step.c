/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/calibrate-step.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
#include "lib/child.h"
#include "lib/clock.h"
#include "lib/number.h"
#include "lib/printable.h"

#define NODES_MAX (1 << 20)
#define TASKS_MAX 4096
#define OUTPUT_BYTES (1u << 20) /* of srun's messages */

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

int nt_allocation_read(struct nt_allocation *allocation, struct nt_error *err)
{
	allocation->job = (uint32_t)number_in("SLURM_JOB_ID", UINT32_MAX);
	if (allocation->job == 0)
		return nt_error_set(err, "not in a Slurm job: run it in an sbatch script or an "
					 "salloc shell");
	allocation->nodes = (uint32_t)number_in("SLURM_JOB_NUM_NODES", NODES_MAX);
	if (allocation->nodes == 0)
		return nt_error_set(err, "SLURM_JOB_NUM_NODES is not set");
	allocation->per_node = tasks_a_node(allocation->nodes);
	return 0;
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

static bool begins(const char *line, size_t bytes, const char *with)
{
	return bytes >= strlen(with) && memcmp(line, with, strlen(with)) == 0;
}

/* The program's last line. If there is none, Slurm's first line, because Slurm then reports the end
 * of every task. */
static void take_complaint(const struct nt_child *child, char *out, size_t out_bytes)
{
	const char *line = child->out, *end = line + child->out_bytes;

	out[0] = '\0';
	while (line && line < end) {
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
	const struct nt_child_bounds bounds = {
		.deadline_ms = nt_clock_ms() + (int64_t)(1000 * limit_s),
		.max_bytes = OUTPUT_BYTES,
	};
	struct nt_child child;
	char complaint[150];
	int rc = nt_child_call(&child, become, (void *)(uintptr_t)argv, &bounds, err);

	take_complaint(&child, complaint, sizeof(complaint));
	if (rc == 0 && child.status != 0)
		rc = nt_error_set(err, "its step failed: %s", complaint);
	nt_child_fini(&child);
	return rc;
}
