/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* calibrate-step.h - the steps of nccl-tune calibrate: their job, and srun
 *
 * Threads:  single-threaded programs only: srun is forked. The environment must not change.
 * Memory:   values.
 * Errors:   -1 and *err.
 * Units:    seconds.
 */
#ifndef NT_CALIBRATE_STEP_H
#define NT_CALIBRATE_STEP_H

#include <stdint.h>
#include "lib/error.h"

/* The job that this process runs in, from Slurm's variables. */
struct nt_allocation {
	uint32_t job;
	uint32_t nodes, per_node; /* nodes, tasks on each */
};

/* One task per node is assumed if no variable says how
 * many. */
int nt_allocation_read(struct nt_allocation *allocation, struct nt_error *err);

/* Runs srun without its output. It gets the terminal's signals itself, and SIGTERM if this process
 * dies. *err: it has failed, with its program's last line on stderr, or was ended at the limit. */
int nt_step_run(char *const argv[], double limit_s, struct nt_error *err);

#endif
