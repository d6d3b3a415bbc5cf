/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* rhythm.h - when a key is quiet for long: by its own calls, not by a number of seconds alone
 *
 * Calls come in bursts with pauses between them, as a program's steps are. What is long for a key
 * is many of its pauses. Each process and each node looks for itself: what comes of it is when
 * somebody stops to measure, to listen or to wait, never what a plan says.
 *
 * Threads:  values, pure functions.
 * Units:    milliseconds.
 */
#ifndef NT_SYNC_RHYTHM_H
#define NT_SYNC_RHYTHM_H

#include <stdint.h>

#define NT_RHYTHM_MAX_MS 300000u /* pauses are not taken to be longer */

struct nt_rhythm {
	uint64_t calls, called_ms; /* and when that last changed */
	uint64_t pause_ms; /* the longest of late from one call to the next */
};

/* So many calls by now; read often. The longest pause is forgotten as 64 times its length goes
 * by. */
static inline void nt_rhythm_see(struct nt_rhythm *rhythm, uint64_t calls, uint64_t now_ms)
{
	const uint64_t pause_ms = now_ms - rhythm->called_ms;
	uint64_t known_ms = rhythm->pause_ms;

	if (calls == rhythm->calls)
		return;
	if (rhythm->calls != 0) {
		known_ms -= known_ms < pause_ms / 64 ? known_ms : pause_ms / 64;
		known_ms = pause_ms > known_ms ? pause_ms : known_ms;
	}
	rhythm->pause_ms = known_ms < NT_RHYTHM_MAX_MS ? known_ms : NT_RHYTHM_MAX_MS;
	rhythm->calls = calls;
	rhythm->called_ms = now_ms;
}

/* So many pauses, and at least so long. */
static inline uint64_t nt_rhythm_ms(const struct nt_rhythm *rhythm, unsigned pauses,
				    uint64_t least_ms)
{
	const uint64_t ms = pauses * rhythm->pause_ms;

	return ms > least_ms ? ms : least_ms;
}

#endif
