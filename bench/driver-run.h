/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* driver-run.h - a lap in one task: its processes of nccl-tune-bench
 *
 * They have the task's environment with the profile's settings, and no plugin of ours. Once one has
 * failed the others are killed. What they print is shown to nobody, but for the last line of one
 * that failed.
 *
 * Threads:  one.
 * Memory:   nt_run_start allocates, nt_run_free frees. A run starts all zero.
 * Errors:   in end and why.
 */
#ifndef NT_DRIVER_RUN_H
#define NT_DRIVER_RUN_H

#include <sys/types.h>
#include "bench/driver.h"
#include "bench/driver-link.h"

/* In the order in which they count, if processes differ. */
enum nt_run_end { NT_RUN_WELL = 0, NT_RUN_STOPPED, NT_RUN_LATE, NT_RUN_FAILED, NT_RUN_WRONG };

struct nt_lap {
	unsigned profile, procs, seconds; /* seconds: for which calls are made */
	int64_t limit_ms;
};

struct nt_run_process {
	pid_t pid; /* 0: it has ended */
	struct nt_link channel;
	int output;
	char last[NT_CAL_WHY]; /* line of its output, printable */
	size_t bytes; /* of it */
	bool line_over; /* it is complete */
};

struct nt_run {
	unsigned procs; /* 0: no lap */
	struct nt_run_process *process;
	int64_t deadline_ms, killed_ms;
	enum nt_run_end end;
	char why[NT_CAL_WHY];
};

const char *nt_run_end_name(enum nt_run_end end);
int nt_run_end_parse(const char *name);

void nt_run_start(struct nt_run *run, const struct nt_driver *driver, const struct nt_lap *lap);
/* Two for each process. */
unsigned nt_run_polls(const struct nt_run *run, struct pollfd *polls);
void nt_run_attend(struct nt_run *run, const struct pollfd *polls);
/* rank 0's id, to the others; all: that of this task's first process too. */
void nt_run_id(struct nt_run *run, const char *line, bool all);
void nt_run_stop(struct nt_run *run);
/* At most so long until nt_run_attend(). */
int nt_run_wait_ms(const struct nt_run *run);
bool nt_run_over(const struct nt_run *run);
void nt_run_free(struct nt_run *run);

#endif
