/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* budget.c - see budget.h */
#include "engine/budget.h"

#define SHARE 100000000u /* millionths of a percent in 1 */

bool nt_budget_pays(const struct nt_policy *policy, uint64_t calls, uint64_t rounds)
{
	return policy->budget_micro == 0 ||
	       calls * (uint64_t)policy->budget_micro >= rounds * SHARE;
}

/* Median of what was measured of an arm, the newest kind of round first; 0: nothing. */
static double median_of(const struct nt_case *seen, unsigned arm)
{
	const struct nt_evidence *const kinds[] = { &seen->confirm, &seen->screen, &seen->recheck };
	double us = 0;

	for (unsigned k = 0; k < 3 && us <= 0; k++) {
		for (unsigned i = 0; i < kinds[k]->count && us <= 0; i++) {
			if (kinds[k]->arm[i] == arm)
				us = nt_evidence_median_us(kinds[k], i);
		}
	}
	return us;
}

/* What a call of this arm takes longer than one of AUTO. */
static double extra_us(const struct nt_case *seen, unsigned arm)
{
	double us = median_of(seen, arm), auto_us = median_of(seen, NT_ARM_AUTO);

	if (us <= 0 || auto_us <= 0) {
		us = (double)nt_known_predicted_us(&seen->known, arm);
		auto_us = (double)nt_known_predicted_auto_us(&seen->known);
	}
	return arm == NT_ARM_AUTO || us < 0 || auto_us < 0 || us < auto_us ? 0 : us - auto_us;
}

double nt_budget_expected_us(const struct nt_case *seen, const struct nt_schedule *schedule)
{
	double us = 0;

	for (unsigned i = 0; i < schedule->count; i++)
		us += (schedule->blocks << schedule->twice) * extra_us(seen, schedule->arm[i]);
	return us;
}

bool nt_budget_allows(const struct nt_case *seen, const struct nt_schedule *schedule,
		      uint32_t more_calls)
{
	const struct nt_policy *policy = seen->policy;
	uint32_t calls = seen->spent.calls + more_calls + nt_schedule_positions(schedule);
	double auto_us = median_of(seen, NT_ARM_AUTO);
	double us = nt_ledger_us(&seen->spent.ledger) + nt_budget_expected_us(seen, schedule);
	double share = (double)policy->budget_micro / SHARE;
	double past = (double)seen->known.calls;

	if (policy->max_calls > 0 && calls > policy->max_calls)
		return false;
	if (policy->max_extra_ms > 0 && us > (double)policy->max_extra_ms * 1000)
		return false;
	if (share > 0 && (calls > share * past || (auto_us > 0 && us > share * past * auto_us)))
		return false;
	return true;
}
