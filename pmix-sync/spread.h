/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* spread.h - how the positions of a window are spread over turns (pmix-sync/turn.h): by how a key's
 *            calls lie among the others of its function
 *
 * One cell for the whole window, whose calls are counted, gives each call a position of its own,
 * however irregularly they come. A trail that is shorter than the window takes several cells; those
 * hold as many calls as there are on average. Where tasks and calls of the key do not match (NCCL
 * joins tasks of a group, or another key has the same size band) nothing is counted: every so many
 * turns there is a position, as calls have come on average.
 *
 * Threads:  pure functions.
 * Errors:   none; whatever the numbers are, all ranks follow the plan alike.
 */
#ifndef NT_SYNC_SPREAD_H
#define NT_SYNC_SPREAD_H

#include "contract/board.h"

/* Of a key on one rank, since it was opened. */
struct nt_cadence {
	uint64_t turns, calls;
	uint64_t tasks; /* reported, of the key's function and band */
	uint64_t gap; /* the most turns from one call to the next */
};

/* Stride and cell of a plan with `until` positions, or for good. */
void nt_spread(const struct nt_cadence *c, struct nt_plan *plan);

/* How many turns it takes; NT_NEVER: for good. */
uint64_t nt_spread_turns(const struct nt_plan *plan);

#endif
