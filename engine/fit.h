/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* fit.h - how long an arm is expected to take at a size, by what it took at sizes nearby
 *
 * T = latency + bytes / bandwidth for each pair (contract/line.h), through what was measured in
 * other bands of the same collective and communicator. AUTO's times are those of the pair that it
 * was there. Two sizes within a factor of 16 are enough, or one within a factor of 2; else nothing
 * is expected.
 *
 * Threads:  pure functions.
 * Memory:   the caller's.
 * Errors:   none; 0 stands for no expectation.
 * Units:    microseconds.
 */
#ifndef NT_FIT_H
#define NT_FIT_H

#include <stdint.h>
#include "contract/coll.h"
#include "engine/history.h"
#include "engine/known.h"

#define NT_FIT_POINTS 32 /* of one pair; more are not looked at */

/* Times of one pair, by the floors of their bands. */
struct nt_fit {
	unsigned count;
	uint64_t bytes[NT_FIT_POINTS];
	double us[NT_FIT_POINTS];
};

/* What is no time (not above 0), or of a size too far from `bytes`, is left out. */
void nt_fit_add(struct nt_fit *fit, uint64_t bytes, uint64_t at_bytes, double us);
double nt_fit_us(const struct nt_fit *fit, uint64_t bytes);

/* Of all pairs of a key; all 0 where AUTO's own pick has no expectation, since times are only
 * compared with times. histories may be NULL. */
void nt_fit_of(const struct nt_histories *histories, const struct nt_known *known,
	       float us[NT_PAIRS]);

#endif
