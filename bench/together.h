/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* together.h - start the ranks of one machine together; rank 0 decides when the rounds are over
 *
 * One page of shared memory in /dev/shm, whose name is sent through meet.h. A page of a file on a
 * disk would block while it is written back. Ranks wait by spinning, because a sleeping rank could
 * wake up late and waiting must take less time than the calls.
 *
 * Threads:  one in each rank.
 * Memory:   open and close are a pair.
 * Errors:   -1 and *err. There is no timeout for a missing rank: the caller's alarm ends the wait.
 * Units:    rounds; seconds on rank 0's clock, whatever its start.
 */
#ifndef NT_BENCH_TOGETHER_H
#define NT_BENCH_TOGETHER_H

#include <stdatomic.h>
#include <stdint.h>
#include "bench/meet.h"

struct nt_together_page {
	_Atomic uint32_t arrived, turn;
	/* The first round of the last part, and the first after the end; NEVER until they are
	 * known. Always later than the current round. */
	_Atomic int last_from, end;
};

#define NT_TOGETHER_NEVER INT32_MAX

struct nt_together {
	struct nt_together_page *page;
	int rank, ranks;
};

int nt_together_open(struct nt_together *t, const struct nt_meet *meet, int rank, int ranks,
		     int timeout_s, struct nt_error *err);
void nt_together_wait(struct nt_together *t); /* waits for all ranks */
void nt_together_close(struct nt_together *t);

/* Durations of the rounds and of the last part. */
struct nt_together_plan {
	double start_s, seconds, last_seconds;
};

/* On rank 0 at the start of each round, before the others start it. */
void nt_together_plan(struct nt_together *t, const struct nt_together_plan *plan, int round,
		      double now_s);

#endif
