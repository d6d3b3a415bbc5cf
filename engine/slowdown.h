/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* slowdown.h - has the program's own step become slower, and stayed so? A CUSUM test on the
 * logarithm of the step marker's period
 *
 * The caller tells the time of a call of the step marker at each reading. A window has a power of
 * two of calls, as many as take half a second or more, and begins at the same call on all nodes: so
 * their alarms are at most a window or two apart. The period of a window is its length divided by
 * its calls. The first NT_SLOWDOWN_LEARN windows give the usual period (median) and its deviation.
 * Both then follow slowly, by steps that do not depend on how far a window is off, so that drift
 * does not count. A later window counts by how many deviations it is above the usual one, three at
 * most: a pause of the program alone is no slowdown. Less than 4 percent never counts.
 *
 * An alarm ends the test until it is begun anew, and doubles the limit: what has been looked at
 * need not be looked at again.
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
	uint64_t stride; /* calls of a window; 0: not begun */
	struct nt_marker_call from; /* begin of the open window; calls 0: none is open */
	bool first_window; /* the open window is the first one, and does not count */
	float first[NT_SLOWDOWN_LEARN]; /* logarithms of periods */
	unsigned learnt;
	unsigned alarms;
	double usual, deviation; /* of logarithms */
	double sum;
};

/* Periods so far no longer count: the choices in use have changed, or something is explored. */
void nt_slowdown_end(struct nt_slowdown *s);
/* Learn the usual period anew; it is roughly period_us, above 0. */
void nt_slowdown_begin(struct nt_slowdown *s, double period_us);
/* The newest call. True: an alarm. Nothing where the test has not begun. */
bool nt_slowdown_see(struct nt_slowdown *s, const struct nt_marker_call *newest);

#endif
