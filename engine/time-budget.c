/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/time-budget.h"

#include <limits.h>
#include <math.h>

/* A round's overhead grows: nodes read each other's logs ever more rarely. */
#define LONGER 2

static double whole_us(const struct nt_key_info *info)
{
	return fmax(NT_TIME_BUDGET_US, NT_TIME_BUDGET_STEPS * info->step_us);
}

/* When that ends. A step is as long as most are; the hundredth comes later if there are pauses. */
static double end_us(const struct nt_key_info *info)
{
	if (info->steps == 0 || info->steps >= NT_TIME_BUDGET_STEPS)
		return whole_us(info);
	return fmax(whole_us(info), info->age_us * NT_TIME_BUDGET_STEPS / (double)info->steps);
}

static double left_us(const struct nt_evaluation *seen)
{
	const double until_us = fmax(end_us(&seen->info),
				     seen->opened_us +
					     whole_us(&seen->info) / NT_TIME_BUDGET_LATE_PART);

	return until_us - seen->info.age_us;
}

/* A round's mean overhead beyond its calls: agreement, and sending times. Opening the key counts as
 * a round. */
static double between_us(const struct nt_evaluation *seen, double call_us)
{
	const double passed_us = seen->info.age_us - seen->opened_us;
	unsigned rounds = 1;

	for (unsigned kind = 0; kind < NT_SCHEDULE_KINDS; kind++)
		rounds += seen->rounds[kind];
	return fmax(0, passed_us - seen->spent.calls * call_us) / rounds;
}

static bool limited(const struct nt_policy *policy, const struct nt_key_info *info)
{
	return policy->mode != NT_MODE_PROFILE && info->age_us > 0 && info->calls > 0;
}

static double period_us(const struct nt_key_info *info)
{
	return info->age_us / (double)info->calls;
}

bool nt_time_budget_presses(const struct nt_policy *policy, const struct nt_key_info *info)
{
	return limited(policy, info) &&
	       whole_us(info) - info->age_us < NT_TIME_BUDGET_CALLS * period_us(info);
}

unsigned nt_time_budget_blocks(const struct nt_evaluation *seen, unsigned arms)
{
	const double call_us = period_us(&seen->info);
	double blocks;

	if (seen->rechecks || !limited(seen->policy, &seen->info) || seen->spent.calls == 0)
		return UINT_MAX;
	blocks = (left_us(seen) - LONGER * between_us(seen, call_us)) / (call_us * arms);
	return blocks <= 0 ? 0 : blocks < UINT8_MAX ? (unsigned)blocks : UINT_MAX;
}
