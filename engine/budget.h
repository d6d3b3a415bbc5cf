/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* budget.h - what exploring a key has cost beyond AUTO, and whether one more round may be paid for
 *
 * Looked at between rounds, at home. What a round is going to cost is expected from what its arms
 * took so far or, where nothing is known yet, from NCCL's predictions. So one round whose arms are
 * far slower than expected can pass the limit, and no round follows it.
 *
 * Threads:  pure functions.
 * Errors:   none.
 * Units:    microseconds.
 */
#ifndef NT_BUDGET_H
#define NT_BUDGET_H

#include "engine/judge.h"

/* Is there enough to begin: a first round of AUTO and so many arms, in so many blocks, and, where
 * the rule confirms, a second one? calls: of the key, so far. */
bool nt_budget_worth(const struct nt_policy *policy, uint64_t calls, unsigned arms,
		     unsigned first_blocks, bool confirms);

/* May the schedule be carried out, with so many more calls after it? */
bool nt_budget_allows(const struct nt_case *seen, const struct nt_schedule *schedule,
		      uint32_t more_calls);

/* What was spent beyond AUTO's median of this evidence; below 0: exploring saved time. */
double nt_budget_spent_us(const struct nt_spent *spent, const struct nt_evidence *evidence);

#endif
