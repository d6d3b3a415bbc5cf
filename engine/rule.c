/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* rule.c - see rule.h */
#include "engine/rule.h"

#include "engine/confirm.h"
#include "engine/paper.h"
#include "engine/refine.h"
#include "engine/screen.h"

static const struct nt_rule own = {
	.warm_up = NT_SCHEDULE_WARM_UP,
	.confirms = true,
	.after_first = { nt_screen_samples, nt_refine, nt_screen },
};

static const struct nt_rule online = {
	.blocks = NT_PAPER_ONLINE_BLOCKS,
	.after_first = { nt_paper_online },
};

static const struct nt_rule offline = {
	.blocks = NT_PAPER_OFFLINE_BLOCKS,
	.after_first = { nt_paper_offline },
};

const struct nt_rule *nt_rule_of(const struct nt_policy *policy)
{
	switch (policy->rule) {
	case NT_RULE_PAPER_ONLINE: return &online;
	case NT_RULE_PAPER_OFFLINE: return &offline;
	default: return &own;
	}
}

unsigned nt_rule_blocks(const struct nt_rule *rule, const struct nt_policy *policy)
{
	return rule->blocks != 0 ? rule->blocks
				 : (unsigned)policy->screen_blocks + NT_SCHEDULE_WARM_UP;
}

uint64_t nt_rule_calls(const struct nt_rule *rule, const struct nt_policy *policy, unsigned arms)
{
	const uint64_t first = arms + 1 < NT_SCHEDULE_ARMS ? arms + 1 : NT_SCHEDULE_ARMS;
	uint64_t calls = first * nt_rule_blocks(rule, policy);

	if (rule->confirms)
		calls += (1 + NT_CONFIRM_ARMS) *
			 ((uint64_t)policy->confirm_blocks + NT_SCHEDULE_WARM_UP);
	return calls;
}
