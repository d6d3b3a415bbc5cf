/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* rule.c - see rule.h */
#include "engine/rule.h"

#include "engine/confirm.h"
#include "engine/paper.h"
#include "engine/refine.h"
#include "engine/screen.h"

#define RACE_FIRST 3 /* blocks after which arms may be out, where samples are close together */
/* Blocks between looks. With the first ones, one call in seven that stalls is missed in 2 % of all
 * cases. */
#define RACE_SECOND 20

static const struct nt_rule own = {
	.rare_blocks = RACE_FIRST + NT_SCHEDULE_WARM_UP,
	.warm_up = NT_SCHEDULE_WARM_UP,
	.confirms = true,
	.after_first = { nt_screen_samples, nt_screen_widen, nt_refine, nt_screen },
	.after_second = nt_confirm,
};

static const struct nt_rule race = {
	.blocks = RACE_FIRST + NT_SCHEDULE_WARM_UP,
	.warm_up = NT_SCHEDULE_WARM_UP,
	.confirms = true,
	.second_blocks = RACE_SECOND,
	.after_first = { nt_screen_samples, nt_screen_widen, nt_refine, nt_screen },
	.after_second = nt_confirm_race,
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
	case NT_RULE_RACE: return &race;
	case NT_RULE_PAPER_OFFLINE: return &offline;
	default: return &own;
	}
}

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

	if (rule->confirms)
		calls += (1 + NT_CONFIRM_ARMS) *
			 ((uint64_t)nt_rule_second_blocks(rule, policy) + NT_SCHEDULE_WARM_UP);
	return calls;
}
