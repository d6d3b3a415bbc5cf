/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* savings.h - what a faster arm could still save in this job, against the cost of finding out
 *
 * Remaining calls: the remaining time, or an hour if unknown, over the time between calls.
 *
 * Threads:  pure functions.
 * Errors:   none.
 * Units:    microseconds.
 */
#ifndef NT_SAVINGS_H
#define NT_SAVINGS_H

#include <stdbool.h>
#include "engine/evaluation.h"

#define NT_SAVINGS_LEFT_US 3600e6 /* remaining time if unknown */

/* By the baseline's newest periods, else by this evidence's times; 0: unknown. */
double nt_savings_calls(const struct nt_evaluation *seen, const struct nt_evidence *evidence);

/* Would the calls after this schedule, each shorter by saved_us, make up for its cost? Always in a
 * recheck, and where all is to be measured. */
bool nt_savings_pay(const struct nt_evaluation *seen, const struct nt_evidence *evidence,
		    const struct nt_schedule *schedule, double saved_us);

#endif
