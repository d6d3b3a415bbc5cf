/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* time-budget.h - how long a key may be explored before it is decided by what is known
 *
 * Until the program is a minute or a hundred steps old, whichever is later; a key opened later has
 * a third of that time. Second rounds are as long as time permits, given how often the key is
 * called and the overhead of earlier rounds; if the next one would be too short, there is none.
 * This never takes evidence from a decision, only the chance of more.
 *
 * Not limited are rechecks, which are short and rare, mode profile, and programs without a clock.
 *
 * Threads:  pure functions.
 * Errors:   none.
 * Units:    microseconds.
 */
#ifndef NT_TIME_BUDGET_H
#define NT_TIME_BUDGET_H

#include "engine/evaluation.h"

#define NT_TIME_BUDGET_US 60e6
#define NT_TIME_BUDGET_STEPS 100
#define NT_TIME_BUDGET_LATE_PART 3 /* of that time has a key that is opened later */

/* Calls after min_calls until a key is decided by a first and a second round, with agreement. */
#define NT_TIME_BUDGET_CALLS 96

/* Is a key late before it is opened? Then it waits for no other. Uses info's calls, age and
 * step. */
bool nt_time_budget_presses(const struct nt_policy *policy, const struct nt_key_info *info);

/* Blocks of `arms` arms for which there is time; UINT_MAX: not limited. */
unsigned nt_time_budget_blocks(const struct nt_evaluation *seen, unsigned arms);

#endif
