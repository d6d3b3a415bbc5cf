/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* step-before.h - did a program become slower with another NCCL or driver?
 *
 * As in step-ratio.h, a step of a job is one sample: the period of the program's own step, or from
 * a call to the next. Both sides need several, with the same collectives in the same mix: a program
 * that does other work has, as a rule, others.
 *
 * Threads:  pure.
 * Memory:   nothing is allocated.
 * Errors:   none; without steps on both sides nothing is known.
 */
#ifndef NT_STEP_BEFORE_H
#define NT_STEP_BEFORE_H

#include "launch/memory.h"

#define NT_BEFORE_STEPS 3 /* of each side, at least */
#define NT_BEFORE_LOSS 0.05 /* smallest growth that is told */
#define NT_BEFORE_P 0.001 /* largest probability that it is noise */

struct nt_step_before {
	double growth; /* of the time: 0.11 for 11 % */
	char than[40]; /* "NCCL 2.27.5"; or "driver 550.54.14" */
	int64_t when_s; /* of the newest step with that */
	uint32_t job; /* that step's */
};

/* Compares the steps of where's program at its place, with this NCCL and driver, with those of the
 * last other ones before. False: they are not slower, by more than noise. */
bool nt_step_slower(const struct nt_memory *memory, const struct nt_where *where,
		    const char *profile, struct nt_step_before *out);

#endif
