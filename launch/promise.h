/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* promise.h - which profiles are worth a step to try, and in which order
 *
 * Of a profile that was never measured here something may be known all the same: it was measured
 * with another NCCL or driver, or with other numbers of nodes or ranks; or profiles whose variables
 * are near to its own were measured. The nearer, the more they say of it.
 *
 * Threads:  pure.
 * Memory:   heap while the function runs.
 * Errors:   -1 only if memory runs out.
 */
#ifndef NT_LAUNCH_PROMISE_H
#define NT_LAUNCH_PROMISE_H

#include "launch/choice.h"

/* Sets promise and open of all that out weighs, and the order of candidates in out->next. */
int nt_promise(const struct nt_launch_case *launch, const struct nt_mix *mix,
	       const struct nt_launch_limits *limits, struct nt_launch_choice *out);

/* In doublings, how far apart two sets are: of what NCCL opens and holds, not of what is spelt.
 * What is not set counts as NCCL's usual value. */
double nt_settings_distance(const struct nt_settings *a, const struct nt_settings *b);

#endif
