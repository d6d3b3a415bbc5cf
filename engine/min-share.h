/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* min-share.h - does a key take enough of the communication time to be explored?
 *
 * Calls that are only counted are not measured, so NCCL's prediction is used. A key that takes
 * next to nothing of the communication gains nothing, and its exploration delays others. Small
 * calls over sockets take several times as long as predicted, so a key is left out only if ten
 * times its prediction is below the share.
 *
 * Threads:  pure functions.
 * Units:    microseconds, since the communicator was opened.
 */
#ifndef NT_MIN_SHARE_H
#define NT_MIN_SHARE_H

#include <stdbool.h>
#include "contract/policy.h"

struct nt_share {
	double us; /* calls of the key times the time of one */
	double of_us; /* of all calls of these ranks; 0: not known */
};

/* Yes if unknown. The answer may change. */
bool nt_min_share_met(const struct nt_policy *policy, const struct nt_share *share);

#endif
