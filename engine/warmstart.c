/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/warmstart.h"

#include "engine/budget.h"
#include "engine/confirm.h"

/* Calls of a second round with so many arms. */
static uint64_t second_calls(const struct nt_policy *policy, unsigned arms)
{
	return arms * ((uint64_t)policy->confirm_blocks + NT_SCHEDULE_WARM_UP);
}

/* Calls of both rounds with so many arms besides the baseline, if none is repeated. */
static uint64_t round_calls(const struct nt_policy *policy, unsigned arms)
{
	const uint64_t first = arms + 1 < NT_SCHEDULE_ARMS ? arms + 1 : NT_SCHEDULE_ARMS;

	return first * ((uint64_t)policy->screen_blocks + NT_SCHEDULE_WARM_UP) +
	       second_calls(policy, 1 + NT_CONFIRM_ARMS);
}

bool nt_warm_may_open(const struct nt_policy *policy, const struct nt_key_info *info)
{
	if (info->calls == 0 || nt_key_info_remembers(info) != NT_REMEMBERED_ARM)
		return false;
	if (policy->mode == NT_MODE_POLICY)
		return true;
	return policy->mode == NT_MODE_BANDIT &&
	       nt_budget_pays(policy, info->calls, second_calls(policy, 2));
}

bool nt_warm_rare(const struct nt_policy *policy, const struct nt_key_info *info)
{
	return info->age_us >= NT_WARM_RARE_US &&
	       (double)info->calls * NT_WARM_RARE_US < (double)policy->min_calls * info->age_us;
}

uint64_t nt_warm_least_calls(const struct nt_policy *policy, double age_us)
{
	const uint64_t calls = (uint64_t)policy->min_calls;

	return age_us < NT_WARM_RARE_US ? calls
					: (calls + NT_WARM_RARE_PART - 1) / NT_WARM_RARE_PART;
}

bool nt_warm_may_explore(const struct nt_policy *policy, const struct nt_key_info *info)
{
	const uint32_t others = nt_key_info_other_arms(info);
	uint64_t least = nt_warm_least_calls(policy, info->age_us);

	if (policy->mode == NT_MODE_POLICY || others == 0)
		return false;
	if (policy->mode == NT_MODE_BANDIT && nt_key_info_remembers(info) == NT_REMEMBERED_BASELINE)
		least *= NT_WARM_BASELINE_FACTOR;
	return info->calls >= least &&
	       nt_budget_pays(policy, info->calls,
			      round_calls(policy, (unsigned)__builtin_popcount(others)));
}

void nt_warm_open(const struct nt_evaluation *seen, struct nt_next *next)
{
	const struct nt_comparison untested = { .p = 1, .verdict = NT_VERDICT_REMEMBERED };
	const uint16_t arm = seen->info.remembered_arm;
	struct nt_schedule schedule;

	if (seen->rechecks || !nt_warm_may_open(seen->policy, &seen->info))
		return;
	if (seen->policy->mode == NT_MODE_POLICY) {
		nt_next_conclude(next, &seen->confirm, arm, &untested);
		next->what = NT_NEXT_COMMIT;
		return;
	}
	schedule = nt_confirm_round(seen, &arm, 1);
	(void)nt_next_explore(seen, &schedule, next);
}

void nt_warm_confirm(const struct nt_evaluation *seen, struct nt_next *next)
{
	const struct nt_gates gates = {
		.min_gain = nt_evaluation_min_gain(seen, &seen->confirm),
		.of_us = nt_evidence_p25_us(&seen->confirm, 0),
		.alpha = (double)seen->policy->alpha_micro / 1e6,
		.tests = 1,
		.last = true,
	};
	struct nt_comparison comparison;

	nt_confirm_look(seen, &gates, 1, &comparison);
	if (comparison.verdict == NT_VERDICT_FASTER ||
	    !nt_warm_may_explore(seen->policy, &seen->info))
		nt_next_conclude(next, &seen->confirm, seen->confirm.arm[1], &comparison);
}
