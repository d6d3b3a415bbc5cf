/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* rule.h - a decision rule: which rounds a key is explored in, and who judges them
 *
 * An engine is given its rule (engine/engine.h). In a job that is nt_rule_own, which screens and
 * confirms; lab/rules has others, to compare with it.
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
	unsigned blocks; /* blocks of the first round, warm-up included; 0: as the policy says */
	unsigned rare_blocks; /* ... for a rarely called key; 0: the same */
	unsigned warm_up; /* blocks of these that are no evidence */
	unsigned second_blocks; /* of a second round after its warm-up; 0: as the policy says */
	bool measures; /* chooses a measure by the first round, which is no evidence */
	nt_judge *after_first[NT_RULE_JUDGES]; /* asked in turn after a first round */
	nt_judge *after_second; /* NULL: there is no second round */
};

/* nccl-tune's own rule. */
extern const struct nt_rule nt_rule_own;

/* Blocks of the first round. rare: the key is called rarely: start with few, and add more only if
 * these do not tell. */
unsigned nt_rule_blocks(const struct nt_rule *rule, const struct nt_policy *policy, bool rare);

/* ... of a second one, without its warm-up. */
unsigned nt_rule_second_blocks(const struct nt_rule *rule, const struct nt_policy *policy);

/* Calls of all rounds with this many arms besides the baseline, none repeated. */
uint64_t nt_rule_calls(const struct nt_rule *rule, const struct nt_policy *policy, unsigned arms);

#endif
