/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/savings.h"

#include "engine/budget.h"
#include "engine/quantiles.h"

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

double nt_savings_calls(const struct nt_evaluation *seen, const struct nt_evidence *evidence)
{
	const double us = period_us(seen, evidence);
	const double left_us = seen->info.left_us > 0 ? seen->info.left_us : NT_SAVINGS_LEFT_US;

	return us > 0 ? left_us / us : 0;
}

bool nt_savings_pay(const struct nt_evaluation *seen, const struct nt_evidence *evidence,
		    const struct nt_schedule *schedule, double saved_us)
{
	const double calls = nt_savings_calls(seen, evidence);
	const double after = calls - nt_schedule_positions(schedule);

	if (seen->rechecks || seen->policy->mode == NT_MODE_PROFILE || calls <= 0)
		return true;
	return after > 0 && saved_us * after >= nt_budget_expected_us(seen, schedule);
}
