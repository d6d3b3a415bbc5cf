/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* slowdown.h - has the program's own step become slower, for good? A CUSUM test on the logarithm
 * of the steps' period
 *
 * At each reading the caller tells the newest step's end. A window has a power of two of steps,
 * half a second or more, and begins at the same step on all nodes, or at one beside it: their
 * alarms are a window or two apart at most. A window's period is its length divided by its steps.
 * The first NT_SLOWDOWN_LEARN windows give the usual period (median) and its deviation. Both
 * follow slowly, by steps that do not depend on how far a window is off, so that drift does not
 * count. A later window counts by its deviations above the usual period, three at most: a single
 * pause is no slowdown. Less than 4 percent never counts.
 *
 * An alarm ends the test until it is begun anew, and doubles the limit.
 *
 * Threads:  value type; pure functions.
 * Memory:   the caller's; nothing on the heap.
 * Errors:   none.
 * Units:    microseconds of a monotonic clock.
 */
#ifndef NT_SLOWDOWN_H
#define NT_SLOWDOWN_H

#include <stdbool.h>
#include "engine/marker.h"

#define NT_SLOWDOWN_LEARN 16
#define NT_SLOWDOWN_WINDOW_US 500000u

/* Initially zero. */
struct nt_slowdown {
	uint64_t stride; /* steps of a window; 0: not begun */
	struct nt_marker_step from; /* where the open window began; steps 0: none is open */
	bool first_window; /* the open window is the first, which does not count */
	float first[NT_SLOWDOWN_LEARN]; /* logarithms of periods */
	unsigned learnt;
	unsigned alarms;
	double usual, deviation; /* of logarithms */
	double sum;
};

/* Forget all periods: choices have changed, or something is explored. */
void nt_slowdown_end(struct nt_slowdown *s);
/* Learn the usual period anew; period_us, above 0, is roughly that. */
void nt_slowdown_begin(struct nt_slowdown *s, double period_us);
/* The newest step. True: an alarm. No effect before the test has begun. */
bool nt_slowdown_see(struct nt_slowdown *s, const struct nt_marker_step *newest);

#endif
