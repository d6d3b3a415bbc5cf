/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* cost-account.h - the cost of exploring: each call of an arm against the baseline's in its block
 *
 * Programs pause: for data, a checkpoint, another phase. A pause hits some call, and is no cost of
 * its arm. So an arm's usual excess over the baseline is booked in full; the excess of its rare
 * slow calls (stalls) over the baseline's stalls is held back until the arm stalls significantly
 * more often than the baseline or than all other arms. The first call connects: its excess over the
 * baseline's longest call is booked, too.
 *
 * Threads:  values and pure functions.
 * Memory:   1.5 KiB.
 * Errors:   none; arms beyond NT_COST_ACCOUNT_ARMS, and rounds without the baseline, are not
 *           booked.
 * Units:    microseconds.
 */
#ifndef NT_COST_ACCOUNT_H
#define NT_COST_ACCOUNT_H

#include <stdint.h>
#include "engine/schedule.h"

#define NT_COST_ACCOUNT_ARMS 32 /* the baseline, all pairs, and refined arms */

/* One arm and the baseline in the same blocks. */
struct nt_cost_account_entry {
	uint16_t arm;
	unsigned samples;
	unsigned stalls, baseline_stalls;
	double booked_us, held_us; /* held_us may be negative */
	/* of its first call; above first_limit_us it is a stall */
	double first_us, first_limit_us;
};

struct nt_cost_account {
	unsigned count;
	struct nt_cost_account_entry entry[NT_COST_ACCOUNT_ARMS]; /* the baseline first */
	double slowest_baseline_us; /* longest call */
};

/* Add a round's times, packed by block and arm (engine/times.h); arm[0] is the baseline. In the
 * warm-up arms connect. */
void nt_cost_account_add(struct nt_cost_account *account, const struct nt_schedule *schedule,
			 const uint16_t *packed);

/* The booked cost; below 0: exploring saved time. */
double nt_cost_account_us(const struct nt_cost_account *account);

#endif
