/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* budget.h - what exploring a key has cost beyond AUTO, and whether one more round may be paid for
 *
 * Looked at between rounds, at home. What was spent is engine/ledger.h's. What a round is going to
 * cost is expected from what its arms took so far or, where nothing is known yet, from NCCL's
 * predictions. So one round whose arms are far slower than expected can pass the limit, and no
 * round follows it.
 *
 * Threads:  pure functions.
 * Errors:   none.
 * Units:    microseconds.
 */
#ifndef NT_BUDGET_H
#define NT_BUDGET_H

#include "engine/case.h"

/* Were there so many calls of the key that a share of them pays for exploring? rounds: calls that
 * it takes at least. */
bool nt_budget_pays(const struct nt_policy *policy, uint64_t calls, uint64_t rounds);

/* May the schedule be carried out, with so many more calls after it? */
bool nt_budget_allows(const struct nt_case *seen, const struct nt_schedule *schedule,
		      uint32_t more_calls);

/* What the schedule is expected to cost beyond AUTO. */
double nt_budget_expected_us(const struct nt_case *seen, const struct nt_schedule *schedule);

#endif
