/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* marker.h - the program's own steps: how many there were and how long they took, by the step marker,
 * a key that every step calls equally often
 *
 * The caller notes stretches of the process's calls from time to time, and hands them in: each tells
 * what a step calls (engine/period.h). Of these keys the marker is one of the largest communicator's,
 * called least often in a step, whose calls make the fewest steps (others are called in an
 * evaluation, too); then the one with the fewest bytes, the lowest number of the collective and the
 * oldest communicator: the next job must find the same. It is told while more than half of all
 * stretches say so, the open one included.
 *
 * Steps are the marker's calls divided by those of a step, and end with the call that the longest gap
 * follows. While a stretch is open, its calls tell when. Else the caller's periodic readings of the
 * marker's count do, as far as they are between two steps. A window is from one such reading to a later one, with as many steps
 * as usually take NT_MARKER_WINDOW_US; its period is its length divided by its steps. When
 * NT_MARKER_WINDOWS are full, neighbours are merged, and later ones get as many. So windows cover the
 * time since the marker was found in constant memory.
 *
 * A step that readings tell of ended between two of them. A window ends only when this uncertainty is small: the shortest
 * windows are accurate to a twelfth, windows of some seconds to 1 %.
 *
 * Nothing is told with fewer than NT_MARKER_PERIODS windows, if half of them are beyond a factor of
 * 1.5 of their median, and if the marker was not called in the later half of the program's life, as
 * when its calls were captured.
 *
 * Threads:  one at a time.
 * Memory:   value type.
 * Errors:   none.
 * Units:    microseconds of a monotonic clock.
 */
#ifndef NT_MARKER_H
#define NT_MARKER_H

#include <stdbool.h>
#include <stdint.h>
#include "engine/period.h"

#define NT_MARKER_WINDOWS 64
#define NT_MARKER_WINDOW_US 150000u
#define NT_MARKER_PERIODS 4
#define NT_MARKER_VOTES 8 /* different markers that stretches may tell */

/* A key of a communicator. */
struct nt_marker_key {
	uint64_t key; /* nt_key_id(); 0: none */
	uint32_t comm; /* serial number in this process; never reused */
	uint32_t ranks; /* of the communicator */
};

/* A step marker, as a stretch tells it. */
struct nt_marker_vote {
	struct nt_marker_key key;
	uint32_t a_step; /* its calls in a step */
	uint32_t last; /* of its calls' numbers modulo a_step: a step's last */
	double step_us; /* median, of the stretch */
	unsigned votes; /* of ended stretches */
};

/* Number and time of a step's end; the time is uncertain by half of `doubt_us` to either side. */
struct nt_marker_step {
	uint64_t steps, us, doubt_us;
};

bool nt_marker_same(const struct nt_marker_vote *a, const struct nt_marker_vote *b);

/* Initially all zero. */
struct nt_marker {
	struct nt_marker_vote vote[NT_MARKER_VOTES], open; /* open: of the open stretch */
	unsigned stretches; /* that have ended */
	struct nt_marker_vote followed;
	uint64_t begun_us, read_us, called_us; /* first and newest reading; newest call */
	uint64_t calls; /* of the followed key, at the newest reading */
	unsigned timed; /* calls of the open stretch whose times are known */
	bool told; /* more than half of all stretches say so */
	bool counted; /* calls is known */
	bool begun; /* edge[0] is set */
	uint64_t stride; /* least steps of a window */
	struct nt_marker_step newest;
	unsigned windows; /* full ones, from one edge to the next */
	struct nt_marker_step edge[NT_MARKER_WINDOWS + 1];
};

/* A stretch of calls, in time order; again, when it has grown. True: it tells a marker. */
bool nt_marker_note(struct nt_marker *marker, const struct nt_period_call *calls, unsigned count);
/* It grows no more. */
void nt_marker_end(struct nt_marker *marker);

/* The stretch that was last noted, and what came since: its times of steps are exact. Between
 * readings, of which those do not count then. */
void nt_marker_time(struct nt_marker *marker, const struct nt_period_call *calls, unsigned count);

/* A reading. calls: of the followed key so far. */
void nt_marker_read(struct nt_marker *marker, uint64_t now_us, uint64_t calls);

/* Time to the next reading. Grows with the program's life. */
uint64_t nt_marker_rest_us(const struct nt_marker *marker);

struct nt_marker_found {
	struct nt_marker_key key;
	uint32_t a_step; /* its calls in a step */
	uint64_t steps;
	unsigned periods;
	double period_us[NT_MARKER_WINDOWS]; /* of a step; in time order */
};

/* The program's steps at the newest reading. False: they are not known. */
bool nt_marker_find(const struct nt_marker *marker, struct nt_marker_found *found);

/* Their median period. 0: not known. */
double nt_marker_step_us(const struct nt_marker *marker);

#endif
