/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* savings.h - what a faster arm could still save in this job, against what finding out costs
 *
 * Calls to come are the time left by how long it takes from one call to the next. Where the time
 * left is not known, an hour is taken for it.
 *
 * Threads:  pure functions.
 * Errors:   none.
 * Units:    microseconds.
 */
#ifndef NT_SAVINGS_H
#define NT_SAVINGS_H

#include <stdbool.h>
#include "engine/case.h"

#define NT_SAVINGS_LEFT_US 3600e6 /* where nothing is known */

/* Calls of the key to come, by AUTO's newest periods, else by this evidence's times; 0: nothing
 * is known of either. */
double nt_savings_calls(const struct nt_case *seen, const struct nt_evidence *evidence);

/* Would the calls after this schedule, if each took so much less, make up for what it is expected
 * to cost? Always in a recheck, and where everything is to be measured. */
bool nt_savings_pay(const struct nt_case *seen, const struct nt_evidence *evidence,
		    const struct nt_schedule *schedule, double saved_us);

#endif
