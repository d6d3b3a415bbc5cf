/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* calibrate-step.h - the steps of nccl-tune calibrate: their job, where their ranks meet, and srun
 *
 * Threads:  single-threaded programs only: srun is forked. The environment must not change.
 * Memory:   values.
 * Errors:   -1 and *err; files that cannot be removed remain.
 * Units:    seconds.
 */
#ifndef NT_CALIBRATE_STEP_H
#define NT_CALIBRATE_STEP_H

#include <stdint.h>
#include "contract/names.h"
#include "lib/error.h"

/* The job that this process runs in, from Slurm's variables. */
struct nt_allocation {
	uint32_t job;
	uint32_t nodes, per_node; /* nodes, tasks on each */
};

/* nodes replaces the job's if it is not 0. One task per node is assumed if no variable says how
 * many. */
int nt_allocation_read(struct nt_allocation *allocation, uint32_t nodes, struct nt_error *err);

/* Makes a directory where the ranks of a benchmark exchange files, in this one, which is created if
 * it is missing. Removes leftovers of killed calibrations. */
int nt_meeting_make(const char *directory, uint32_t job, char path[NT_PATH_MAX],
		    struct nt_error *err);
/* Removes it and its files. "": there is none. */
void nt_meeting_remove(const char *path);

/* Runs srun without its output. It gets the terminal's signals itself, and SIGTERM if this process
 * dies. *err: it has failed, with its program's last line on stderr, or was ended at the limit. */
int nt_step_run(char *const argv[], double limit_s, struct nt_error *err);

#endif
