/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* choose.h - which launch profile a step gets, and why
 *
 * One pure function of what is remembered. Nothing is decided for long: before each launch it is
 * all decided anew, from the steps of this job so far, the user's memory and the site's.
 *
 *   A profile is used if its gain on the job's mix is beyond noise and worth it, or if the program
 *   itself felt it faster; and never where the program felt it slower in this job, or twice.
 *   The first step of a job (perhaps its only one) uses only what was calibrated here or has won in
 *   three distinct jobs. One task in ten of an array keeps the default, as control.
 *   A job that begins with a calibrated profile that no program has felt yet runs its fourth step
 *   with the default, once, so that the two can be compared.
 *   A job with several steps tries what nothing is known of: the default first, then one candidate
 *   a step in the order of promise, until the candidates are through or none can win. After two it
 *   uses what it knows for a step before each further one. Where a calibration was made none is
 *   tried.
 *   A job that began with a profile measures the default next if the step was not faster than the
 *   default is remembered to be.
 *
 * Threads:  pure.
 * Memory:   heap while the function runs; the choice is a value.
 * Errors:   -1 only if memory runs out; the choice is then the default.
 * Units:    ratios, gains, shares and p as fractions of 1; seconds since 1970.
 */
#ifndef NT_LAUNCH_CHOOSE_H
#define NT_LAUNCH_CHOOSE_H

#include "launch/choice.h"

void nt_launch_limits_default(struct nt_launch_limits *limits);

/* out->chosen points into *out: choices are not to be copied. */
int nt_choose(const struct nt_launch_case *launch, const struct nt_launch_limits *limits,
	      struct nt_launch_choice *out);

#endif
