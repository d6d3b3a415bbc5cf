/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* budget.h - can another round of exploring be paid for, and will it pay?
 *
 * The coordinator asks between rounds. engine/cost-account.h has the past cost. The cost of a round
 * is estimated from the times of its arms, or else from NCCL's predictions. A round whose arms are
 * far slower than expected can exceed the limit; no round follows it.
 *
 * Threads:  pure functions.
 * Errors:   none.
 * Units:    microseconds.
 */
#ifndef NT_BUDGET_H
#define NT_BUDGET_H

#include "engine/evaluation.h"

/* Do so many calls pay for `rounds` calls of exploring, by the budget's share? */
bool nt_budget_pays(const struct nt_policy *policy, uint64_t calls, uint64_t rounds);

/* Does the budget allow the schedule, and more_calls after it? */
bool nt_budget_allows(const struct nt_evaluation *seen, const struct nt_schedule *schedule,
		      uint32_t more_calls);

/* Would the calls after this schedule, each shorter by saved_us, make up for its cost?
 * Always in a recheck, and where all is to be measured. evidence: tells how far calls are apart if
 * nothing newer does. */
bool nt_budget_worth(const struct nt_evaluation *seen, const struct nt_evidence *evidence,
		     const struct nt_schedule *schedule, double saved_us);

#endif
