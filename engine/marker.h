/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* marker.h - find the step marker: the steady key with the fewest calls of the largest
 * communicator, called once per training step, and the times between its calls
 *
 * The caller reads all keys' call counts periodically and reports them. A window spans from one
 * call of a key to a later one and is at least NT_MARKER_WINDOW_US long; its period is its length
 * divided by its calls. At most NT_MARKER_WINDOWS are kept per key: when they are full, neighbours
 * are merged, and later ones get as long. So windows cover the whole life of the key in constant
 * memory. Time before a key's second call is in no window.
 *
 * The time of a call is only known to lie between two readings. A window ends only when this
 * uncertainty is small relative to its length: the shortest windows are accurate to a twelfth,
 * windows of some seconds to 1 %.
 *
 * A key is steady if windows whose period is within a factor of 1.5 of the key's median cover an
 * eighth of the time since the first call of any key, and three quarters of what those of the
 * steadiest key cover, and if it is called in the later half of that time. So keys are not steady
 * that are called only at start and end, in bursts longer than their windows, before the program's
 * calls were captured, or in a phase of the program that is not the main one. At least
 * NT_MARKER_PERIODS are needed.
 *
 * Rarely called keys (for logging, or evaluation) lose to a steady key with more calls: keys with
 * less than one call in NT_MARKER_RARE_US, with fewer than NT_MARKER_FEW calls, or with fewer than
 * NT_MARKER_CALLS and less than one in NT_MARKER_SLOW_US. Among keys with equally many calls,
 * within one in eight, the one with the fewest bytes is taken, then by number of the collective,
 * then by age of the communicator: the next job must find the same.
 *
 * Threads:  one at a time.
 * Memory:   about 1 KiB per key on the heap, until nt_marker_clear(); at most NT_MARKER_KEYS keys.
 *           If there are more, keys of the smallest communicators, and those idle for half of the
 *           time, are dropped.
 * Errors:   without memory a key is ignored.
 * Units:    microseconds of a monotonic clock.
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
	uint32_t comm; /* serial number in this process; never reused */
	uint32_t ranks; /* of the communicator */
};

/* Kept by the caller for each key; initially all zero. */
struct nt_marker_place {
	uint64_t calls; /* number of calls at the newest reading */
	uint32_t track; /* 0: none */
};

struct nt_marker_track;

/* Initially all zero. */
struct nt_marker {
	struct nt_marker_track *track[NT_MARKER_KEYS];
	unsigned tracks;
	/* times of the newest reading and of the one before; 0: none */
	uint64_t read_us, before_us;
	uint64_t begun_us, called_us; /* times of the first and the newest reading with a call */
	uint32_t full; /* ranks of a communicator for which this reading had no room */
};

struct nt_marker_found {
	struct nt_marker_key key;
	uint64_t calls;
	unsigned periods;
	double period_us[NT_MARKER_WINDOWS]; /* in time order */
};

/* Begin a reading; then call nt_marker_see() once for each key. */
void nt_marker_read(struct nt_marker *marker, uint64_t now_us);
void nt_marker_see(struct nt_marker *marker, const struct nt_marker_key *key,
		   struct nt_marker_place *place, uint64_t calls);

/* Time until the next reading; grows with the program's life, as windows do, and while nothing is
 * called. UINT64_MAX: nothing was ever called. */
uint64_t nt_marker_rest_us(const struct nt_marker *marker);

/* A call of a key: its number, and its time, plus or minus half of `doubt_us`. */
struct nt_marker_call {
	uint64_t calls, us, doubt_us;
};

/* The newest call of a key. False: it is not followed. */
bool nt_marker_newest(const struct nt_marker *marker, const struct nt_marker_key *key,
		      struct nt_marker_call *call);

/* The step marker at the newest reading. False: none. */
bool nt_marker_find(const struct nt_marker *marker, struct nt_marker_found *found);

/* Median period of the step marker, and which key it is. 0: none. */
double nt_marker_step_us(const struct nt_marker *marker, struct nt_marker_key *key);

void nt_marker_clear(struct nt_marker *marker);

#endif
