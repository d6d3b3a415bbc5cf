/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* due.h - does a step calibrate launch profiles before its program, and what does it measure?
 *
 * A step calibrates if
 *   - an earlier step of its program, started in the same way, has used NCCL here, its collectives
 *     took at least NT_DUE_SHARE of its time, and a gain of NT_DUE_GAIN of that repays the
 *     calibration in the time that the job has left: then the program's own calls are measured, on
 *     as many ranks; or
 *   - its user has asked for it on this very command line, the job has GPUs, and NT_DUE_TIMES the
 *     calibration's time left: then, if the program is unknown, standard sizes are measured, on a
 *     rank for each task, or for each GPU where there is one task a node.
 * It does not if these calls were measured here already, or if the job has calibrated.
 *
 * Threads:  pure.
 * Memory:   values.
 * Errors:   none; why says what speaks against it.
 * Units:    seconds; shares as fractions of 1.
 */
#ifndef NT_LAUNCH_DUE_H
#define NT_LAUNCH_DUE_H

#include "launch/measure/request.h"
#include "launch/select-input.h"

#define NT_DUE_SHARE 0.05
#define NT_DUE_GAIN 0.3
#define NT_DUE_TIMES 100
#define NT_DUE_WHY 128

struct nt_due_ask {
	bool typed; /* launch=auto or calibrate= is on the step's own command line */
	bool gpus; /* the job has some, or Slurm does not count them */
	int64_t left_s; /* of the job; -1: no limit, or unknown */
	int64_t limit_s; /* the longest calibration; 0: none is allowed */
};

/* false: *why says why not, in words that follow "not calibrated: ". */
bool nt_due_calibration(const struct nt_selection *selection, const struct nt_due_ask *ask,
			char why[NT_DUE_WHY]);

/* Would the next step of this program calibrate, if its job has time enough? */
bool nt_due_next(const struct nt_selection *selection);

/* What it measures; the caller adds time, token and address. */
void nt_due_request(const struct nt_selection *selection, struct nt_cal_request *request);

#endif
