/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* warmstart.h - use an arm that an earlier step found faster than the baseline
 *
 * Mode bandit compares it with the baseline in a second round, without a first one, and commits it
 * if it passes the gates for one arm and one look. If not, the key is explored as if nothing
 * was remembered, or keeps the baseline if it is not called often enough. Mode policy commits it
 * untested.
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

#define NT_WARM_BASELINE_FACTOR 20 /* times min_calls */

/* Keys with few calls in this time are called rarely, and need only a sixth of min_calls: all would
 * take minutes. */
#define NT_WARM_RARE_US 20e6
#define NT_WARM_RARE_PART 6

/* Open the key with its remembered arm, at its first call? */
bool nt_warm_may_open(const struct nt_policy *policy, const struct nt_key_info *info);

/* Are there enough calls for both rounds? */
bool nt_warm_may_explore(const struct nt_policy *policy, const struct nt_key_info *info);

/* Is a key called so rarely? */
bool nt_warm_rare(const struct nt_policy *policy, const struct nt_key_info *info);

/* Least calls of a key before it is explored. */
uint64_t nt_warm_least_calls(const struct nt_policy *policy, double age_us);

nt_judge nt_warm_open, nt_warm_confirm;

#endif
