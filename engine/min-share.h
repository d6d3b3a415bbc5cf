/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* min-share.h - does a key take enough of the communication time to be explored?
 *
 * While a key's calls are only counted, none is measured; NCCL's prediction is used instead. A key
 * that takes next to nothing of the program's communication gains nothing, and its exploration
 * delays others. Small calls over sockets take several times as long as NCCL predicts, so a key is
 * left out only if it is below the share at ten times the prediction.
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
	double of_us; /* the same for all calls of these ranks; 0: not known */
};

/* Does the key take min_share? Yes if unknown. A later answer may differ. */
bool nt_min_share_met(const struct nt_policy *policy, const struct nt_share *share);

#endif
