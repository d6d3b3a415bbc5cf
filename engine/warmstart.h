/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* warmstart.h - what is done with an arm that an earlier step found faster than AUTO
 *
 * In mode bandit it is compared with AUTO in one second round, without a first one, and committed
 * where it passes the rule's gates; only the test pays for one arm and one look instead of more.
 * One that fails is forgotten: the key is explored as one of which nothing is remembered, or AUTO
 * stays where the key was not called often enough for that. In mode policy it is committed as it
 * is. Rules without a second round do not look at remembered arms.
 *
 * Where AUTO is remembered, nothing better was found: mode bandit explores such a key after
 * NT_WARM_PATIENCE times as many calls as others, mode policy never.
 *
 * Threads:  pure functions.
 * Memory:   the caller's.
 * Errors:   none.
 */
#ifndef NT_WARMSTART_H
#define NT_WARMSTART_H

#include "engine/judge.h"
#include "engine/rule.h"

#define NT_WARM_PATIENCE 20 /* times min_calls */

/* Few calls in so long a time are rare ones of a program that goes on: a sixth of min_calls will do
 * for them, since to wait for all would take minutes. */
#define NT_WARM_RARE_US 20e6
#define NT_WARM_RARE_PART 6

/* Is a remembered arm to be opened with, once the key was called at all? */
bool nt_warm_worth(const struct nt_policy *policy, const struct nt_known *known);

/* Were there enough calls to explore the key, by the rule's rounds? */
bool nt_warm_may_explore(const struct nt_policy *policy, const struct nt_known *known);

/* Is a key called so rarely? */
bool nt_warm_rare(const struct nt_policy *policy, const struct nt_known *known);

/* So many calls of a key, before it is explored. */
uint64_t nt_warm_least_calls(const struct nt_policy *policy, double age_us);

/* Is an arm remembered? Is it faster than AUTO once more? */
nt_judge nt_warm_open, nt_warm_confirm;

#endif
