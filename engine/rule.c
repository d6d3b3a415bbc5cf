/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/rule.h"

#include "engine/confirm.h"
#include "engine/refine.h"
#include "engine/screen.h"

#define RARE_BLOCKS 3 /* then arms may be dropped, if samples are close together */

const struct nt_rule nt_rule_own = {
	.rare_blocks = RARE_BLOCKS + NT_SCHEDULE_WARM_UP,
	.warm_up = NT_SCHEDULE_WARM_UP,
	.measures = true,
	.after_first = { nt_screen_samples, nt_screen_widen, nt_refine, nt_screen },
	.after_second = nt_confirm,
};

unsigned nt_rule_blocks(const struct nt_rule *rule, const struct nt_policy *policy, bool rare)
{
	const unsigned blocks = (unsigned)policy->screen_blocks + NT_SCHEDULE_WARM_UP;

	if (rare && rule->rare_blocks != 0)
		return rule->rare_blocks < blocks ? rule->rare_blocks : blocks;
	return rule->blocks != 0 ? rule->blocks : blocks;
}

unsigned nt_rule_second_blocks(const struct nt_rule *rule, const struct nt_policy *policy)
{
	return rule->second_blocks != 0 ? rule->second_blocks : (unsigned)policy->confirm_blocks;
}

uint64_t nt_rule_calls(const struct nt_rule *rule, const struct nt_policy *policy, unsigned arms)
{
	const uint64_t first = arms + 1 < NT_SCHEDULE_ARMS ? arms + 1 : NT_SCHEDULE_ARMS;
	uint64_t calls = first * nt_rule_blocks(rule, policy, false);

	if (rule->after_second)
		calls += (1 + NT_CONFIRM_ARMS) *
			 ((uint64_t)nt_rule_second_blocks(rule, policy) + NT_SCHEDULE_WARM_UP);
	return calls;
}
