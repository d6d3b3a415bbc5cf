/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* pace.h - how many rounds fit into some seconds, for ranks that share no memory
 *
 * Rank 0 looks at its clock in rounds 2, 4, 8, ... and tells the others what comes of it; so there
 * are few looks, and none more once the end is near enough to be known.
 *
 * Threads:  pure.
 * Memory:   a value.
 * Errors:   none.
 * Units:    rounds; seconds since the first of them.
 */
#ifndef NT_BENCH_PACE_H
#define NT_BENCH_PACE_H

#include <stdbool.h>
#include <stdint.h>

#define NT_PACE_UNKNOWN INT32_MAX

struct nt_pace {
	double seconds, last_seconds; /* of all rounds before the last part, and of that */
	int check; /* the next round to look in */
	int seen; /* the one before, and when that was */
	double seen_s;
	/* What all ranks must know: rounds from which on the last part is played, and none is. */
	int32_t plan[2];
};

void nt_pace_init(struct nt_pace *pace, double seconds, double last_seconds);

/* Is this a round to look in? The same on all ranks, where all have the plan. */
bool nt_pace_due(const struct nt_pace *pace, int round);

/* Rank 0, in such a round: what is known by now goes into plan. */
void nt_pace_look(struct nt_pace *pace, int round, double elapsed_s);

/* Every rank, in such a round, once it has rank 0's plan. */
void nt_pace_told(struct nt_pace *pace, int round);

#endif
