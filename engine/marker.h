/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* marker.h - find the step marker, the key called once per training step, and the times between its
 * calls: the steady key with the fewest calls of the largest communicator
 *
 * The caller reads all keys' call counts periodically and reports them. A window is from one call
 * of a key to a later one, at least NT_MARKER_WINDOW_US long; its period is its length divided by
 * its calls. When NT_MARKER_WINDOWS of a key are full, neighbours are merged, and later ones get as
 * long. So windows cover the key's whole life in constant memory, from its second call on.
 *
 * A call was made between two readings. A window ends only when this uncertainty is small: the
 * shortest windows are accurate to a twelfth, windows of some seconds to 1 %.
 *
 * A key is steady if windows with a period within a factor of 1.5 of its median cover an eighth of
 * the time since the first call of any key, and three quarters of what the steadiest key's cover,
 * and if it is called in the later half of that time. This excludes keys that are called only at
 * start and end, in bursts longer than their windows, before calls were captured, or in a side
 * phase of the program. At least NT_MARKER_PERIODS are needed.
 *
 * Rarely called keys (for logging, or evaluation) lose to a steady key with more calls: less than
 * one call in NT_MARKER_RARE_US, fewer than NT_MARKER_FEW, or fewer than NT_MARKER_CALLS and less
 * than one in NT_MARKER_SLOW_US. Of keys with equally many calls, within an eighth, the one with
 * the fewest bytes is taken, then by number of the collective, then by age of the communicator: the
 * next job must find the same.
 *
 * Threads:  one at a time.
 * Memory:   about 1 KiB per key on the heap, until nt_marker_clear(); at most NT_MARKER_KEYS keys.
 *           With more, those of the smallest communicators, and those idle for half of the time,
 *           are dropped.
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

/* The caller's, for each key; initially all zero. */
struct nt_marker_place {
	uint64_t calls; /* number of calls at the newest reading */
	uint32_t track; /* 0: none */
};

struct nt_marker_track;

/* Initially all zero. */
struct nt_marker {
	struct nt_marker_track *track[NT_MARKER_KEYS];
	unsigned tracks;
	/* newest reading, and the one before; 0: none */
	uint64_t read_us, before_us;
	uint64_t begun_us, called_us; /* first and newest reading with a call */
	uint32_t full; /* ranks of a communicator that found no room in this reading */
};

struct nt_marker_found {
	struct nt_marker_key key;
	uint64_t calls;
	unsigned periods;
	double period_us[NT_MARKER_WINDOWS]; /* in time order */
};

/* Begin a reading: then call nt_marker_see() for each key. */
void nt_marker_read(struct nt_marker *marker, uint64_t now_us);
void nt_marker_see(struct nt_marker *marker, const struct nt_marker_key *key,
		   struct nt_marker_place *place, uint64_t calls);

/* Time to the next reading. Grows with the program's life, and while nothing is called. UINT64_MAX:
 * nothing ever was. */
uint64_t nt_marker_rest_us(const struct nt_marker *marker);

/* Number and time of a call; the time is uncertain by half of `doubt_us` to either side. */
struct nt_marker_call {
	uint64_t calls, us, doubt_us;
};

/* False: the key is not followed. */
bool nt_marker_newest(const struct nt_marker *marker, const struct nt_marker_key *key,
		      struct nt_marker_call *call);

/* The step marker at the newest reading. False: none. */
bool nt_marker_find(const struct nt_marker *marker, struct nt_marker_found *found);

/* Its median period, and the key. 0: none. */
double nt_marker_step_us(const struct nt_marker *marker, struct nt_marker_key *key);

void nt_marker_clear(struct nt_marker *marker);

#endif
