/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* warmstart.c - see warmstart.h */
#include "engine/warmstart.h"

#include "engine/budget.h"
#include "engine/confirm.h"

/* AUTO and the arm. */
static uint64_t round_calls(const struct nt_policy *policy)
{
	return 2 *
	       ((uint64_t)nt_rule_second_blocks(nt_rule_of(policy), policy) + NT_SCHEDULE_WARM_UP);
}

bool nt_warm_worth(const struct nt_policy *policy, const struct nt_known *known)
{
	if (known->calls == 0 || nt_known_remembers(known) != NT_REMEMBERED_ARM)
		return false;
	if (policy->mode == NT_MODE_POLICY)
		return true;
	return policy->mode == NT_MODE_BANDIT && nt_rule_of(policy)->confirms &&
	       nt_budget_pays(policy, known->calls, round_calls(policy));
}

bool nt_warm_rare(const struct nt_policy *policy, const struct nt_known *known)
{
	return known->age_us >= NT_WARM_RARE_US &&
	       (double)known->calls * NT_WARM_RARE_US < (double)policy->min_calls * known->age_us;
}

uint64_t nt_warm_least_calls(const struct nt_policy *policy, double age_us)
{
	const uint64_t calls = (uint64_t)policy->min_calls;

	return age_us < NT_WARM_RARE_US ? calls
					: (calls + NT_WARM_RARE_PART - 1) / NT_WARM_RARE_PART;
}

bool nt_warm_may_explore(const struct nt_policy *policy, const struct nt_known *known)
{
	const uint32_t others = nt_known_other_arms(known);
	uint64_t least = nt_warm_least_calls(policy, known->age_us);

	if (policy->mode == NT_MODE_POLICY || others == 0)
		return false;
	if (policy->mode == NT_MODE_BANDIT && nt_known_remembers(known) == NT_REMEMBERED_AUTO)
		least *= NT_WARM_PATIENCE;
	return known->calls >= least &&
	       nt_budget_pays(policy, known->calls,
			      nt_rule_calls(nt_rule_of(policy), policy,
					    (unsigned)__builtin_popcount(others)));
}

void nt_warm_open(const struct nt_case *seen, struct nt_next *next)
{
	const struct nt_comparison untested = { .p = 1, .verdict = NT_VERDICT_REMEMBERED };
	const uint16_t arm = seen->known.remembered_arm;
	struct nt_schedule schedule;

	if (seen->rechecks || !nt_warm_worth(seen->policy, &seen->known))
		return;
	if (seen->policy->mode == NT_MODE_POLICY) {
		nt_next_conclude(next, &seen->confirm, arm, &untested);
		next->what = NT_NEXT_COMMIT;
		return;
	}
	schedule = nt_confirm_round(seen, &arm, 1);
	(void)nt_next_explore(seen, &schedule, next);
}

void nt_warm_confirm(const struct nt_case *seen, struct nt_next *next)
{
	const struct nt_gates gates = {
		.min_gain = nt_case_min_gain(seen, &seen->confirm),
		.alpha = (double)seen->policy->alpha_micro / 1e6,
		.tests = 1,
		.last = true,
	};
	struct nt_comparison comparison;

	nt_confirm_look(seen, &gates, 1, &comparison);
	if (comparison.verdict == NT_VERDICT_FASTER ||
	    !nt_warm_may_explore(seen->policy, &seen->known))
		nt_next_conclude(next, &seen->confirm, seen->confirm.arm[1], &comparison);
}
