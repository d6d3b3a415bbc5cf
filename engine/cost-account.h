/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* cost-account.h - the cost of exploring: each call of an arm against the baseline's of the same
 * block
 *
 * Programs pause: for data, a checkpoint, another phase. A pause falls on an arbitrary call and is
 * no cost of the arm that happened to run. So an arm's usual excess over the baseline is booked in
 * full, while the excess of its rare slow calls (stalls) over the baseline's stalls in the same
 * blocks is held back, and booked only once the arm stalls significantly more often than the
 * baseline or than all other arms. The excess of its first call, which connects, over the
 * baseline's longest call is booked too.
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

/* One arm, against the baseline in the same blocks. */
struct nt_cost_account_entry {
	uint16_t arm;
	unsigned samples;
	unsigned stalls, baseline_stalls;
	double booked_us, held_us; /* held_us may be negative */
	/* of the very first call; above first_limit_us it is a stall */
	double first_us, first_limit_us;
};

struct nt_cost_account {
	unsigned count;
	struct nt_cost_account_entry entry[NT_COST_ACCOUNT_ARMS]; /* the baseline first */
	double slowest_baseline_us; /* the baseline's longest call */
};

/* A round's times as packed by engine/times.h, by block and position in the schedule's arm[], whose
 * first is the baseline. warm_up: blocks at its start in which arms are used for the first time. */
void nt_cost_account_add(struct nt_cost_account *account, const struct nt_schedule *schedule,
			 unsigned warm_up, const uint16_t *packed);

/* The booked cost; below 0: exploring saved time. */
double nt_cost_account_us(const struct nt_cost_account *account);

#endif
