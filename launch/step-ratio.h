/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* step-ratio.h - were the program's own steps slower with a launch profile?
 *
 * The step marker's period is the time of the program's own step and has all effects of a profile.
 * A step of a job is one sample, its median period: its periods share what distinguishes it from
 * the next step of a job.
 *
 * Threads:  pure.
 * Memory:   nothing is allocated.
 * Errors:   none; without steps on both sides nothing is known.
 * Units:    ratios as fractions of 1; seconds since 1970.
 */
#ifndef NT_STEP_RATIO_H
#define NT_STEP_RATIO_H

#include "launch/memory.h"

#define NT_STEPS_PERIODS 8 /* of a step, at least */

struct nt_step_ratio {
	bool known;
	double ratio; /* period with the profile to period with the default */
	bool slower; /* by more than noise, in all steps or in the newest */
	int64_t when_s; /* of the newest step with the profile */
};

/* Steps of where's program at its place that have the marker of the newest one with the profile. */
struct nt_step_ratio nt_step_ratio(const struct nt_memory *memory, const struct nt_where *where,
				   const char *profile);

#endif
