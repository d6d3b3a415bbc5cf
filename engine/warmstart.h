/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* warmstart.h - use of an arm that an earlier step found faster than the baseline
 *
 * Mode bandit compares it with the baseline in one second round, without a first one, and commits
 * it if it passes the rule's gates, corrected for only one arm and one look. If it fails, it is
 * dropped: the key is explored as if nothing was remembered, or keeps the baseline if it is not
 * called often enough. Mode policy commits it without a test. Rules without a second round ignore
 * remembered arms.
 *
 * If the baseline is remembered, nothing better was found: mode bandit explores such a key only
 * after NT_WARM_BASELINE_FACTOR times as many calls, mode policy never.
 *
 * Threads:  pure functions.
 * Memory:   the caller's.
 * Errors:   none.
 */
#ifndef NT_WARMSTART_H
#define NT_WARMSTART_H

#include "engine/judge.h"
#include "engine/rule.h"

#define NT_WARM_BASELINE_FACTOR 20 /* times min_calls */

/* A key with few calls in this time is called rarely: a sixth of min_calls suffices, since waiting
 * for all would take minutes. */
#define NT_WARM_RARE_US 20e6
#define NT_WARM_RARE_PART 6

/* Open the key with its remembered arm, as soon as it was called? */
bool nt_warm_may_open(const struct nt_rule *rule, const struct nt_policy *policy,
		      const struct nt_key_info *info);

/* Are there enough calls to explore the key by the rule's rounds? */
bool nt_warm_may_explore(const struct nt_rule *rule, const struct nt_policy *policy,
			 const struct nt_key_info *info);

/* Is a key called so rarely? */
bool nt_warm_rare(const struct nt_policy *policy, const struct nt_key_info *info);

/* Calls of a key before it is explored. */
uint64_t nt_warm_least_calls(const struct nt_policy *policy, double age_us);

/* Is there a remembered arm? Is it faster than the baseline again? */
nt_judge nt_warm_open, nt_warm_confirm;

#endif
