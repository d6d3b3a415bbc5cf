/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* rule.h - a decision rule: the rounds of a key, and who judges them
 *
 * An engine is given its rule (engine/engine.h): in a job nt_rule_own, which screens and confirms.
 * lab/rules has others for comparison.
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
	unsigned blocks; /* of the first round, with warm-up; 0: as the policy says */
	unsigned rare_blocks; /* ... of a rarely called key; 0: the same */
	unsigned warm_up; /* blocks of it that are no evidence */
	unsigned second_blocks; /* of a second round, without warm-up; 0: as the policy says */
	bool measures; /* the first round, which is no evidence, chooses a measure */
	nt_judge *after_first[NT_RULE_JUDGES]; /* in turn, after a first round */
	nt_judge *after_second; /* NULL: there is no second round */
};

extern const struct nt_rule nt_rule_own;

/* Blocks of the first round. rare: few for a rarely called key; more follow only if these do not
 * tell. */
unsigned nt_rule_blocks(const struct nt_rule *rule, const struct nt_policy *policy, bool rare);

/* ... of a second one, without its warm-up. */
unsigned nt_rule_second_blocks(const struct nt_rule *rule, const struct nt_policy *policy);

/* Calls of all rounds with so many arms besides the baseline, if none is repeated. */
uint64_t nt_rule_calls(const struct nt_rule *rule, const struct nt_policy *policy, unsigned arms);

#endif
