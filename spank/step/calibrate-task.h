/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* calibrate-task.h - measure launch profiles in a task, before its program is executed
 *
 * Starts nt-calibrate (bench/driver.h) in a process group of its own and waits for what it says.
 * Everything of it has ended afterwards. A signal that Slurm sends to the step meanwhile ends the
 * task, as it would end a program that has just begun.
 *
 * Threads:  one; in the task's process, as the user, in the task's groups and namespaces.
 * Memory:   values.
 * Errors:   in the return value and *err.
 * Units:    it takes the request's seconds and NT_CALIBRATE_MORE_S at most.
 */
#ifndef NT_CALIBRATE_TASK_H
#define NT_CALIBRATE_TASK_H

#include "launch/measure/request.h"

#define NT_CALIBRATE_PROGRAM "nt-calibrate"
#define NT_CALIBRATE_MORE_S 15

enum nt_calibrate_answer {
	NT_CALIBRATED_NONE, /* the program starts as without a calibration; *err says why */
	NT_CALIBRATED_PROFILE, /* all tasks use *profile, perhaps NCCL's default */
	/* Other tasks may use a profile that this one does not know: it must not start. */
	NT_CALIBRATED_DOUBT,
};

/* request: a text, not checked yet. shm_fd: the node's memory; -1: nothing is kept. environment:
 * the task's. */
enum nt_calibrate_answer nt_calibrate_task(const char *program, const char *request, int shm_fd,
					   char *const environment[],
					   struct nt_cal_profile *profile, struct nt_error *err);

#endif
