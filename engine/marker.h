/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* marker.h - the step marker: the steady key with the fewest calls of the largest communicator,
 *            once a training step, and how long the program took from one call of it to the next
 *
 * Somebody reads all keys' counts of calls now and then and says what it saw. A window goes from
 * one call of a key to a later one and is at least NT_MARKER_WINDOW_US long; its period is its
 * length by its calls. At most NT_MARKER_WINDOWS are kept of a key: when that many are full,
 * neighbours become one, and later ones get as long. So they are spread over the whole life of the
 * key, and what is kept does not grow. What came before a key's second call is in no window.
 *
 * When a call was is known no better than between two readings. A window ends only where that is
 * little against its length, so that the shortest are right to a twelfth; those of some seconds are
 * to 1 %.
 *
 * What is steady: windows whose period is within a factor of 1.5 of the median of their key's take
 * an eighth of the time since the first call of any key, and three quarters of what those of the
 * steadiest key take; and in the later half of that time the key is called. So a key is not steady
 * that is called at the start and at the end, in bursts that are longer than its windows, before
 * the program's calls were captured, or in a phase of the program that is not the main one. At
 * least NT_MARKER_PERIODS are needed.
 *
 * What is rare (a line in a log, an evaluation) gives way to a steady key with more calls: a key
 * with less than one call in NT_MARKER_RARE_US, with fewer than NT_MARKER_FEW calls, or with fewer
 * than NT_MARKER_CALLS and less than one in NT_MARKER_SLOW_US. Of keys that are called equally
 * often, but for one call in eight, the one with the fewest bytes is taken, then by number of the
 * collective, then by age of the communicator: the next job must find the same.
 *
 * Threads:  one at a time.
 * Memory:   some 1 KiB a key on the heap, until nt_marker_clear(); at most NT_MARKER_KEYS keys.
 *           When there are more, those of the smallest communicators and those that were silent
 *           for half of the time go.
 * Errors:   without memory a key is not looked at.
 * Units:    microseconds of a clock that never goes back.
 */
#ifndef NT_MARKER_H
#define NT_MARKER_H

#include <stdbool.h>
#include <stdint.h>

#define NT_MARKER_WINDOWS 64
#define NT_MARKER_WINDOW_US 100000u
#define NT_MARKER_KEYS 256
#define NT_MARKER_PERIODS 4
#define NT_MARKER_FEW 8
#define NT_MARKER_CALLS 32
#define NT_MARKER_SLOW_US 2000000u
#define NT_MARKER_RARE_US 30000000u

/* A key of a communicator. */
struct nt_marker_key {
	uint64_t key; /* nt_key_id() */
	uint32_t comm; /* of this process, the oldest first; never used twice */
	uint32_t ranks; /* of the communicator */
};

/* What the caller keeps beside each key; all zero at first. */
struct nt_marker_place {
	uint64_t calls; /* at the newest reading */
	uint32_t track; /* 0: none */
};

struct nt_marker_track;

/* All zero at first. */
struct nt_marker {
	struct nt_marker_track *track[NT_MARKER_KEYS];
	unsigned tracks;
	uint64_t read_us, before_us; /* the newest reading, and the one before; 0: there is none */
	uint64_t begun_us, called_us; /* the first reading with a call, and the newest such */
	uint32_t full; /* in this reading there was no room for a communicator of so many ranks */
};

struct nt_marker_found {
	struct nt_marker_key key;
	uint64_t calls;
	unsigned periods;
	double period_us[NT_MARKER_WINDOWS]; /* in time order */
};

/* A reading, which is to see all keys: after this one call of nt_marker_see() each. */
void nt_marker_read(struct nt_marker *marker, uint64_t now_us);
void nt_marker_see(struct nt_marker *marker, const struct nt_marker_key *key,
		   struct nt_marker_place *place, uint64_t calls);

/* How long may pass until the next reading; it grows with the program's life, as windows do, and
 * while nothing is called. UINT64_MAX: nothing ever was. */
uint64_t nt_marker_rest_us(const struct nt_marker *marker);

/* The step marker as of the newest reading. False: there is none. */
bool nt_marker_find(const struct nt_marker *marker, struct nt_marker_found *found);

void nt_marker_clear(struct nt_marker *marker);

#endif
