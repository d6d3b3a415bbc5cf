/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* worth.h - is exploring a key worth it?
 *
 * While calls of a key are only counted, no time of it is measured; what NCCL predicts stands for
 * that. A key whose calls take next to nothing of their program's communication gains nothing by
 * another arm, and its exploration holds others. Small calls over sockets take several times as
 * long as NCCL predicts, so only what would be below the share at ten times the prediction is left
 * out.
 *
 * Threads:  pure functions.
 * Units:    microseconds, since the communicator was opened.
 */
#ifndef NT_WORTH_H
#define NT_WORTH_H

#include <stdbool.h>
#include "contract/policy.h"

struct nt_worth {
	double us; /* calls of the key times the time of one */
	double of_us; /* all calls of the same ranks likewise; 0: not known */
};

/* Does the key take its share (min_share)? Where that is not known, yes. It may come to do so
 * later. */
bool nt_worth_it(const struct nt_policy *policy, const struct nt_worth *worth);

#endif
