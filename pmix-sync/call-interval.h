/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* call-interval.h - has a key not been called for long, compared with how often it is called?
 *
 * Calls come in bursts, such as a program's steps, with pauses in between. A key is idle after
 * several of its longest pauses. Each process and each node decides for itself: the result only
 * changes when it stops measuring, listening or waiting, never what a plan says.
 *
 * Threads:  values, pure functions.
 * Units:    milliseconds.
 */
#ifndef NT_SYNC_CALL_INTERVAL_H
#define NT_SYNC_CALL_INTERVAL_H

#include <stdint.h>

#define NT_CALL_INTERVAL_MAX_MS 300000u /* limit of the longest pause */

struct nt_call_interval {
	uint64_t calls, called_ms; /* call count, and when it last changed */
	uint64_t pause_ms; /* longest recent time between two calls */
};

/* Note the current number of calls; call often. The longest pause shrinks by 1/64 of the time that
 * passes. */
static inline void nt_call_interval_see(struct nt_call_interval *interval, uint64_t calls,
					uint64_t now_ms)
{
	const uint64_t pause_ms = now_ms - interval->called_ms;
	uint64_t known_ms = interval->pause_ms;

	if (calls == interval->calls)
		return;
	if (interval->calls != 0) {
		known_ms -= known_ms < pause_ms / 64 ? known_ms : pause_ms / 64;
		known_ms = pause_ms > known_ms ? pause_ms : known_ms;
	}
	interval->pause_ms = known_ms < NT_CALL_INTERVAL_MAX_MS ? known_ms
								: NT_CALL_INTERVAL_MAX_MS;
	interval->calls = calls;
	interval->called_ms = now_ms;
}

/* This many longest pauses, or least_ms if that is more. */
static inline uint64_t nt_call_interval_ms(const struct nt_call_interval *interval, unsigned pauses,
					   uint64_t least_ms)
{
	const uint64_t ms = pauses * interval->pause_ms;

	return ms > least_ms ? ms : least_ms;
}

#endif
