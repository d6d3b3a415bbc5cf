/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/judge.h"

#include "engine/budget.h"

bool nt_next_explore(const struct nt_evaluation *seen, const struct nt_schedule *schedule,
		     struct nt_next *next)
{
	next->schedule = *schedule;
	if (!nt_budget_allows(seen, schedule, 0))
		return false;
	next->what = NT_NEXT_EXPLORE;
	return true;
}

void nt_next_conclude(struct nt_next *next, const struct nt_evidence *evidence, unsigned arm,
		      const struct nt_comparison *comparison)
{
	next->what = comparison->verdict == NT_VERDICT_FASTER ? NT_NEXT_COMMIT : NT_NEXT_KEEP;
	next->arm = arm;
	next->comparison = *comparison;
	next->evidence = evidence;
}
