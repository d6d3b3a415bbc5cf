/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* budget.h - may another round of exploring be paid for?
 *
 * Checked by the coordinator between rounds. Past cost comes from engine/cost-account.h. The cost
 * of a round is estimated from the times of its arms so far or, if there are none, from NCCL's
 * predictions. A single round whose arms are far slower than expected can therefore exceed the
 * limit; no round follows it.
 *
 * Threads:  pure functions.
 * Errors:   none.
 * Units:    microseconds.
 */
#ifndef NT_BUDGET_H
#define NT_BUDGET_H

#include "engine/evaluation.h"

/* Has the key enough calls for the budget's share of them to pay for `rounds` calls of
 * exploring? */
bool nt_budget_pays(const struct nt_policy *policy, uint64_t calls, uint64_t rounds);

/* Does the budget allow the schedule, and more_calls after it? */
bool nt_budget_allows(const struct nt_evaluation *seen, const struct nt_schedule *schedule,
		      uint32_t more_calls);

/* Expected cost of the schedule beyond the baseline. */
double nt_budget_expected_us(const struct nt_evaluation *seen, const struct nt_schedule *schedule);

#endif
