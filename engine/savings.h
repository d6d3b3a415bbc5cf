/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* savings.h - what a faster arm could still save in this job, compared to the cost of finding out
 *
 * Remaining calls are the remaining time over the time between calls. If the remaining time is
 * unknown, one hour is assumed.
 *
 * Threads:  pure functions.
 * Errors:   none.
 * Units:    microseconds.
 */
#ifndef NT_SAVINGS_H
#define NT_SAVINGS_H

#include <stdbool.h>
#include "engine/evaluation.h"

#define NT_SAVINGS_LEFT_US 3600e6 /* assumed remaining time */

/* Remaining calls of the key, by the baseline's newest periods, otherwise by this evidence's times;
 * 0: unknown. */
double nt_savings_calls(const struct nt_evaluation *seen, const struct nt_evidence *evidence);

/* Would the calls after this schedule, each shorter by saved_us, make up for its expected cost?
 * Always true in a recheck, and where everything is to be measured. */
bool nt_savings_pay(const struct nt_evaluation *seen, const struct nt_evidence *evidence,
		    const struct nt_schedule *schedule, double saved_us);

#endif
