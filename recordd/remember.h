/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* remember.h - add a step's measurements to the user's memory, and compare the step with the memory
 *
 * First the entry is stored, with the hardware of the step's hosts, so that the job's next srun
 * finds both. Then the memory is read, to compare the step with steps that ran with the default.
 *
 * Runs with the user's rights only: the user chooses the memory's directory and its contents. The
 * process hangs if the file system hangs.
 *
 * Threads:  one process of its own.
 * Memory:   nothing is kept.
 * Errors:   in the result, as text.
 */
#ifndef NT_REMEMBER_H
#define NT_REMEMBER_H

#include <stdbool.h>
#include "launch/calibrated.h"
#include "launch/ticket.h"
#include "spank/arguments.h"
#include "record/sum.h"

/* Longer lists are written only if the memory does not have them. */
#define NT_REMEMBER_HOSTS 256
#define NT_REMEMBER_FILE_MAX ((size_t)64 << 20) /* the largest file it may write */

struct nt_step_memory {
	double measured; /* speed relative to the default; 0: unknown */
	bool hosts_alike; /* only the memory shows that the step's hosts have the same hardware */
	double next_s; /* the program's next step will calibrate for so long; 0: it will not */
	bool failed; /* nothing was stored, remark says why */
	char slower[80]; /* than with an earlier NCCL or driver: arguments of the finding */
	char remark[176]; /* for the step's record; "": nothing */
};

/* Store what the tasks measured before the program, and give up the job's claim. NULL; or why it is
 * not stored. last: it will not be tried again. */
const char *nt_remember_calibration(const struct nt_sum *sum, const struct nt_arguments *arguments,
				    const struct nt_ticket *ticket,
				    const struct nt_calibrated *calibration, bool last);

/* calibration: NULL if the tasks did not calibrate, or it is stored. */
void nt_step_remember(const struct nt_sum *sum, const struct nt_arguments *arguments,
		      const struct nt_ticket *ticket, const struct nt_calibrated *calibration,
		      struct nt_step_memory *out);

#endif
