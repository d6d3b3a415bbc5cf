/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* fit.h - predict an arm's time at a size from its times at nearby sizes
 *
 * T = latency + bytes / bandwidth for each pair (engine/line.h), fitted to other bands of the
 * same collective and communicator. The baseline's times count for its pair. Two sizes within a
 * factor of 16 suffice, or one within a factor of 2; otherwise there is no prediction.
 *
 * Threads:  pure functions.
 * Memory:   the caller's.
 * Errors:   none; 0: no prediction.
 * Units:    microseconds.
 */
#ifndef NT_FIT_H
#define NT_FIT_H

#include <stdint.h>
#include "contract/coll.h"
#include "engine/history.h"
#include "engine/key-info.h"

#define NT_FIT_POINTS 32 /* points of one pair; more are ignored */

/* Times of one pair, at the lower bounds of bands. */
struct nt_fit {
	unsigned count;
	uint64_t bytes[NT_FIT_POINTS];
	double us[NT_FIT_POINTS];
};

/* Ignores times that are not above 0, and sizes too far from `bytes`. */
void nt_fit_add(struct nt_fit *fit, uint64_t bytes, uint64_t at_bytes, double us);
double nt_fit_us(const struct nt_fit *fit, uint64_t bytes);

/* Predictions for a key's pairs; all 0 without one for the baseline's pair, since they are only
 * compared with each other. histories may be NULL. */
void nt_fit_of(const struct nt_histories *histories, const struct nt_key_info *info,
	       float us[NT_PAIRS]);

#endif
