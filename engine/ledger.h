/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* ledger.h - what exploring has cost: each call of an arm against AUTO's of the same block
 *
 * A program pauses: for its data, a checkpoint, another phase. A pause falls on some call, and is
 * no cost of the arm that happened to run. So what an arm usually takes longer than AUTO is booked
 * whole, and of its rare slow calls, its stalls, what AUTO's own in the same blocks do not make up
 * for is held back. It is booked, all of it, once the arm stalls more often than AUTO does, or than
 * all others do, beyond chance. What its first call, which connects, takes longer than any of
 * AUTO's is booked too.
 *
 * Threads:  values and pure functions.
 * Memory:   1.5 KiB.
 * Errors:   none; arms beyond NT_LEDGER_ARMS are not booked; neither is a round without AUTO.
 * Units:    microseconds.
 */
#ifndef NT_LEDGER_H
#define NT_LEDGER_H

#include <stdint.h>
#include "engine/schedule.h"

#define NT_LEDGER_ARMS 32 /* AUTO, all pairs, and those refined */

/* Of one arm, against AUTO in the same blocks. */
struct nt_ledger_entry {
	uint16_t arm;
	unsigned samples;
	unsigned stalls, auto_stalls;
	double booked_us, held_us; /* held: may be below 0 */
	double first_us, first_limit_us; /* of the first call of all; where it would be a stall */
};

struct nt_ledger {
	unsigned count;
	struct nt_ledger_entry entry[NT_LEDGER_ARMS]; /* AUTO first */
	double slowest_auto_us; /* AUTO's longest call */
};

/* A round's times, packed as engine/times.h has them, by block and place in the schedule's arm[],
 * of which the first is AUTO. warm_up: blocks at its start in which arms are used first. */
void nt_ledger_add(struct nt_ledger *ledger, const struct nt_schedule *schedule, unsigned warm_up,
		   const uint16_t *packed);

/* What is booked; below 0: exploring saved time. */
double nt_ledger_us(const struct nt_ledger *ledger);

#endif
