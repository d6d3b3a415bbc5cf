/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* pace.h - how many iterations fit into a number of seconds
 *
 * Rank 0 reads its clock in iterations 2, 4, 8, ... and sends its plan to the others, until the
 * last iteration is known.
 *
 * Threads:  pure.
 * Memory:   a value.
 * Errors:   none.
 * Units:    iterations; seconds since the first of them.
 */
#ifndef NT_BENCH_PACE_H
#define NT_BENCH_PACE_H

#include <stdbool.h>
#include <stdint.h>

#define NT_PACE_UNKNOWN INT32_MAX

struct nt_bench_pace {
	double seconds, last_seconds; /* before the last part, and of the last part */
	int check; /* iteration in which to read the clock next */
	int seen; /* the previous one, and its time */
	double seen_s;
	/* What all ranks must know: the first iteration of the last part; the end. */
	int32_t plan[2];
};

void nt_pace_init(struct nt_bench_pace *pace, double seconds, double last_seconds);

/* Does rank 0 read its clock in this iteration? The same on all ranks that have the same plan. */
bool nt_pace_due(const struct nt_bench_pace *pace, int iteration);

/* Rank 0, in such an iteration: update the plan. */
void nt_pace_look(struct nt_bench_pace *pace, int iteration, double elapsed_s);

/* Every rank, in such an iteration, once it has rank 0's plan. */
void nt_pace_told(struct nt_bench_pace *pace, int iteration);

#endif
