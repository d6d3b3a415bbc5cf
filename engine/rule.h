/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* rule.h - the ways to come to a verdict that a policy can name
 *
 * Ours, "nccl-tune", screens and confirms. So does "race", with evidence that counts at any time, of
 * which the first rounds are part: they end sooner where samples lie close together. Others, to
 * compare with, measure all arms in one round (engine/paper.h).
 *
 * Threads:  pure functions.
 * Memory:   constants.
 * Errors:   none.
 */
#ifndef NT_RULE_H
#define NT_RULE_H

#include "engine/judge.h"

#define NT_RULE_JUDGES 4

struct nt_rule {
	unsigned blocks; /* of the first round, all included; 0: as the policy says */
	unsigned rare_blocks; /* the same of a key that is called rarely; 0: as of others */
	unsigned warm_up; /* of these, no evidence */
	bool confirms; /* there is a second round */
	unsigned second_blocks; /* of it, after its warm-up; 0: as the policy says */
	nt_judge *after_first[NT_RULE_JUDGES]; /* asked in turn when a first round has ended */
	nt_judge *after_second;
};

/* The rule that the policy names. */
const struct nt_rule *nt_rule_of(const struct nt_policy *policy);

/* Blocks of its first round. rare: of a key that is called rarely, which begins with few and takes
 * more only where these do not tell. */
unsigned nt_rule_blocks(const struct nt_rule *rule, const struct nt_policy *policy, bool rare);

/* ... and of a second one, its warm-up left out. */
unsigned nt_rule_second_blocks(const struct nt_rule *rule, const struct nt_policy *policy);

/* Calls that all its rounds take with so many arms beside AUTO, none of them repeated. */
uint64_t nt_rule_calls(const struct nt_rule *rule, const struct nt_policy *policy, unsigned arms);

#endif
