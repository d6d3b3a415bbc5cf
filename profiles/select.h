/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* select.h - which launch profile a step gets, and why
 *
 * A pure function of the memories. Steps are no experiments: a step gets NCCL's default settings or
 * a profile that was measured at this place and was faster. Each launch decides anew, from this
 * job's earlier steps, the user's memory and the site's.
 *
 *   - A profile is used if its gain for the program's mix of calls is significant and large enough,
 *     or if the program's own steps were faster with it.
 *   - It is not used if they were slower in this job or twice in earlier jobs, or if it gave wrong
 *     results on this hardware.
 *   - The measurements must be a calibration at this place, steps of this job, or steps of three
 *     jobs.
 *   - If a step with a profile was slower than the default's earlier steps, the default is measured
 *     again.
 *
 * Threads:  pure.
 * Memory:   heap while the function runs; the choice is a value.
 * Errors:   -1 only if memory runs out; the choice is then the default.
 * Units:    ratios, gains, shares and p as fractions of 1; seconds since 1970.
 */
#ifndef NT_LAUNCH_CHOOSE_H
#define NT_LAUNCH_CHOOSE_H

#include "profiles/choice.h"

/* NULL: it has none of that name. */
const struct nt_candidate *nt_choice_find(const struct nt_launch_choice *choice,
					  const char *profile);

/* out->chosen points into *out: do not copy a choice. */
int nt_select(const struct nt_launch_case *launch, struct nt_launch_choice *out);

#endif
