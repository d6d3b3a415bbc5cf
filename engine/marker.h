/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* marker.h - the program's own steps: how many there were and how long they took, by the step
 * marker, a key that every step calls equally often
 *
 * The caller notes stretches of the process's calls from time to time, and hands them in: each
 * tells what a step calls (engine/period.h). Of these keys the marker is one of the largest
 * communicator's, called least often in a step, whose calls make the fewest steps (others are
 * called in an evaluation, too); then the one with the fewest bytes, the lowest number of the
 * collective and the oldest communicator: the next job must find the same. It is told while more
 * than half of all stretches say so, the open one included.
 *
 * Steps are the marker's calls divided by those of a step, and end with the call that the longest
 * gap follows. Their number is known from the caller's readings of the marker's count, their times
 * from stretches: of each the medians of up to NT_MARKER_TIMES parts. Periods stand for equal
 * parts of the time since the first such stretch began: each is a step's time, of the stretch
 * nearest before it that has ended, or that it is in.
 *
 * Nothing is told if half of the periods are beyond a factor of 1.5 of their median, and if the
 * marker was not called in the later half of the program's life, as when its calls were captured.
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

#define NT_MARKER_PERIODS 64
#define NT_MARKER_STRETCHES 64 /* of which times are kept; the newest ones */
#define NT_MARKER_TIMES 64
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
	unsigned votes; /* of ended stretches */
};

/* Times of a stretch's steps, in their order; of many, medians of parts. */
struct nt_marker_times {
	struct nt_marker_key key;
	uint32_t a_step;
	uint64_t begun_us, ended_us;
	unsigned count;
	float us[NT_MARKER_TIMES];
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
	bool told; /* more than half of all stretches say so */
	bool counted; /* calls is known */
	struct nt_marker_step newest; /* that a reading told of */
	unsigned timed; /* stretches with times */
	struct nt_marker_times times[NT_MARKER_STRETCHES];
};

/* A stretch of calls, in time order; again, when it has grown. comm: look at this communicator
 * alone (in a process with several ranks, whose calls come in any order); 0: at all. */
void nt_marker_note(struct nt_marker *marker, const struct nt_period_call *calls, unsigned count,
		    uint32_t comm);
/* It grows no more. */
void nt_marker_end(struct nt_marker *marker);

/* A reading. calls: of the followed key so far. */
void nt_marker_read(struct nt_marker *marker, uint64_t now_us, uint64_t calls);

/* Time to the next reading. Grows with the program's life. */
uint64_t nt_marker_rest_us(const struct nt_marker *marker);

struct nt_marker_found {
	struct nt_marker_key key;
	uint32_t a_step; /* its calls in a step */
	uint64_t steps;
	unsigned periods;
	double period_us[NT_MARKER_PERIODS]; /* of a step; in time order */
};

/* The program's steps at the newest reading. False: they are not known. */
bool nt_marker_find(const struct nt_marker *marker, struct nt_marker_found *found);

/* Their median period. 0: not known. */
double nt_marker_step_us(const struct nt_marker *marker);

#endif
