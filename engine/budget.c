/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/budget.h"

#include "engine/quantiles.h"

#define SHARE 100000000u /* millionths of a percent in 1 */
#define LEFT_US 3600e6 /* of the job's time, if unknown */

bool nt_budget_pays(const struct nt_policy *policy, uint64_t calls, uint64_t rounds)
{
	return policy->budget_micro == 0 ||
	       calls * (uint64_t)policy->budget_micro >= rounds * SHARE;
}

/* Median of an arm's times in the newest kind of round that has it; 0: none. */
static double median_of(const struct nt_evaluation *seen, unsigned arm)
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

/* Time that a call of this arm takes beyond the baseline's. */
static double extra_us(const struct nt_evaluation *seen, unsigned arm)
{
	double us = median_of(seen, arm), baseline_us = median_of(seen, NT_ARM_BASELINE);

	if (us <= 0 || baseline_us <= 0) {
		us = (double)nt_key_info_predicted_us(&seen->info, arm);
		baseline_us = (double)nt_key_info_predicted_baseline_us(&seen->info);
	}
	return arm == NT_ARM_BASELINE || us < 0 || baseline_us < 0 || us < baseline_us
		       ? 0
		       : us - baseline_us;
}

static double expected_us(const struct nt_evaluation *seen, const struct nt_schedule *schedule)
{
	double us = 0;

	for (unsigned i = 0; i < schedule->count; i++)
		us += (schedule->blocks << schedule->twice) * extra_us(seen, schedule->arm[i]);
	return us;
}

bool nt_budget_allows(const struct nt_evaluation *seen, const struct nt_schedule *schedule,
		      uint32_t more_calls)
{
	const struct nt_policy *policy = seen->policy;
	uint32_t calls = seen->spent.calls + more_calls + nt_schedule_positions(schedule);
	double baseline_us = median_of(seen, NT_ARM_BASELINE);
	double us = nt_cost_account_us(&seen->spent.account) + expected_us(seen, schedule);
	double share = (double)policy->budget_micro / SHARE;
	double past = (double)seen->info.calls;

	if (policy->max_calls > 0 && calls > policy->max_calls)
		return false;
	if (policy->max_extra_ms > 0 && us > (double)policy->max_extra_ms * 1000)
		return false;
	if (share > 0 &&
	    (calls > share * past || (baseline_us > 0 && us > share * past * baseline_us)))
		return false;
	return true;
}

/* Mean time between calls of the key, with pauses. */
static double period_us(const struct nt_evaluation *seen, const struct nt_evidence *evidence)
{
	const double us =
		nt_sample_quantiles_of(seen->confirm.period_us[0], seen->confirm.blocks).mean_us;

	return us > 0 ? us
		      : nt_sample_quantiles_of(evidence->measured_us[NT_MEASURE_SLOWEST][0],
					       evidence->blocks)
				.mean_us;
}

static double calls_left(const struct nt_evaluation *seen, const struct nt_evidence *evidence)
{
	const double us = period_us(seen, evidence);
	const double left_us = seen->info.left_us > 0 ? seen->info.left_us : LEFT_US;

	return us > 0 ? left_us / us : 0;
}

bool nt_budget_worth(const struct nt_evaluation *seen, const struct nt_evidence *evidence,
		     const struct nt_schedule *schedule, double saved_us)
{
	const double calls = calls_left(seen, evidence);
	const double after = calls - nt_schedule_positions(schedule);

	if (seen->rechecks || seen->policy->mode == NT_MODE_PROFILE || calls <= 0)
		return true;
	return after > 0 && saved_us * after >= expected_us(seen, schedule);
}
